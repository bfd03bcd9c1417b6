"""Paints the requests to the back-ends: a bar for each, hatched until its first words, solid while they come.

A thin line continues from there for as long as its words reach the front-end. A superseded request is faded and struck
through, with an arrow to the one that superseded it.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from app.gui.design.look import blend
from app.gui.timeline_data.spans import Request
from app.gui.timeline_drawing.canvas import Canvas

TALLEST_BAR_PX = 18.0
LEAST_BAR_PX = 3.0
TAIL_PX = 3.0


@dataclass(frozen=True, slots=True)
class _Bar:
    """Where a bar is, in pixels: its left end, its first words, its right end, and the end of its tail."""

    left: float
    first: float
    right: float
    tail: float
    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


class BarPainter:
    """Paints the lanes of requests."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas

    def paint(self, painter: QPainter, earliest: float, latest: float, secondary: bool) -> None:
        """Paints what lies between two seconds on one of the two lanes."""
        if secondary and "secondary" not in self._canvas.lanes.strips:
            return
        found = self._canvas.log.requests.between(earliest, latest)
        requests = [(request, self._bar(request)) for request in found if request.secondary == secondary]
        for request, bar in requests:
            self._paint_bar(painter, request, bar)
        for request, bar in requests:
            if request.past:
                self._paint_superseded(painter, request, bar)

    def row(self, request: Request) -> tuple[float, float]:
        """The upper edge and the height of a request's bar."""
        lanes = self._canvas.lanes
        strip = lanes.strips["secondary" if request.secondary else "backend"]
        rows = self._rows(request)
        tall = strip.height / rows
        bar = min(TALLEST_BAR_PX, tall - 2)
        return strip.top + request.slots[rows] * tall + (tall - bar) / 2, bar

    def until(self, request: Request) -> float:
        """The second up to which a request's bar or its tail reaches."""
        superseded_at = request.revision.superseded_at if request.past and request.first else None
        return max(self._end(request), request.fed_until or 0.0, superseded_at or 0.0)

    def colour(self, request: Request) -> QColor:
        """The colour of its model, faded when it is past."""
        colour = self._canvas.backend_colour(request.backend)
        return blend(colour, self._canvas.colours.ground, 0.62) if request.past else colour

    def _rows(self, request: Request) -> int:
        lanes = self._canvas.lanes
        return lanes.secondary_rows if request.secondary else lanes.backend_rows

    def _end(self, request: Request) -> float:
        return self._canvas.log.now if request.end is None else request.end

    def _bar(self, request: Request) -> _Bar:
        scale, end = self._canvas.scale, self._end(request)
        first = end if request.first is None else min(request.first, end)
        left, x_first = float(round(request.start * scale)), float(round(first * scale))
        right = max(float(round(end * scale)), left + LEAST_BAR_PX)
        if request.first is not None:
            right = max(right, x_first + LEAST_BAR_PX)
        return _Bar(left, x_first, right, max(right, round(self.until(request) * scale)), *self.row(request))

    def _paint_bar(self, painter: QPainter, request: Request, bar: _Bar) -> None:
        colours, colour = self._canvas.colours, self.colour(request)
        waiting = QRectF(bar.left + 0.5, bar.top + 0.5, max(1.0, bar.first - bar.left), bar.height - 1)
        painter.setPen(QPen(colour, 1))
        painter.setBrush(blend(colour, colours.ground, 0.8))
        painter.drawRect(waiting)
        painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.drawRect(waiting)
        if request.first is not None:
            painter.fillRect(QRectF(bar.first, bar.top, bar.right - bar.first, bar.height), colour)
        if bar.tail > bar.right:
            painter.fillRect(QRectF(bar.right, bar.middle - TAIL_PX / 2, bar.tail - bar.right, TAIL_PX), colour)
        if request.revision.end_reason == "failed":
            painter.setPen(QPen(colours.bad, 2))
            painter.drawLine(QLineF(bar.right - 1, bar.top - 1, bar.right - 1, bar.top + bar.height + 1))
        self._paint_label(painter, request, bar, colour)

    def _paint_label(self, painter: QPainter, request: Request, bar: _Bar, colour: QColor) -> None:
        """Writes the number, with the model if it is a new one and there is room, into the bar or behind it."""
        letters, colours = self._canvas.letters, self._canvas.colours
        number = str(request.revision.number)
        label = f"{number} {request.backend[1] or request.backend[0]}" if request.named else number
        following = request.next_start.get(self._rows(request))
        room = float("inf") if following is None else following * self._canvas.scale - 3
        y = bar.top + (bar.height + letters.height) / 2 - letters.metrics.descent()
        painter.setFont(letters.font)
        inside = bar.height >= letters.ascent and request.first is not None and not request.past
        for text in dict.fromkeys((label, number)):
            wide = letters.width(text)
            if inside and wide + 6 <= bar.right - bar.first:
                painter.setPen(colours.on(colour))
                painter.drawText(QPointF(bar.first + 3, y), text)
                return
            if bar.right + 4 + wide <= room:
                if bar.tail > bar.right:  # the letters stand upon the tail
                    painter.fillRect(QRectF(bar.right + 2, bar.top, wide + 4, bar.height), colours.ground)
                painter.setPen(colours.dim if request.past else colours.text)
                painter.drawText(QPointF(bar.right + 4, y), text)
                if request.past:
                    painter.drawLine(QLineF(bar.right + 3, bar.middle, bar.right + 5 + wide, bar.middle))
                return

    def _paint_superseded(self, painter: QPainter, request: Request, bar: _Bar) -> None:
        colours = self._canvas.colours
        middle = round(bar.middle) + 0.5
        painter.setPen(QPen(colours.dim, 1))
        painter.drawLine(QLineF(bar.left - 2, middle, bar.right + 2, middle))
        superseded_at = request.revision.superseded_at
        newer = self._canvas.log.request(request.revision.by)
        if superseded_at is None or newer is None or newer.secondary != request.secondary:
            return
        new_top, new_tall = self.row(newer)
        if abs(new_top - bar.top) < 2:
            return
        down = new_top > bar.top
        x = round(superseded_at * self._canvas.scale) + 0.5
        tip, back = (new_top, -4.0) if down else (new_top + new_tall, 4.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colours.text, 1))
        painter.drawLine(QLineF(x, middle, x, tip))
        painter.setBrush(colours.text)
        painter.drawPolygon(QPolygonF([QPointF(x, tip), QPointF(x - 3, tip + back), QPointF(x + 3, tip + back)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
