"""Exports conversations to files and imports them, with the desktop's own file dialogs, which block nothing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.history.base import ConversationView, ExportFormat, HistoryService
from app.platform.files import is_device

LONGEST_FILE_NAME = 60


class HistoryFiles(QObject):
    """`told` and `failed` emit a sentence; `asking` is the open dialog."""

    brought_in = Signal(object)
    """The `ConversationView` of an imported file."""
    told = Signal(str)
    failed = Signal(str)

    def __init__(self, service: HistoryService, background: BackgroundTasks, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._background = background
        self._window = window
        self._asked = 0
        self._folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        self.asking: QFileDialog | None = None

    def ask_export(self, view: ConversationView) -> None:
        """Asks for the file and format of an export."""
        forms: dict[str, tuple[ExportFormat, str]] = {
            self.tr("Markdown (*.md)"): ("markdown", ".md"),
            self.tr("JSON, which can be imported (*.json)"): ("json", ".json"),
            self.tr("Subtitles (*.srt)"): ("srt", ".srt"),
        }
        if view.sound:
            forms[self.tr("Sound (*.wav)")] = ("wav", ".wav")
        dialog = self._dialog(self.tr("Export a conversation"), list(forms))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix("md")
        dialog.selectFile(self._file_name(view) + ".md")

        def follow(chosen: str) -> None:
            suffix = forms[chosen][1]
            dialog.setDefaultSuffix(suffix[1:])
            typed = dialog.selectedFiles()
            if typed and Path(typed[0]).suffix.lower() in {known for _, known in forms.values()}:
                dialog.selectFile(Path(typed[0]).with_suffix(suffix).name)

        def take(path: str) -> None:
            form, suffix = forms[dialog.selectedNameFilter()]
            self._export(view.key, Path(path), form, suffix)

        dialog.filterSelected.connect(follow)
        dialog.fileSelected.connect(take)
        dialog.open()

    def _export(self, key: str, path: Path, form: ExportFormat, suffix: str) -> None:
        self._folder = str(path.parent)
        if path.suffix.lower() != suffix:
            path = path.with_name(path.name + suffix)
            if path.exists():  # the dialog has not asked about this name
                sentence = self.tr("“{0}” is there already. Export under another name, or choose that file itself.")
                self.failed.emit(sentence.format(path.name))
                return
        self._asked += 1
        name = f"export {self._asked}"
        self._background.run(
            self, name, lambda: self._service.export(key, path, form), self.told.emit, self.failed.emit
        )

    def ask_import(self) -> None:
        """Asks for the file of an import."""
        dialog = self._dialog(self.tr("Import a conversation"), [self.tr("Exported conversations (*.json)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.bring_in(Path(path)))
        dialog.open()

    def bring_in(self, path: Path) -> None:
        self._folder = str(path.parent)
        self._asked += 1
        name = f"import {self._asked}"
        self._background.run(self, name, lambda: self._service.bring_in(path), self.brought_in.emit, self.failed.emit)

    def close(self) -> None:
        if self.asking is not None:
            self.asking.close()

    def _dialog(self, title: str, filters: list[str]) -> QFileDialog:
        self.close()
        self.asking = dialog = QFileDialog(self._window, title)
        dialog.setNameFilters(filters)
        if Path(self._folder).is_dir():
            dialog.setDirectory(self._folder)

        def left() -> None:
            if self.asking is dialog:
                self.asking = None
            dialog.deleteLater()

        dialog.finished.connect(lambda _: left())
        return dialog

    def _file_name(self, view: ConversationView) -> str:
        """A name that is valid on any file system, without a dot, which would look like a suffix."""
        kept = "".join(char if char.isalnum() or char in "-_'" else " " for char in view.title)
        name = " ".join(kept.split())[:LONGEST_FILE_NAME].strip() or self.tr("Conversation")
        return f"{name}_" if is_device(name) else name
