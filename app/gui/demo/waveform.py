"""One side's sound as it comes: the question, the silence behind it, and the answer, from right to left."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.conversation.frame import FRAME_SECONDS
from app.demo.base import Side
from app.demo.side import Level
from app.gui.demo.colours import faded, ink, side_ink
from app.gui.demo.filling import Filling
from app.gui.design.theme import tokens

SHOWN_SECONDS = 6.0
"""How much is shown."""
NOW_SHARE = 0.94
"""Where now is, of the width."""
QUIETEST_DBFS = -50.0
"""What is softer is a dot."""


class Waveform(Filling):
    """Shows `levels` up to `now`. `silence`: from the question's end to the answer's first sound, or to now."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.levels: Sequence[Level] = ()
        self.silence: tuple[float, float] | None = None
        self._now = 0.0
        self._side = side
        self.setAccessibleName(self.tr("Question and answer as sound"))

    def show_levels(self, levels: Sequence[Level], now: float, silence: tuple[float, float] | None = None) -> None:
        """Shows these; all times are the session's."""
        self.levels, self._now, self.silence = levels, now, silence
        self.update()

    def _x(self, at: float) -> float:
        return self.width() * (NOW_SHARE + (at - self._now) / SHOWN_SECONDS)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a bar for each frame, mirrored."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, step = self.height() / 2, self.width() * FRAME_SECONDS / SHOWN_SECONDS
        mine, theirs = side_ink(self._side), ink("dim")
        if self.silence is not None:
            begin, end = map(self._x, self.silence)
            painter.fillRect(QRectF(begin, 0, end - begin, self.height()), faded(mine, 0.16))
            painter.setPen(QPen(mine, 2))
            painter.drawLine(round(begin), 0, round(begin), self.height())
        painter.setPen(QPen(ink("line"), 1))
        painter.drawLine(0, round(middle), self.width(), round(middle))
        painter.setPen(Qt.PenStyle.NoPen)
        width = max(1.5, step * 0.62)
        for level in self.levels:
            x = self._x(level.at)
            if x < -step or level.at > self._now + FRAME_SECONDS:
                continue
            speaks = level.assistant > level.user
            height = self.height() * 0.94 * _share(max(level.user, level.assistant))
            if height < 2:
                continue
            painter.setBrush(mine if speaks else theirs)
            painter.drawRoundedRect(QRectF(x - width, middle - height / 2, width, height), width / 2, width / 2)
        painter.end()


def _share(dbfs: float) -> float:
    """The height of a bar, 0 to 1: loudness is heard in decibels, but a voice's shape is seen best between."""
    return max(0.0, min(1.0, 1 - dbfs / QUIETEST_DBFS)) ** 1.4
