"""The view of the conversation list: mouse and keyboard handling, and preservation of the scroll position."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QListView, QWidget

from app.gui.conversations.list_model import ConversationList, Row
from app.gui.conversations.row_delegate import ConversationItems

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ConversationRows(QListView):
    """The list view of conversations.

    Signals carry a conversation's key, except that those named `folder_*` carry a folder's name. `opened` is emitted on
    a click or Enter, and `left_above` when Up is pressed on the first row. Menu requests include a screen position.
    """

    opened = Signal(str)
    pin_wanted = Signal(str)
    """Requests that the conversation be pinned, or unpinned if it is already pinned."""
    remove_wanted = Signal(str)
    undo_wanted = Signal()
    menu_wanted = Signal(str, QPoint)
    left_above = Signal()
    folder_rename_wanted = Signal(str)
    folder_menu_wanted = Signal(str, QPoint)

    def __init__(self, model: ConversationList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = model
        self._typing = QElapsedTimer()  # time since the last keystroke of a type-ahead search
        self.empty_text = ""
        """Placeholder text displayed while the list is empty."""
        self.items = ConversationItems(model, self)
        self.setModel(model)
        self.setProperty("sidebar", True)
        self.setItemDelegate(self.items)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.clicked.connect(self._open)

    # -- the highlight and the scroll position

    @property
    def highlighted(self) -> str:
        return self.list.key(self.currentIndex())

    def highlight(self, key: str) -> None:
        """Highlights a conversation and scrolls to it."""
        place = self.list.place(key)
        if place >= 0:
            index = self.list.index(place)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.scrollTo(index)

    def rename(self, key: str) -> None:
        """Starts editing a conversation's title."""
        self.highlight(key)
        if self.highlighted == key:
            self.setFocus()
            self.edit(self.currentIndex())

    def in_view(self) -> list[tuple[str, int]]:
        """Returns the keys of the visible conversations and their distances from the top, in pixels.

        The highlighted conversation comes first. The result is empty if the list is scrolled to the top. Pass it to
        `hold` after changing the list.
        """
        found: list[tuple[str, int]] = []
        if self.verticalScrollBar().value() == 0:
            return found
        row = self.indexAt(QPoint(self.viewport().width() // 2, 1)).row()
        while 0 <= row < self.list.rowCount():
            index = self.list.index(row)
            top = self.visualRect(index).top()
            if top > self.viewport().height():
                break
            if key := self.list.key(index):
                found.append((key, top))
            row += 1
        return sorted(found, key=lambda one: one[0] != self.highlighted)

    def hold(self, seen: list[tuple[str, int]]) -> None:
        """Restores the scroll position from the result of `in_view`.

        Moves the first conversation in `seen` that is still listed back to its old position, or scrolls to the top if
        none is.
        """
        self.executeDelayedItemsLayout()
        bar = self.verticalScrollBar()
        for key, top in seen:
            if (place := self.list.place(key)) >= 0:
                bar.setValue(bar.value() + self.visualRect(self.list.index(place)).top() - top)
                return
        bar.setValue(0)

    def say_empty(self, text: str) -> None:
        """Sets the placeholder text for an empty list."""
        self.empty_text = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def _open(self, index: QModelIndex) -> None:
        if key := self.list.key(index):
            self.opened.emit(key)
        elif folder := self.list.folder(index):
            self.list.open_folder(folder.folder, not folder.open)

    # -- Qt overrides

    def moveCursor(self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Skips headings that can't be selected, so that Home moves to the first conversation or folder."""
        index = super().moveCursor(action, modifiers)
        is_one = self.list.key(index) or self.list.folder(index)
        return index if is_one else self.list.index(index.row() + 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles Enter (open), F2 (rename), P (pin), Delete (remove), Ctrl+Z (undo removal) and the menu key.

        On a folder, Left closes and Right opens it.
        """
        if self.state() == QListView.State.EditingState and not self.hasFocus():
            return  # the editor has already handled the key
        key, code, shift = self.highlighted, event.key(), Qt.KeyboardModifier.ShiftModifier
        if (folder := self.list.folder(self.currentIndex())) and self._folder_key(folder, event):
            pass
        elif code in _ENTER and key:
            self.opened.emit(key)
        elif code == Qt.Key.Key_F2 and key:
            self.rename(key)
        elif code == Qt.Key.Key_P and event.modifiers() == Qt.KeyboardModifier.NoModifier and not self._looking and key:
            self.pin_wanted.emit(key)
        elif event.matches(QKeySequence.StandardKey.Delete) and key:
            self.remove_wanted.emit(key)
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
        elif code == Qt.Key.Key_Menu or (code == Qt.Key.Key_F10 and event.modifiers() == shift):
            self._open_menu()
        else:
            if event.text().strip():
                self._typing.restart()
            before = self.currentIndex()
            super().keyPressEvent(event)
            if code == Qt.Key.Key_Up and self.currentIndex() == before:
                self.left_above.emit()
            return
        event.accept()

    def _folder_key(self, row: Row, event: QKeyEvent) -> bool:
        """Handles a key press on a folder's heading. Returns whether the key was handled."""
        code, keys = event.key(), Qt.Key
        if code in (*_ENTER, keys.Key_Space):
            self.list.open_folder(row.folder, not row.open)
        elif code in (keys.Key_Left, keys.Key_Right):
            self.list.open_folder(row.folder, code == keys.Key_Right)
        elif code == keys.Key_F2:
            self.folder_rename_wanted.emit(row.folder)
        else:
            return False
        return True

    @property
    def _looking(self) -> bool:
        """Whether a type-ahead search for a title is in progress."""
        return self._typing.isValid() and not self._typing.hasExpired(QApplication.keyboardInputInterval())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._open_menu()
        elif key := self.list.key(self.indexAt(event.pos())):
            self.menu_wanted.emit(key, event.globalPos())
        elif folder := self.list.folder(self.indexAt(event.pos())):
            self.folder_menu_wanted.emit(folder.folder, event.globalPos())

    def _open_menu(self) -> None:
        index = self.currentIndex()
        folder = self.list.folder(index)
        if not (self.highlighted or folder):
            return
        self.scrollTo(index)
        place = self.viewport().mapToGlobal(self.visualRect(index).center())
        if folder:
            self.folder_menu_wanted.emit(folder.folder, place)
        else:
            self.menu_wanted.emit(self.highlighted, place)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = QEvent.Type
        if event.type() in (kinds.PaletteChange, kinds.FontChange, kinds.StyleChange) and hasattr(self, "items"):
            self.items.forget()
            self.scheduleDelayedItemsLayout()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.empty_text and not self.list.rowCount():
            with QPainter(self.viewport()) as painter:
                painter.setPen(self.items.look.dim)
                room = self.viewport().rect().adjusted(16, 16, -16, -16)
                painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.empty_text)
