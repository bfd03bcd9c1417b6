"""One side's thoughts: the newest in large letters, cross-faded into the one before it, and the older ones struck."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from app.demo.base import Side
from app.demo.side import Thought
from app.gui.demo.colours import ink, side_ink
from app.gui.demo.filling import Filling
from app.gui.demo.fitted_text import font_px
from app.gui.design.motion import Glide
from app.gui.design.plain import elided
from app.gui.design.theme import tokens

OLDER = 2
"""How many that were replaced are still shown."""
OLDER_SHARE = 0.32
"""Of the height, for them."""
LINES = 3
"""Lines of the newest thought at its usual size; a longer one gets smaller."""


class ThoughtsView(Filling):
    """`newest` is the thought in large letters; `older` are those above it."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().body * 4)
        self.newest: Thought | None = None
        self.older: tuple[Thought, ...] = ()
        self.trouble = ""
        self._side = side
        self._leaving: Thought | None = None
        self._fade = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms, value=1.0)
        self.setAccessibleName(self.tr("What it thinks"))

    def show_thoughts(self, thoughts: Sequence[Thought], trouble: str = "") -> None:
        """Shows all thoughts on a question; the newest is the last, and earlier ones in the same words are left out.
        `trouble`: why there is no answer.
        """
        newest = thoughts[-1] if thoughts else None
        older = tuple(thought for thought in thoughts[:-1] if newest is not None and thought.text != newest.text)
        older = older[-OLDER:]
        if (newest, older, trouble) == (self.newest, self.older, self.trouble):
            return
        before = self.newest
        self.newest, self.older, self.trouble = newest, older, trouble
        if newest is None:
            self._leaving = None
            self._fade.jump(1.0)
        elif before is None or before.number != newest.number:
            self._leaving = before
            self._fade.jump(0.0)
            self._fade.go(1.0)
        self.setAccessibleDescription(trouble or (newest.text if newest is not None else ""))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the older ones above the newest."""
        painter = QPainter(self)
        top = self.height() * OLDER_SHARE
        row = top / OLDER
        for place, thought in enumerate(reversed(self.older)):
            # Each one that comes moves the others up, and fades them.
            share = place + (1 - self._fade.value if place == 0 else 0)
            painter.setOpacity(max(0.0, 0.9 - 0.4 * share))
            self._paint_older(painter, thought, QRectF(0, top - (place + 1) * row, self.width(), row))
        room = QRectF(0, top, self.width(), self.height() - top)
        if self.trouble and self.newest is None:
            painter.setOpacity(1.0)
            self._paint_text(painter, Thought(0, self.trouble), room, "bad")
        if self._leaving is not None and self._fade.value < 1:
            painter.setOpacity(1 - self._fade.value)
            self._paint_text(painter, self._leaving, room)
        if self.newest is not None:
            painter.setOpacity(self._fade.value)
            self._paint_text(painter, self.newest, room)
        painter.end()

    def _paint_older(self, painter: QPainter, thought: Thought, room: QRectF) -> None:
        font = font_px(self.font(), max(tokens().caption, room.height() * 0.64))
        font.setStrikeOut(True)
        painter.setFont(font)
        painter.setPen(ink("dim"))
        text = elided(painter.fontMetrics(), thought.text, Qt.TextElideMode.ElideRight, round(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_text(self, painter: QPainter, thought: Thought, room: QRectF, colour: str = "dim") -> None:
        """Paints a thought in the middle of `room`; its words that have been said are in the side's colour."""
        said = QTextLayout.FormatRange()
        said.start, said.length = 0, _letters(thought.text, thought.said)
        said.format = QTextCharFormat()
        said.format.setForeground(side_ink(self._side))
        px = room.height() / LINES / 1.25
        while True:
            layout = QTextLayout(thought.text, font_px(self.font(), px, QFont.Weight.Medium))
            layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignHCenter))
            layout.setFormats([said])
            height = _lay_out(layout, room.width())
            if height <= room.height() or px <= tokens().caption:
                break
            px *= 0.92
        painter.setPen(ink(colour))
        layout.draw(painter, QPointF(room.left(), room.top() + max(0.0, (room.height() - height) / 2)))


def _letters(text: str, words: int) -> int:
    """How many letters the first `words` words have."""
    place = 0
    for word in text.split()[:words]:
        place = text.index(word, place) + len(word)
    return place


def _lay_out(layout: QTextLayout, width: float) -> float:
    height = 0.0
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height() * 1.05
    layout.endLayout()
    return height
