"""Takes files that are dropped anywhere on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


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
