"""A combo box that keys open instead of changing the selection, and that ignores the mouse wheel."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class PickList(QComboBox):
    """For choices that take effect immediately, like the model: a plain combo box would switch on each arrow key."""

    closed = Signal()
    """The drop-down list was closed."""

    def hidePopup(self) -> None:
        super().hidePopup()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the list on navigation keys and letters; letters are passed on to the list, which searches for them."""
        typed = event.text().isprintable() and bool(event.text().strip())
        command = bool(event.modifiers() & _COMMANDS)
        if command or not (typed or event.key() in _MOVES):
            super().keyPressEvent(event)
            return
        self.showPopup()
        if typed:
            QApplication.sendEvent(self.view(), event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leaves wheel events to the parent widget."""
        event.ignore()
