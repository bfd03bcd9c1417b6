"""A list at the side of a dialog that selects the page shown next to it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QListWidget, QWidget

from app.gui.design.theme import tokens

NARROWEST_PX = 176


class SideList(QListWidget):
    """A frameless list of page names. Call `fit` after adding them."""

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

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._dress()

    def _dress(self) -> None:
        sheet = (
            "QListWidget, QListWidget:focus { background: transparent; border: none; }"
            "QListWidget::item { border: 2px solid transparent; border-radius: 8px; padding: 4px 6px; }"
            f"QListWidget::item:focus {{ border-color: {tokens().accent_text}; }}"
        )
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)
