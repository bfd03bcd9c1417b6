"""Paints a stretch of all lanes, in absolute pixels, so that stretches fit each other seamlessly."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from app.gui.timeline_drawing.bars import BarPainter
from app.gui.timeline_drawing.canvas import REACH_PX, SPILL_PX, Canvas
from app.gui.timeline_drawing.marks import MarkPainter
from app.gui.timeline_drawing.sound import SoundPainter
from app.gui.timeline_drawing.words import WordPainter
from app.gui.widgets.formats import clock_words

STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
STEP_PX = 76


class TimelinePainter:
    """Paints the lanes of a canvas. `interrupted`: the label of an answer that the user cut short."""

    def __init__(self, canvas: Canvas, interrupted: str) -> None:
        self.canvas = canvas
        self.bars = BarPainter(canvas)
        self.words = WordPainter(canvas)
        self._sound = SoundPainter(canvas, interrupted)
        self._marks = MarkPainter(canvas)

    def paint(self, painter: QPainter, left: float, right: float) -> None:
        """Paints the pixels from `left` to `right`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        log, scale = self.canvas.log, self.canvas.scale
        earliest, latest = (left - REACH_PX) / scale, (right + REACH_PX) / scale
        before = (left - SPILL_PX) / scale
        turns = log.turns.between(before, latest)
        answers = log.answers.between(before, latest)
        self._paint_ground(painter, left, right)
        self._paint_grid(painter, left, right)
        self._sound.paint(painter, turns, answers)
        self._sound.paint_levels(painter, earliest, latest)
        self.words.paint_partials(painter, earliest, latest)
        self._marks.paint_feed(painter, earliest, latest)
        self._marks.paint_troubles(painter, earliest, latest)
        self.bars.paint(painter, before, latest, secondary=False)
        self.bars.paint(painter, before, latest, secondary=True)
        for turn in turns:
            self.words.paint(painter, turn, left, right)
        for answer in answers:
            self.words.paint(painter, answer, left, right)
        self._marks.paint_swaps(painter, before, latest)
        for answer in answers:
            self._sound.paint_break(painter, answer)

    def paint_times(self, painter: QPainter, left: float, right: float) -> None:
        """Writes the times into the axis; those that are not in view as a whole are left out."""
        letters = self.canvas.letters
        painter.setFont(letters.font)
        painter.setPen(self.canvas.colours.dim)
        for second in self._ticks(left, right):
            x, words = round(second * self.canvas.scale) + 3.5, clock_words(second)
            if left <= x and x + letters.width(words) <= right:
                painter.drawText(QPointF(x, self.canvas.lanes.axis.top + 1 + letters.ascent), words)

    def _paint_ground(self, painter: QPainter, left: float, right: float) -> None:
        colours, lanes = self.canvas.colours, self.canvas.lanes
        painter.fillRect(QRectF(left, 0, right - left, lanes.height), colours.ground)
        for lane in lanes.order[::2]:
            strip = lanes.strips[lane]
            tall = strip.height + (lanes.said.height if lane == "kame" else 0)
            painter.fillRect(QRectF(left, strip.top, right - left, tall), colours.band)

    def _paint_grid(self, painter: QPainter, left: float, right: float) -> None:
        axis = self.canvas.lanes.axis
        painter.setPen(QPen(self.canvas.colours.line, 1))
        painter.drawLine(QLineF(left, axis.top - 0.5, right, axis.top - 0.5))
        for second in self._ticks(left, right):
            x = round(second * self.canvas.scale) + 0.5
            painter.drawLine(QLineF(x, 0, x, axis.top + 4))

    def _ticks(self, left: float, right: float) -> range:
        """The seconds that have a line of their own."""
        scale = self.canvas.scale
        step = next((s for s in STEPS if s * scale >= STEP_PX), STEPS[-1])
        first = max(0, int((left - REACH_PX) / scale / step))
        return range(first * step, int((right + REACH_PX) / scale) + 1, step)
