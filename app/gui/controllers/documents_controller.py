"""Adds files that are chosen or dropped on the window as documents for the model, and removes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.conversation.prompt import MOST_DOCUMENTS, Document
from app.gui.controllers.context import WindowContext
from app.gui.transcript.document_chips import DocumentChips
from app.gui.widgets.file_dialogs import FileAsker
from app.services.documents import read_document


class FileDrops(QObject):
    """Accepts drags with local files over `window`, unless it is not `enabled`. The files stay where they are."""

    dropped = Signal(object)
    """The paths, as a list of `Path`."""
    hovering = Signal(bool)
    """Whether files are held over the window that it would take."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.enabled = True
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DragLeave:
            self.hovering.emit(False)
            return True
        if not isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            return False
        paths = local_files(event.mimeData()) if self.enabled else []
        if not paths:
            event.ignore()
            return True
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if event.type() == QEvent.Type.DragEnter:
            self.hovering.emit(True)
        elif event.type() == QEvent.Type.Drop:
            self.hovering.emit(False)
            self.dropped.emit(paths)
        return True


def local_files(data: QMimeData) -> list[Path]:
    """Returns the files on this machine that are dragged; none for anything else, such as a link."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


_READING = "read a document"
_TEXTS = "*.pdf *.txt *.md *.csv *.json *.log *.xml *.html *.py *.js *.ts *.c *.cpp *.rs"


class DocumentsController(FileAsker):
    """The documents themselves are `SessionManager.wanted.documents`."""

    changed = Signal()
    """The user has added or removed a document."""

    def __init__(self, context: WindowContext, chips: DocumentChips) -> None:
        super().__init__(context.window)
        self._manager = manager = context.manager
        self._background = context.background
        self._messages = context.messages
        self._waiting: list[Path] = []
        self._own = False
        manager.documents_changed.connect(chips.show_documents)
        manager.documents_changed.connect(self._forget)
        context.model.cleared.connect(self.forget_waiting)
        chips.remove_wanted.connect(self.remove)

    def add(self, paths: Iterable[Path]) -> None:
        """Reads these files, one after the other; one of the same name as a document takes its place."""
        self._waiting += paths
        if not self._background.busy(_READING):
            self._read_next()

    def remove(self, place: int) -> None:
        """Takes a document away: from its next request on the model no longer gets it."""
        documents = self._manager.wanted.documents
        self._set((*documents[:place], *documents[place + 1 :]))

    def ask(self) -> None:
        """Asks for files to add."""
        filters = (self.tr("Texts ({0})").format(_TEXTS), self.tr("All files (*)"))
        dialog = self.dialog(self.tr("Add files to the conversation"), filters, QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self._take)
        dialog.open()

    def forget_waiting(self) -> None:
        """Adds nothing of what is still being read: another conversation is shown."""
        self._waiting.clear()
        self._background.cancel(_READING)

    def _take(self, names: list[str]) -> None:
        paths = [Path(name) for name in names]
        if paths:
            self.folder = str(paths[0].parent)
        self.add(paths)

    def _read_next(self) -> None:
        if self._waiting:
            path = self._waiting.pop(0)
            self._background.run(self, _READING, lambda: read_document(path), self._have, self._not_read)

    def _not_read(self, sentence: str) -> None:
        self._messages.say(sentence, private=True)  # it contains a file's name
        self._read_next()

    def _have(self, document: Document) -> None:
        documents = list(self._manager.wanted.documents)
        same = next((place for place, one in enumerate(documents) if one.name == document.name), None)
        if same is not None:
            documents[same] = document
        elif len(documents) < MOST_DOCUMENTS:
            documents.append(document)
        else:
            self._waiting.clear()
            sentence = self.tr("“{0}” was not added: a conversation has {1} documents at most. Remove one first.")
            self._messages.say(sentence.format(document.name, MOST_DOCUMENTS), private=True)
            return
        self._set(tuple(documents))
        self._read_next()

    def _set(self, documents: tuple[Document, ...]) -> None:
        self._own = True
        try:
            self._manager.want(documents=documents)
        finally:
            self._own = False
        self.changed.emit()

    def _forget(self, _: object) -> None:
        if not self._own:
            self.forget_waiting()
