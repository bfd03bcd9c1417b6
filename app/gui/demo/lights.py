"""Three lights: whether a side listens, thinks, speaks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.demo.base import Side
from app.gui.demo.colours import faded, ink, side_ink
from app.gui.demo.filling import Filling
from app.gui.demo.fitted_text import font_px
from app.gui.design.icons import paint_icon
from app.gui.design.look import blend
from app.gui.design.motion import Glide
from app.gui.design.theme import tokens

ICONS = ("ear", "brain", "volume-2")


class Lights(Filling):
    """`lit`: whether it listens, thinks and speaks."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.lit = (False, False, False)
        self._side = side
        self._words = (self.tr("listens"), self.tr("thinks"), self.tr("speaks"))
        self._glides = [Glide(lambda _: self.update(), self, milliseconds=tokens().quick_ms) for _ in ICONS]
        self.setAccessibleName(self.tr("What it does"))

    def show_lit(self, listens: bool, thinks: bool, speaks: bool) -> None:
        """Switches the lights."""
        lit = (listens, thinks, speaks)
        if lit == self.lit:
            return
        self.lit = lit
        for glide, on in zip(self._glides, lit, strict=True):
            glide.go(float(on))
        words = [word for word, on in zip(self._words, lit, strict=True) if on]
        self.setAccessibleDescription(", ".join(words))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the icons in discs, with their words where these have room."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cell = self.width() / len(ICONS)
        disc = min(self.height() * 0.92, cell * 0.5)
        font = font_px(self.font(), disc * 0.36, QFont.Weight.DemiBold)
        widest = max(QFontMetricsF(font).horizontalAdvance(word) for word in self._words)
        gap = disc * 0.18
        font = font_px(font, disc * 0.36 * min(1.0, (cell - disc - 2 * gap) / widest), QFont.Weight.DemiBold)
        painter.setFont(font)
        for place, (name, word, glide) in enumerate(zip(ICONS, self._words, self._glides, strict=True)):
            width = disc + gap + QFontMetricsF(font).horizontalAdvance(word)
            left = place * cell + (cell - width) / 2
            on, colour = glide.value, side_ink(self._side)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink("sunken"))
            middle = QPointF(left + disc / 2, self.height() / 2)
            painter.drawEllipse(middle, disc / 2, disc / 2)
            painter.setBrush(faded(colour, on))
            painter.drawEllipse(middle, disc / 2, disc / 2)
            drawn = disc * 0.56
            icon = QRectF(middle.x() - drawn / 2, middle.y() - drawn / 2, drawn, drawn)
            paint_icon(painter, name, blend(ink("dim"), ink("surface"), on), icon)
            painter.setPen(blend(ink("dim"), colour, on))
            room = QRectF(left + disc + gap, 0, cell, self.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)
        painter.end()
