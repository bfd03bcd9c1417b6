"""Paints the moments of the timeline: words that reached the front-end, troubles, and changes of the model."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.gui.design.look import blend
from app.gui.timeline_drawing.canvas import Canvas

TALLEST_LATE_MS = 160.0


class MarkPainter:
    """Paints the marks that lie between two seconds."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas

    def paint_feed(self, painter: QPainter, earliest: float, latest: float) -> None:
        """Paints the words that were fed above the tokens that the front-end took."""
        canvas = self._canvas
        strip = canvas.lanes.strips["oracle"]
        both = len(canvas.log.taken) > 0
        words_tall = strip.height * (0.55 if both else 1.0) - 1
        wide = max(1.5, min(4.0, 0.08 * canvas.scale - 1))
        for fed in canvas.log.fed.between(earliest, latest):
            tall = words_tall * min(1.0, 0.4 + 0.2 * fed.words)
            x = round(fed.start * canvas.scale)
            rect = QRectF(x - wide / 2, strip.top + words_tall - tall, wide, tall)
            painter.fillRect(rect, canvas.backend_colour(fed.backend))
        top = strip.top + words_tall + 1
        for taken in canvas.log.taken.between(earliest, latest):
            tall = (strip.bottom - top) * min(1.0, 0.4 + 0.3 * taken.tokens)
            x = round(taken.start * canvas.scale)
            colour = blend(canvas.backend_colour(taken.backend), canvas.colours.ground, 0.3)
            painter.fillRect(QRectF(x - wide / 2, top, wide, tall), colour)

    def paint_troubles(self, painter: QPainter, earliest: float, latest: float) -> None:
        """Paints a bar for a late frame, as tall as it was late, and a diamond for anything else."""
        strip, colours = self._canvas.lanes.strips["trouble"], self._canvas.colours
        painter.setPen(Qt.PenStyle.NoPen)
        for trouble in self._canvas.log.troubles.between(earliest, latest):
            x = round(trouble.start * self._canvas.scale)
            if trouble.what == "late":
                tall = max(4.0, strip.height * min(1.0, 0.35 + trouble.amount / TALLEST_LATE_MS))
                painter.fillRect(QRectF(x - 1.5, strip.bottom - tall, 3, tall), colours.warn)
                continue
            half, middle = min(strip.height / 2, 5.0), strip.middle
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(colours.warn if trouble.what == "skipped" else colours.bad)
            corners = [QPointF(x, middle - half), QPointF(x + half, middle), QPointF(x, middle + half)]
            painter.drawPolygon(QPolygonF([*corners, QPointF(x - half, middle)]))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def paint_swaps(self, painter: QPainter, earliest: float, latest: float) -> None:
        """Paints a line through all lanes where another model or front-end came, with a flag that names it."""
        canvas = self._canvas
        letters, strip = canvas.letters, canvas.lanes.strips["you"]
        for swap in canvas.log.swaps.between(earliest, latest):
            x = round(swap.start * canvas.scale) + 0.5
            colour = canvas.backend_colour(swap.backend) if swap.backend is not None else canvas.colours.dim
            painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(x, 0, x, canvas.lanes.axis.top))
            text = f"→ {swap.name}"
            painter.fillRect(QRectF(x, strip.top, letters.width(text) + 8, letters.height), colour)
            painter.setPen(canvas.colours.on(colour))
            painter.setFont(letters.font)
            painter.drawText(QPointF(x + 4, strip.top + letters.ascent), text)
