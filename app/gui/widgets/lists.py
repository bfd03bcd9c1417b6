"""A list of pages at the side of a dialog, and a combo box for choices with an immediate effect."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QListWidget, QWidget

from app.gui.design.look import Dressed
from app.gui.design.theme import tokens

NARROWEST_PX = 176


class SideList(Dressed, QListWidget):
    """A frameless list of page names. Call `fit` after adding them."""

    dressed_by = (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._dress()

    def fit(self, before_px: int = 0) -> None:
        """Adjusts the width to the longest name, and the line height to the font. `before_px`: space for icons."""
        metrics = self.fontMetrics()
        items = [self.item(place) for place in range(self.count())]
        for item in items:
            item.setSizeHint(QSize(0, metrics.lineSpacing() + 20))
        widest = max(metrics.horizontalAdvance(item.text()) for item in items)
        self.setFixedWidth(max(NARROWEST_PX, widest + before_px + 30))

    def _dress(self) -> None:
        sheet = (
            "QListWidget, QListWidget:focus { background: transparent; border: none; }"
            "QListWidget::item { border: 2px solid transparent; border-radius: 8px; padding: 4px 6px; }"
            f"QListWidget::item:focus {{ border-color: {tokens().accent_text}; }}"
        )
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)


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
