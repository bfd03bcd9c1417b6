"""The list of the settings dialog's pages, each with its icon."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.gui.design.icons import icon
from app.gui.design.theme import tokens
from app.gui.widgets.translation import said
from app.settings.declarations import Settings

ICONS = {
    "general": "settings",
    "voice": "audio-lines",
    "models": "sparkles",
    "sound": "volume-2",
    "privacy": "shield",
    "advanced": "sliders-horizontal",
}
ICON_PX, NARROWEST_PX = 18, 176


class PageList(QListWidget):
    """Is as wide as its longest name."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Pages of settings"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for page in Settings.pages.values():
            self.addItem(said(page.label))
        self._icon_px = ICON_PX
        self._dress()
        self.currentRowChanged.connect(lambda _: self.tint())

    def tint(self) -> None:
        """Gives the icons the theme's colours: the accent to the page that is shown."""
        t, here = tokens(), self.currentRow()
        for place, name in enumerate(map(ICONS.__getitem__, Settings.pages)):
            self._item(place).setIcon(icon(name, QColor(t.accent_text if place == here else t.dim), size=self._icon_px))

    def fit(self) -> None:
        """Takes the width and the height of its lines from the size of text."""
        metrics = self.fontMetrics()
        self._icon_px = max(ICON_PX, metrics.ascent())
        self.setIconSize(QSize(self._icon_px, self._icon_px))
        self.tint()
        for place in range(self.count()):
            self._item(place).setSizeHint(QSize(0, metrics.lineSpacing() + 20))
        widest = max(metrics.horizontalAdvance(self._item(place).text()) for place in range(self.count()))
        self.setFixedWidth(max(NARROWEST_PX, widest + self._icon_px + 48))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._dress()

    def _dress(self) -> None:
        t = tokens()
        sheet = (
            "QListWidget, QListWidget:focus { background: transparent; border: none; }"
            "QListWidget::item { border: 2px solid transparent; border-radius: 8px; padding: 4px 6px; }"
            f"QListWidget::item:focus {{ border-color: {t.accent_text}; }}"
        )
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)
        self.tint()

    def _item(self, place: int) -> QListWidgetItem:
        return self.item(place)
