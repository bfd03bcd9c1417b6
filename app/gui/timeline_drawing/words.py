"""Paints the words of both sides under their sound, and the marks of the transcripts that they came with."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QPainter, QPen

from app.gui.timeline_data.spans import Answer, UserTurn
from app.gui.timeline_data.track import Track
from app.gui.timeline_drawing.canvas import REACH_PX, SPILL_PX, Canvas
from app.gui.timeline_drawing.word_layout import Placed, flow

LEAST_SCALE = 9.0
"""With fewer pixels a second words would only be dots."""
MOST_FLOWS = 200


Worded = TypeVar("Worded", UserTurn, Answer)


class WordPainter:
    """Paints words, and keeps where it has set them."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._flows: dict[UserTurn | Answer, tuple[tuple[int, float | None], list[Placed]]] = {}

    def paint(self, painter: QPainter, thing: UserTurn | Answer, left: float, right: float) -> None:
        """Paints the words of a turn or an answer that lie between two pixels."""
        if self._canvas.scale < LEAST_SCALE:
            return
        letters, colours, lanes = self._canvas.letters, self._canvas.colours, self._canvas.lanes
        strip = lanes.strips["words"] if isinstance(thing, UserTurn) else lanes.said
        dim = isinstance(thing, UserTurn) and thing.backchannel
        for word in self._flow(thing):
            if word.x > right or word.x + SPILL_PX < left or word.x + letters.width(word.text) < left:
                continue
            painter.setFont(letters.font if word.settled else letters.italic)
            painter.setPen(colours.text if word.settled and not dim else colours.dim)
            y = strip.top + word.row * letters.height + letters.ascent
            painter.drawText(QPointF(round(word.x), y), word.text)

    def thing_at(self, track: Track[Worded], second: float) -> Worded | None:
        """The turn or answer of a track whose words are painted at a second."""
        x, letters = second * self._canvas.scale, self._canvas.letters
        for thing in reversed(track.between((x - SPILL_PX) / self._canvas.scale, second)):
            ends = [word.x + letters.width(word.text) for word in self._flow(thing)]
            if ends and thing.start * self._canvas.scale - REACH_PX <= x <= max(ends) + REACH_PX:
                return thing
        return None

    def _flow(self, thing: UserTurn | Answer) -> list[Placed]:
        key = (thing.version, thing.next_start)
        known = self._flows.get(thing)
        if known is not None and known[0] == key:
            return known[1]
        if len(self._flows) > MOST_FLOWS:
            self._flows.clear()
        canvas = self._canvas
        limit = None if thing.next_start is None else thing.next_start * canvas.scale - 4
        rows = canvas.lanes.word_rows if isinstance(thing, UserTurn) else canvas.lanes.said_rows
        placed = flow(thing.words, canvas.scale, canvas.letters.width, rows, limit)
        self._flows[thing] = (key, placed)
        return placed

    def paint_partials(self, painter: QPainter, earliest: float, latest: float) -> None:
        """Marks when a transcript came: in full height if it was the final one."""
        strip = self._canvas.lanes.strips["words"]
        settling, settled = [], []
        for partial in self._canvas.log.partials.between(earliest, latest):
            x = round(partial.start * self._canvas.scale) + 0.5
            if partial.final:
                settled.append(QLineF(x, strip.top, x, strip.bottom - 1))
            else:
                settling.append(QLineF(x, strip.bottom - 3, x, strip.bottom - 1))
        painter.setPen(QPen(self._canvas.colours.dim, 1))
        painter.drawLines(settling)
        painter.setPen(QPen(self._canvas.colours.user, 1))
        painter.drawLines(settled)
