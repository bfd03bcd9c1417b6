"""The menus by which conversations are put into folders, and folders get other names or go."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QWidget

from app.gui.design.plain import verbatim
from app.history.base import LONGEST_TITLE, ConversationView


class FolderMenu(QMenu):
    """A submenu of a conversation's menu; `open_for` opens the menu of a folder."""

    moved = Signal(str, str)
    """A conversation's key, and the folder that it goes to; empty for none."""
    folder_renamed = Signal(str, str)
    """A folder, and its new name; empty: its conversations are in none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(self.tr("Mo&ve to folder"), parent)
        self._owner = parent
        self._about = ""
        self._group = QActionGroup(self)
        self.dialog: QInputDialog | None = None
        self.own = QMenu(parent)
        """A folder's own menu."""
        self.own.addAction(self.tr("&Rename…")).triggered.connect(lambda: self.ask_name(self._about))
        self.own.addAction(self.tr("&Dissolve")).triggered.connect(lambda: self.folder_renamed.emit(self._about, ""))
        self.own.setToolTipsVisible(True)
        self.own.actions()[-1].setToolTip(self.tr("The folder goes; its conversations stay."))

    def fill(self, view: ConversationView, folders: Sequence[str]) -> None:
        """Offers these folders for a conversation."""
        self.clear()
        for name in folders:
            action = self.addAction(verbatim(name))
            action.setCheckable(True)
            action.setChecked(name == view.folder)
            action.triggered.connect(lambda _=False, name=name: self.moved.emit(view.key, name))
            self._group.addAction(action)
        if folders:
            self.addSeparator()
        self.addAction(self.tr("&New folder…")).triggered.connect(lambda: self._ask_new(view.key))
        out = self.addAction(self.tr("&Out of its folder"))
        out.setEnabled(bool(view.folder))
        out.triggered.connect(lambda: self.moved.emit(view.key, ""))

    def open_for(self, folder: str, place: QPoint) -> None:
        """Opens a folder's own menu at a position on the screen."""
        self._about = folder
        self.own.popup(place)

    def ask_name(self, folder: str) -> None:
        """Asks for a folder's new name."""
        dialog = self._ask(self.tr("Rename folder"), self.tr("The folder's name:"), folder)
        dialog.textValueSelected.connect(lambda name: self._rename(folder, name))
        dialog.open()

    def _ask_new(self, key: str) -> None:
        dialog = self._ask(self.tr("New folder"), self.tr("The folder's name:"), "")
        dialog.textValueSelected.connect(lambda name: self._move(key, name))
        dialog.open()

    def _ask(self, title: str, label: str, name: str) -> QInputDialog:
        self.dialog = dialog = QInputDialog(self._owner.window())
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setTextValue(name)
        field = dialog.findChild(QLineEdit)
        if field is not None:
            field.setMaxLength(LONGEST_TITLE)
            field.setAccessibleName(label)
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def _move(self, key: str, name: str) -> None:
        if name := " ".join(name.split()):
            self.moved.emit(key, name)

    def _rename(self, folder: str, name: str) -> None:
        name = " ".join(name.split())
        if name and name != folder:
            self.folder_renamed.emit(folder, name)
