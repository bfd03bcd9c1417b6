"""Non-blocking file dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QObject, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

_Places = QStandardPaths.StandardLocation


class FileAsker(QObject):
    """Asks for files in one dialog at a time, which starts in `folder`, the folder used last.

    `asking` is the open dialog, if any. `asked` is emitted when it is closed, with files or without.
    """

    asked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.folder = QStandardPaths.writableLocation(_Places.DocumentsLocation)
        self.asking: QFileDialog | None = None

    def close(self) -> None:
        """Closes the dialog."""
        if self.asking is not None:
            self.asking.close()

    def dialog(self, title: str, filters: Sequence[str], mode: QFileDialog.FileMode) -> QFileDialog:
        """Returns a new dialog. It isn't open yet."""
        self.close()
        self.asking = dialog = QFileDialog(self._window, title)
        dialog.setNameFilters(filters)
        dialog.setFileMode(mode)
        if Path(self.folder).is_dir():
            dialog.setDirectory(self.folder)
        dialog.finished.connect(lambda _: self._left(dialog))
        return dialog

    def _left(self, dialog: QFileDialog) -> None:
        if self.asking is dialog:
            self.asking = None
        dialog.deleteLater()
        self.asked.emit()


def ask_folder(parent: QWidget, title: str, start: str, chosen: Callable[[str], object]) -> None:
    """Opens a dialog at the folder `start`, and calls `chosen` with the selected folder."""
    dialog = QFileDialog(parent, title, start)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(chosen)
    dialog.open()


def ask_picture(parent: QWidget, title: str, filter: str, name: str, chosen: Callable[[str], object]) -> QFileDialog:
    """Opens a dialog for saving a PNG image, by default as `name`, and calls `chosen` with the path."""
    folder = QStandardPaths.writableLocation(_Places.PicturesLocation) or QDir.homePath()
    dialog = QFileDialog(parent, title, folder)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([filter])
    dialog.setDefaultSuffix("png")
    dialog.selectFile(name)
    dialog.fileSelected.connect(chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
