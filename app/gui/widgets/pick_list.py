"""A combo box in which keys open the list instead of changing the selection. It ignores the mouse wheel."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class PickList(QComboBox):
    """A combo box for choices with an immediate effect, such as the model: a plain one switches on each arrow key."""

    closed = Signal()
    """Emitted when the drop-down list is closed."""

    def hidePopup(self) -> None:
        super().hidePopup()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the list on navigation keys and letters. A letter is also passed to the list, which searches for it."""
        typed = event.text().isprintable() and bool(event.text().strip())
        command = bool(event.modifiers() & _COMMANDS)
        if command or not (typed or event.key() in _MOVES):
            super().keyPressEvent(event)
            return
        self.showPopup()
        if typed:
            QApplication.sendEvent(self.view(), event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignores the event, so that the parent widget handles it."""
        event.ignore()
