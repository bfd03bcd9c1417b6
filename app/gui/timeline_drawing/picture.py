"""Paints the visible part of the timeline: the lanes and their names, the times, the live edge and the cursor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QPainter, QPalette, QPen

from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Lane, Thing
from app.gui.timeline_drawing.canvas import Canvas
from app.gui.timeline_drawing.descriptions import TimelineWords
from app.gui.timeline_drawing.painter import TimelinePainter
from app.gui.timeline_drawing.style import COMPACT_PX, Colours, Lanes, Letters
from app.gui.timeline_drawing.tiles import Tiles

MARGIN_PX = 6.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The part to paint: the whole size in pixels, device pixels a pixel, pixels a second, and the pixel from second 0
    on at the left end of the lanes.
    """

    size: QSizeF
    ratio: float
    scale: float
    left: float


class TimelinePicture:
    """Paints `log`. The lanes are kept as tiles, of which only those that have changed are painted again."""

    def __init__(self, log: TimelineLog, edge: LiveEdge, words: TimelineWords) -> None:
        self._log = log
        self._edge = edge
        self._words = words
        self._shape: tuple[float | bool, ...] = ()
        self.restyle(QPalette(), QFont())

    def restyle(self, palette: QPalette, font: QFont) -> None:
        """Uses these colours and this font from now on."""
        self.colours = Colours.of(palette)
        self._font = font
        letters = Letters(font, False)
        self._names = {lane: self._words.lane(lane) for lane in get_args(Lane)}
        self.gutter = math.ceil(max(letters.width(name) for name in self._names.values()) + 2 * MARGIN_PX)
        """The width of the lanes' names."""
        self.forget()

    def forget(self) -> None:
        """Drops all tiles: everything is painted again."""
        self._shape = ()

    def painter(self, frame: Frame) -> TimelinePainter:
        """Returns the painter for a frame's size and scale, with the tiles brought up to date."""
        height = frame.size.height()
        shape = (height, frame.ratio, round(frame.scale, 6), self._log.has_secondary)
        if self._shape != shape:
            self._shape = shape
            letters = Letters(self._font, height < COMPACT_PX)
            lanes = Lanes.of(height, letters, self._log.has_secondary)
            canvas = Canvas(self._log, self.colours, letters, lanes, frame.scale)
            self._painter = TimelinePainter(canvas, self._words.interrupted())
            self.tiles = Tiles(self._painter.paint, height, frame.ratio)
        changed = self._log.take_changed()
        if changed is not None:
            self.tiles.drop_from(changed * frame.scale - 8)
        return self._painter

    def paint(self, painter: QPainter, frame: Frame, cursor: Thing | None = None, *, exporting: bool = False) -> None:
        """Paints a frame. When `exporting`, it is drawn without tiles, so that it is sharp at any size."""
        lanes = self.painter(frame)
        painter.fillRect(QRectF(QPointF(), frame.size), self.colours.ground)
        self._paint_names(painter, lanes.canvas)
        wide, tall = frame.size.width() - self.gutter, frame.size.height()
        right = frame.left + wide
        painter.save()
        painter.setClipRect(QRectF(self.gutter, 0, wide, tall))
        painter.translate(self.gutter - frame.left, 0)
        if exporting:
            lanes.paint(painter, frame.left, right)
        else:
            self.tiles.show(painter, frame.left, right)
        lanes.paint_times(painter, frame.left, right)
        if self._edge.at > 0:
            painter.fillRect(QRectF(math.floor(self._edge.at * frame.scale), 0, 2, tall), self.colours.now)
        if cursor is not None:
            self._paint_cursor(painter, cursor, lanes.canvas)
        painter.restore()

    def paint_focus(self, painter: QPainter, frame: Frame) -> None:
        """Paints a line around the lanes: the keyboard is here."""
        rect = QRectF(self.gutter, 0, frame.size.width() - self.gutter, frame.size.height())
        painter.setPen(QPen(self.colours.now, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect.adjusted(1, 1, -1, -1))

    def _paint_names(self, painter: QPainter, canvas: Canvas) -> None:
        lanes, letters, colours = canvas.lanes, canvas.letters, self.colours
        special = {"you": colours.user, "words": colours.user, "kame": colours.assistant}
        painter.setFont(letters.font)
        above = -math.inf  # the line of letters of the last name
        for lane in lanes.order:
            strip = lanes.strips[lane]
            middle = strip.middle if lane != "kame" else (strip.top + lanes.said.bottom) / 2
            painter.setPen(special.get(lane, colours.dim))
            y = max(letters.ascent, middle + (letters.ascent - letters.metrics.descent()) / 2)
            if y - above >= letters.ascent:  # in a low pane some names have no room
                painter.drawText(QPointF(MARGIN_PX, y), self._names[lane])
                above = y
        painter.setPen(QPen(colours.line, 1))
        x = self.gutter - 0.5
        painter.drawLine(QLineF(x, 0, x, lanes.height))

    def _paint_cursor(self, painter: QPainter, thing: Thing, canvas: Canvas) -> None:
        end = thing.end if thing.end is not None else self._log.now
        x, x_end = thing.start * canvas.scale, end * canvas.scale
        tall = canvas.lanes.axis.top
        shade = self.colours.now.toRgb()
        shade.setAlphaF(0.18)
        painter.fillRect(QRectF(x, 0, max(2.0, x_end - x), tall), shade)
        painter.fillRect(QRectF(x - 1, 0, 2, tall), self.colours.text)
