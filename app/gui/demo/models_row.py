"""The models that can answer, each with the key that chooses it in mid-answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.gui.demo.colours import ink
from app.gui.demo.filling import Filling
from app.gui.demo.fitted_text import font_px
from app.gui.design.plain import elided
from app.gui.design.theme import tokens

MOST = 9
"""One for each of the keys 1 to 9."""


class ModelsRow(Filling):
    """`labels` from key 1 on; `current` is the place of the one that answers."""

    chosen = Signal(int)
    """Its place was clicked."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.labels: tuple[str, ...] = ()
        self.current = 0
        self.setAccessibleName(self.tr("Models, with their keys"))

    def show_models(self, labels: Sequence[str], current: int) -> None:
        """Shows these."""
        self.labels, self.current = tuple(labels[:MOST]), current
        self.setAccessibleDescription(", ".join(f"{n} {label}" for n, label in enumerate(self.labels, 1)))
        self.update()

    def _cell(self, place: int) -> QRectF:
        gap = 2 * tokens().unit
        most = self.height() * 7
        width = min(most, (self.width() + gap) / len(self.labels) - gap)
        left = (self.width() - len(self.labels) * (width + gap) + gap) / 2
        return QRectF(left + place * (width + gap), 0, width, self.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Chooses the model that was clicked."""
        for place in range(len(self.labels)):
            if self._cell(place).contains(event.position()):
                self.chosen.emit(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a key and a name for each."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for place, label in enumerate(self.labels):
            cell, on = self._cell(place), place == self.current
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink("accent" if on else "sunken"))
            painter.drawRoundedRect(cell, tokens().radius, tokens().radius)
            painter.setPen(ink("on_accent" if on else "text"))
            bold = font_px(self.font(), max(tokens().caption, self.height() * 0.5), QFont.Weight.DemiBold)
            pad, key = self.height() * 0.35, str(place + 1)
            used = QFontMetricsF(bold).horizontalAdvance(key)
            painter.setFont(bold)
            painter.drawText(cell.adjusted(pad, 0, 0, 0), middle, key)
            painter.setFont(font_px(self.font(), max(tokens().caption, self.height() * 0.4)))
            room = cell.adjusted(2 * pad + used, 0, -pad, 0)
            text = elided(painter.fontMetrics(), label, Qt.TextElideMode.ElideRight, round(room.width()))
            painter.drawText(room, middle, text)
        painter.end()
