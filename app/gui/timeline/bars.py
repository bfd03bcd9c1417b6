"""Paints the requests to the brain: a bar for each revision, hatched until its first words, solid while they come.

A thin line goes on from there for as long as its words go into the voice. What a newer one overtook is faded and
struck through, with an arrow to the one that took its place.
"""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from app.gui.timeline.style import Colours, Lanes, Letters
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Request
from app.gui.widgets.palette import blend

TALLEST_BAR_PX = 18.0
LEAST_BAR_PX = 3.0
TAIL_PX = 3.0


class BarPainter:
    """Paints one lane of requests in absolute pixels: second 0 is at pixel 0."""

    def __init__(self, log: TimelineLog, colours: Colours, letters: Letters, lanes: Lanes, scale: float) -> None:
        self._log = log
        self._colours = colours
        self._letters = letters
        self._lanes = lanes
        self._scale = scale

    def paint(self, painter: QPainter, earliest: float, latest: float, secondary: bool) -> None:
        """Paints what lies between two seconds."""
        if secondary and "secondary" not in self._lanes.strips:
            return
        requests = [r for r in self._log.requests.between(earliest, latest) if r.secondary == secondary]
        for request in requests:
            self._bar(painter, request)
        for request in requests:
            self._overtaken(painter, request)

    def row(self, request: Request) -> tuple[float, float]:
        """The upper edge and the height of a request's bar."""
        strip = self._lanes.strips["secondary" if request.secondary else "backend"]
        rows = self._lanes.secondary_rows if request.secondary else self._lanes.backend_rows
        tall = strip.height / rows
        bar = min(TALLEST_BAR_PX, tall - 2)
        return strip.top + request.slots[rows] * tall + (tall - bar) / 2, bar

    def until(self, request: Request) -> float:
        """The second up to which a request's bar or its tail reaches."""
        ends = [self._log.now if request.end is None else request.end]
        superseded_at = request.revision.superseded_at if request.past and request.first else None
        ends += [time for time in (request.fed_until, superseded_at) if time is not None]
        return max(ends)

    def colour(self, request: Request) -> QColor:
        """Its brain's colour, faded when it is past."""
        places = self._log.backends
        colour = self._colours.backend(places.index(request.backend) if request.backend in places else 0)
        return blend(colour, self._colours.ground, 0.62) if request.past else colour

    def _bar(self, painter: QPainter, request: Request) -> None:
        scale, colours = self._scale, self._colours
        top, tall = self.row(request)
        colour = self.colour(request)
        end = self._log.now if request.end is None else request.end
        first = end if request.first is None else min(request.first, end)
        x = round(request.start * scale)
        x_first, x_end = round(first * scale), round(end * scale)
        x_end = max(x_end, x + LEAST_BAR_PX)
        waiting = QRectF(x + 0.5, top + 0.5, max(1.0, x_first - x), tall - 1)
        painter.setPen(QPen(colour, 1))
        painter.setBrush(blend(colour, colours.ground, 0.8))
        painter.drawRect(waiting)
        painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.drawRect(waiting)
        if request.first is not None:
            painter.fillRect(QRectF(x_first, top, max(LEAST_BAR_PX, x_end - x_first), tall), colour)
            x_end = max(x_end, x_first + LEAST_BAR_PX)
        tail = round(self.until(request) * scale)
        if tail > x_end:
            painter.fillRect(QRectF(x_end, top + (tall - TAIL_PX) / 2, tail - x_end, TAIL_PX), colour)
        if request.revision.end_reason == "failed":
            painter.setPen(QPen(colours.bad, 2))
            painter.drawLine(QLineF(x_end - 1, top - 1, x_end - 1, top + tall + 1))
        self._label(painter, request, x, x_first, x_end, max(tail, x_end), top, tall, colour)

    def _label(
        self,
        painter: QPainter,
        request: Request,
        x: float,
        x_first: float,
        x_end: float,
        x_tail: float,
        top: float,
        tall: float,
        colour: QColor,
    ) -> None:
        letters, colours = self._letters, self._colours
        number = str(request.revision.number)
        label = f"{number} {request.backend[1] or request.backend[0]}" if request.named else number
        rows = self._lanes.secondary_rows if request.secondary else self._lanes.backend_rows
        following = request.next_start.get(rows)
        room = float("inf") if following is None else following * self._scale - 3
        y = top + (tall + letters.height) / 2 - letters.metrics.descent()
        painter.setFont(letters.font)
        inside = tall >= letters.ascent and request.first is not None and not request.past
        for text in dict.fromkeys((label, number)):
            wide = letters.width(text)
            if inside and wide + 6 <= x_end - x_first:
                painter.setPen(colours.on(colour))
                painter.drawText(QPointF(x_first + 3, y), text)
                return
            # Beside the bar; where its tail is, the letters stand on a piece of ground of their own.
            if x_end + 4 + wide <= room:
                if x_tail > x_end:
                    painter.fillRect(QRectF(x_end + 2, top, wide + 4, tall), colours.ground)
                painter.setPen(colours.dim if request.past else colours.text)
                painter.drawText(QPointF(x_end + 4, y), text)
                if request.past:
                    painter.drawLine(QLineF(x_end + 3, top + tall / 2, x_end + 5 + wide, top + tall / 2))
                return

    def _overtaken(self, painter: QPainter, request: Request) -> None:
        if not request.past:
            return
        colours, scale = self._colours, self._scale
        top, tall = self.row(request)
        middle = round(top + tall / 2) + 0.5
        end = request.end if request.end is not None else self._log.now
        x_end = max(round(end * scale), round(request.start * scale) + LEAST_BAR_PX)
        painter.setPen(QPen(colours.dim, 1))
        painter.drawLine(QLineF(round(request.start * scale) - 2, middle, x_end + 2, middle))
        superseded_at = request.revision.superseded_at
        newer = self._log.request(request.revision.by)
        if superseded_at is None or newer is None or newer.secondary != request.secondary:
            return
        x = round(superseded_at * scale) + 0.5
        new_top, new_tall = self.row(newer)
        down = new_top > top
        if abs(new_top - top) < 2:
            return
        tip = new_top if down else new_top + new_tall
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colours.text, 1))
        painter.drawLine(QLineF(x, middle, x, tip))
        painter.setBrush(colours.text)
        back = -4.0 if down else 4.0
        painter.drawPolygon(QPolygonF([QPointF(x, tip), QPointF(x - 3, tip + back), QPointF(x + 3, tip + back)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
