"""The parts of the timeline's plot: the box that is dragged and zoomed, what is painted in it, and the lanes' names.

They hand everything on to their view.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.gui.timeline.style import Lanes, Letters

if TYPE_CHECKING:
    from app.gui.timeline.descriptions import TimelineWords
    from app.gui.timeline.painter import TimelinePainter
    from app.gui.timeline.view import TimelineView

NOTCH = 120
SCROLL_SHARE = 0.1
"""A notch of the wheel scrolls by this share of the width."""
WHEEL_ZOOM = 1.2
MARGIN_PX = 6.0


class TimeBox(pg.ViewBox):
    """Time runs to the right; there is nothing to move up or down."""

    def __init__(self, view: TimelineView) -> None:
        super().__init__(enableMenu=False, enableMouse=True, defaultPadding=0.0)
        self._view = view
        self.setMouseEnabled(x=True, y=False)
        self.disableAutoRange()

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Scrolls; with Ctrl, zooms around the mouse."""
        notches = event.delta() / NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._view.zoom(WHEEL_ZOOM**-notches, event.pos().x())
        else:
            self._view.scroll(-notches * self._view.seconds * SCROLL_SHARE)
        event.accept()

    def mouseClickEvent(self, event: Any) -> None:
        """A click picks nothing, and opens no menu."""
        event.ignore()


class TimelineItem(pg.GraphicsObject):
    """One item for everything: a thousand items of a scene would cost more than all that they paint."""

    def __init__(self, view: TimelineView) -> None:
        super().__init__()
        self._view = view
        self._rect = QRectF()
        self.exporting = False

    def fit(self) -> None:
        """The box has another size."""
        self.prepareGeometryChange()
        self._rect = QRectF(0, 0, self._view.box.width(), self._view.box.height())
        self.update()

    def boundingRect(self) -> QRectF:
        """All of the box."""
        return self._rect

    def paint(self, painter: QPainter, *args: object) -> None:
        """Paints the lanes, the times, the live edge and the cursor."""
        rect, view = self._rect, self._view
        if rect.isEmpty():
            return
        paint = view.painter_of_now()
        left = view.left_px
        right = left + rect.width()
        painter.save()
        painter.setClipRect(rect)
        painter.translate(-left, 0)
        if self.exporting:
            paint.paint(painter, left, right)
        else:
            view.tiles.show(painter, left, right)
        paint.times(painter, left, right)
        if view.edge.at > 0:
            x = math.floor(view.edge.at * view.scale_px)
            painter.fillRect(QRectF(x, 0, 2, rect.height()), view.colours.now)
        if view.cursor is not None and not self.exporting:
            self._cursor(painter, paint)
        painter.restore()
        if view.hasFocus() and not self.exporting:
            painter.setPen(QPen(view.colours.now, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(1, 1, -1, -1))

    def _cursor(self, painter: QPainter, paint: TimelinePainter) -> None:
        thing, colours = self._view.cursor, self._view.colours
        end = thing.end if thing.end is not None else self._view.log.now
        x, x_end = thing.start * paint.scale, end * paint.scale
        tall = paint.lanes.axis.top
        shade = colours.now.toRgb()
        shade.setAlphaF(0.18)
        painter.fillRect(QRectF(x, 0, max(2.0, x_end - x), tall), shade)
        painter.fillRect(QRectF(x - 1, 0, 2, tall), colours.text)


class LaneNames(pg.GraphicsWidget):
    """The gutter at the left, which says what each lane is."""

    def __init__(self, view: TimelineView) -> None:
        super().__init__()
        self._view = view
        self._lanes: Lanes | None = None
        self._letters: Letters | None = None
        self.keep(True)

    def keep(self, keep: bool) -> None:
        """Whether its picture is kept: its neighbour's edge touches it all the time. In an image it is drawn anew."""
        self.setCacheMode(self.CacheMode.DeviceCoordinateCache if keep else self.CacheMode.NoCache)

    def fit(self, letters: Letters, words: TimelineWords) -> None:
        """Makes it as wide as the longest name."""
        lanes = ("you", "words", "backend", "secondary", "oracle", "kame", "trouble")
        wide = max(letters.width(words.lane(lane)) for lane in lanes) + 2 * MARGIN_PX
        self.setMinimumWidth(wide)
        self.setMaximumWidth(wide)

    def show_lanes(self, lanes: Lanes, letters: Letters) -> None:
        """The lanes have moved."""
        self._lanes, self._letters = lanes, letters
        self.update()

    def paint(self, painter: QPainter, *args: object) -> None:
        """Paints each name in the middle of its lane."""
        if self._lanes is None or self._letters is None:
            return
        view, letters = self._view, self._letters
        painter.fillRect(self.boundingRect(), view.colours.ground)
        painter.setFont(letters.font)
        colours = {"you": view.colours.user, "words": view.colours.user, "kame": view.colours.assistant}
        for lane in self._lanes.order:
            strip = self._lanes.strips[lane]
            middle = strip.middle if lane != "kame" else (strip.top + self._lanes.said.bottom) / 2
            painter.setPen(colours.get(lane, view.colours.dim))
            y = max(letters.ascent, middle + (letters.ascent - letters.metrics.descent()) / 2)
            painter.drawText(QPointF(MARGIN_PX, y), view.words.lane(lane))
        x = self.boundingRect().right() - 0.5
        painter.setPen(QPen(view.colours.line, 1))
        painter.drawLine(QPointF(x, 0), QPointF(x, self.boundingRect().bottom()))
