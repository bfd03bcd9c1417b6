"""Paints the lanes of both sides' sound: who had the floor, how loud it was, and where the user interrupted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from app.gui.design.look import blend
from app.gui.timeline_data.spans import Answer, Lane, UserTurn
from app.gui.timeline_drawing.canvas import Canvas
from app.gui.timeline_drawing.style import Strip


class SoundPainter:
    """Paints the lanes "you" and "kame". `interrupted`: the label where the user cut an answer short."""

    def __init__(self, canvas: Canvas, interrupted: str) -> None:
        self._canvas = canvas
        self._interrupted = interrupted

    def paint(self, painter: QPainter, turns: Iterable[UserTurn], answers: Iterable[Answer]) -> None:
        """Paints a band for each turn and answer, hatched where that side was silent."""
        colours, strips = self._canvas.colours, self._canvas.lanes.strips
        for turn in turns:
            self._paint_band(painter, strips["you"], turn.start, turn.end, colours.user_band)
            for start, end in turn.pauses:
                end = turn.end if end is None else end
                self._paint_band(painter, strips["you"], start, end, colours.user_band, hatched=True)
        strip = strips["kame"]
        for answer in answers:
            self._paint_band(painter, strip, answer.start, answer.end, colours.assistant_band)
            for start, end in answer.holds:
                self._paint_band(painter, strip, start, end, colours.assistant_band, hatched=True)
            for at, _, how in answer.corrections:
                x = round(at * self._canvas.scale) + 0.5
                painter.setPen(QPen(colours.warn if how == "corrected" else colours.assistant, 2))
                painter.drawLine(QLineF(x, strip.top, x, strip.bottom))

    def _paint_band(
        self, painter: QPainter, strip: Strip, start: float, end: float | None, colour: QColor, hatched: bool = False
    ) -> None:
        canvas = self._canvas
        x = round(start * canvas.scale)
        x_end = max(round((canvas.log.now if end is None else end) * canvas.scale), x + 2)
        rect = QRectF(x, strip.top, x_end - x, strip.height)
        if hatched:
            painter.fillRect(rect, canvas.colours.ground)
            painter.fillRect(rect, QBrush(blend(colour, canvas.colours.text, 0.25), Qt.BrushStyle.FDiagPattern))
        else:
            painter.fillRect(rect, colour)

    def paint_levels(self, painter: QPainter, earliest: float, latest: float) -> None:
        """Paints how loud both sides were between two seconds, as an outline around the middle of the lane."""
        canvas = self._canvas
        # The frames beyond both ends, too: the outline continues in the stretches next to this one.
        times, shares = canvas.log.levels.between(earliest - 0.2, latest + 0.2)
        if len(times) == 0:
            return
        xs = times * canvas.scale
        per_pixel = int(len(xs) / max(1.0, xs[-1] - xs[0])) if len(xs) > 1 else 0
        if per_pixel > 1:
            starts = np.arange(0, len(xs), per_pixel)
            xs, shares = xs[starts], np.fmax.reduceat(shares, starts, axis=1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        sides: tuple[tuple[Lane, QColor], ...] = (("you", canvas.colours.user), ("kame", canvas.colours.assistant))
        for row, (lane, colour) in enumerate(sides):
            strip = canvas.lanes.strips[lane]
            half = np.maximum(shares[row] ** 1.5 * (strip.height / 2 - 0.5), 0.5)
            painter.setBrush(colour)
            for run in _runs(half):
                painter.drawPolygon(_outline(xs[run], half[run], strip.middle))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def paint_break(self, painter: QPainter, answer: Answer) -> None:
        """Marks where the user cut an answer short."""
        if not answer.interrupted or answer.end is None:
            return
        canvas = self._canvas
        strip, letters = canvas.lanes.strips["kame"], canvas.letters
        x = round(answer.end * canvas.scale) + 0.5
        painter.setPen(QPen(canvas.colours.bad, 2))
        painter.drawLine(QLineF(x, strip.top, x, canvas.lanes.said.bottom))
        wide = letters.width(self._interrupted)
        if answer.next_start is None or (answer.next_start - answer.end) * canvas.scale > wide + 8:
            painter.fillRect(QRectF(x + 2, strip.top, wide + 4, strip.height), canvas.colours.band)
            painter.setFont(letters.font)
            y = strip.middle - letters.height / 2 + letters.ascent
            painter.drawText(QPointF(x + 4, y), self._interrupted)


def _outline(across: np.ndarray, half: np.ndarray, middle: float) -> QPolygonF:
    """The outline of a run of levels; a single one is two pixels wide."""
    if len(across) == 1:
        across, half = np.array([across[0] - 1, across[0] + 1]), np.repeat(half, 2)
    xs = np.concatenate((across, across[::-1])).tolist()
    ys = np.concatenate((middle - half, (middle + half)[::-1])).tolist()
    return QPolygonF([QPointF(x, y) for x, y in zip(xs, ys, strict=True)])


def _runs(values: np.ndarray) -> list[slice]:
    """The stretches without gaps (NaN)."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) == 0:
        return []
    breaks = np.flatnonzero(np.diff(known) > 1)
    starts = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(known) - 1]))
    return [slice(int(known[a]), int(known[b]) + 1) for a, b in zip(starts, ends, strict=True)]
