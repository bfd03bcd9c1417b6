"""A list to pick from whose keys open it first: nothing is picked by passing over it, and no wheel turns it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class PickList(QComboBox):
    """For what takes effect at once, such as the brain of the talk: a plain box would swap brains at each arrow key.

    `closed`: the open list has gone.
    """

    closed = Signal()

    def hidePopup(self) -> None:
        """Says so."""
        super().hidePopup()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the list at arrows and letters, and looks for the letters in it."""
        typed = event.text().isprintable() and bool(event.text().strip())
        command = bool(event.modifiers() & _COMMANDS)
        if command or not (typed or event.key() in _MOVES):
            super().keyPressEvent(event)
            return
        self.showPopup()
        if typed:
            QApplication.sendEvent(self.view(), event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leaves the wheel to what is behind."""
        event.ignore()
