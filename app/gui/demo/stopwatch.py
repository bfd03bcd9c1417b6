"""A stopwatch in very large digits: it runs until a side is heard, and then stops in the side's colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.demo.base import Side
from app.gui.demo.colours import ink, side_ink
from app.gui.demo.filling import Filling
from app.gui.demo.fitted_text import font_px
from app.gui.design.fonts import CODE_FAMILY
from app.gui.design.look import blend
from app.gui.design.motion import Glide
from app.gui.design.theme import tokens


class Stopwatch(Filling):
    """`text` is what it shows; `stopped` whether the side has been heard."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().display, tokens().title * 4)
        self.text = "0.00"
        self.stopped = False
        self._side = side
        self._running = False
        self._colour = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms)
        self.setAccessibleName(self.tr("Seconds until it is heard"))

    def show_seconds(self, seconds: float | None, *, stopped: bool = False, moving: bool = True) -> None:
        """Shows a time; None: the question is not over yet. `moving` False: its colour is there at once."""
        text = f"{min(seconds or 0.0, 99.99):.2f}"
        if (text, stopped, seconds is not None) == (self.text, self.stopped, self._running):
            return
        self.text, self.stopped, self._running = text, stopped, seconds is not None
        self.setAccessibleDescription(self.tr("{0} seconds").format(text) if stopped else "")
        if stopped and moving:
            self._colour.go(1.0)
        else:
            self._colour.jump(float(stopped))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the digits, and a smaller unit."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = QFont(CODE_FAMILY)
        font.setStyleHint(QFont.StyleHint.Monospace)
        digit = QFontMetricsF(font_px(font, 100)).horizontalAdvance("0") / 100
        px = min(self.height() * 1.1, self.width() / (digit * (len(self.text) + 0.9)))
        plain = ink("text" if self._running else "dim")
        painter.setPen(blend(plain, side_ink(self._side), self._colour.value))
        painter.setFont(font_px(font, px))
        width = digit * px * len(self.text)
        unit = digit * px * 0.7
        left = (self.width() - width - unit) / 2
        place = QRectF(left, 0, width + unit, self.height())
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(place, middle, self.text)
        painter.setFont(font_px(self.font(), px * 0.34))
        baseline = self.height() / 2 + QFontMetricsF(font_px(font, px)).capHeight() / 2
        painter.drawText(round(left + width + unit * 0.12), round(baseline), self.tr("s"))
        painter.end()
