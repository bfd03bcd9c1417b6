"""The tandem timeline as a plot: it follows the talk, is dragged and zoomed, explains itself and saves its picture.

Shows what a `TimelineLog` holds; takes no events. To import it imports pyqtgraph, which takes a while: whoever shows
it first does so in the background.
"""

from __future__ import annotations

import math
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.gui.timeline.descriptions import TimelineWords
from app.gui.timeline.export import save_picture
from app.gui.timeline.find import NEAR_PX, step, thing_at
from app.gui.timeline.items import LaneNames, TimeBox, TimelineItem
from app.gui.timeline.painter import TimelinePainter
from app.gui.timeline.style import COMPACT_PX, Colours, Lanes, Letters
from app.gui.timeline.tiles import Tiles
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Thing

USUAL_SECONDS = 30.0
LEAST_SECONDS, MOST_SECONDS = 2.0, 600.0
AHEAD_SHARE = 0.08
"""So much of the width is right of the live edge: what is being said spills into it."""
TICK_MS = 16
ZOOM_STEP = 1.5
LEAST_HEIGHT_PX = 80


class TimelineView(pg.GraphicsView):
    """`begin` and `end` frame a talk; `settle` after each batch of events that the log took in."""

    told = Signal(str)
    """What is under the mouse, or under the keyboard's cursor, in words; empty for nothing."""
    following_changed = Signal(bool)

    def __init__(self, log: TimelineLog, edge: LiveEdge, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.log = log
        self.edge = edge
        self.words = TimelineWords(self)
        self.following = True
        self._reduced_motion = False
        self.running = False
        self.seconds = USUAL_SECONDS
        """How much of the talk is in view, left of the live edge."""
        self.right = USUAL_SECONDS * AHEAD_SHARE
        """The second at the right end."""
        self.cursor: Thing | None = None
        """What the keyboard has picked."""
        self.painted = 0
        """How often."""
        self.readout = ""
        self._mouse: QPointF | None = None
        self._painter: TimelinePainter | None = None
        self.tiles: Tiles | None = None
        self._shape: tuple = ()
        self._help = self.tr(
            "Left and Right walk through what happened. P pauses and follows, plus and minus zoom, Home and End go to "
            "the start and to the present moment."
        )
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(self._help)
        self.setMinimumHeight(LEAST_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        layout = pg.GraphicsLayout()
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.setCentralItem(layout)
        self._names = LaneNames(self)
        self.box = TimeBox(self)
        layout.addItem(self._names, 0, 0)
        layout.addItem(self.box, 0, 1)
        self._item = TimelineItem(self)
        self._item.setParentItem(self.box)
        self.box.sigResized.connect(self._item.fit)
        self.box.sigRangeChangedManually.connect(self._dragged)
        self.timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while there is something to follow, in view."""
        self.timer.timeout.connect(self.advance)
        self._dress()

    def sizeHint(self) -> QSize:
        """Room for all lanes."""
        return QSize(900, 180)

    # -- the talk

    def begin(self) -> None:
        """A new talk runs: nothing has happened in it."""
        self.running, self.cursor = True, None
        self._shape = ()
        self._tell("")
        self.follow()

    def end(self) -> None:
        """The talk is over: it stays in view, and moves no more."""
        self.running = False
        self.watch()
        self._item.update()

    def settle(self) -> None:
        """Shows what a batch of events has changed."""
        if not self.isVisible():
            return
        if not self.timer.isActive():
            if self.running:
                self.edge.move()
            if self.following and self.running:
                self._show(self.live_right, self.seconds)
            self._item.update()
        self._look_again()

    def advance(self) -> None:
        """Moves on to the present moment."""
        self.edge.move()
        if self.following:
            self._show(self.live_right, self.seconds)
        self._item.update()

    @property
    def live_right(self) -> float:
        """The second at the right end while it follows."""
        return self.edge.at + self.seconds * AHEAD_SHARE

    # -- what is in view

    @property
    def scale_px(self) -> float:
        """Pixels a second."""
        return max(1.0, self.box.width()) / (self.seconds * (1 + AHEAD_SHARE))

    @property
    def left_px(self) -> float:
        """The left end in absolute pixels, on a whole one of the device, so that letters stay crisp."""
        left = self.right - self.seconds * (1 + AHEAD_SHARE)
        ratio = self.devicePixelRatioF()
        return math.floor(left * self.scale_px * ratio + 1e-6) / ratio

    def follow(self) -> None:
        """Goes back to the live edge, and stays with it."""
        was, self.following = self.following, True
        self.edge.move()
        self._show(self.live_right, self.seconds)
        self.watch()
        if not was:
            self.following_changed.emit(True)

    def pause(self) -> None:
        """Stays where it is; the talk goes on."""
        was, self.following = self.following, False
        self.watch()
        if was:
            self.following_changed.emit(False)

    def last_seconds(self) -> None:
        """The last half minute, followed."""
        self.seconds = USUAL_SECONDS
        self.follow()

    def zoom(self, factor: float, at_px: float | None = None) -> None:
        """Shows `factor` times as much; what is at pixel `at_px` stays there, while nothing is followed."""
        wide = 1 + AHEAD_SHARE
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, self.seconds * factor))
        right = self.right
        if self.following:
            self.seconds = seconds
            right = self.live_right
        else:
            share = 0.5 if at_px is None else at_px / max(1.0, self.box.width())
            fixed = self.right - self.seconds * wide * (1 - share)
            right = fixed + seconds * wide * (1 - share)
        self._show(right, seconds)

    def scroll(self, seconds: float) -> None:
        """Moves by so many seconds, and follows no more; at the live edge it does again."""
        right = self.right + seconds
        if seconds > 0 and right >= self.live_right:
            self.follow()
            return
        self.pause()
        self._show(right, self.seconds)

    def to_start(self) -> None:
        """To the oldest that is kept."""
        self.pause()
        self._show(self.log.oldest + self.seconds, self.seconds)

    def _show(self, right: float, seconds: float) -> None:
        latest = self.edge.at + seconds * AHEAD_SHARE
        earliest = min(latest, self.log.oldest + seconds)
        self.seconds, self.right = seconds, min(latest, max(earliest, right))
        wide = seconds * (1 + AHEAD_SHARE)
        self.box.setXRange(self.right - wide, self.right, padding=0)
        self._item.update()

    def _dragged(self) -> None:
        """The mouse has moved or stretched the box's range."""
        left, right = self.box.viewRange()[0]
        seconds = (right - left) / (1 + AHEAD_SHARE)
        if abs(seconds - self.seconds) < 1e-6 * self.seconds:
            seconds = self.seconds
        self.pause()
        self._show(right, min(MOST_SECONDS, max(LEAST_SECONDS, seconds)))

    # -- moving

    def showEvent(self, event: QShowEvent) -> None:
        """Moves on, if there is something to follow."""
        super().showEvent(event)
        if self.following and self.running:
            self.advance()
        self.watch()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: nothing moves."""
        super().hideEvent(event)
        self.watch()

    @property
    def reduced_motion(self) -> bool:
        """Whether it moves once a batch of events instead of evenly."""
        return self._reduced_motion

    @reduced_motion.setter
    def reduced_motion(self, reduced: bool) -> None:
        self._reduced_motion = reduced
        self.watch()

    def watch(self) -> None:
        """Moves on, or rests, as is needed now: the window was minimised, say, or is back."""
        seen = self.isVisible() and not self.window().isMinimized()
        needed = seen and self.following and self.running and not self._reduced_motion
        if needed and not self.timer.isActive():
            self.timer.start()
        elif not needed:
            self.timer.stop()

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints, and counts how often."""
        super().paintEvent(event)
        self.painted += 1

    def painter_of_now(self) -> TimelinePainter:
        """What paints at the size, the scale and in the colours of now."""
        height, ratio = self.box.height(), self.devicePixelRatioF()
        shape = (height, ratio, round(self.scale_px, 6), self.log.has_secondary)
        if self._painter is None or self._shape != shape:
            self._shape = shape
            self.letters = Letters(self.font(), height < COMPACT_PX)
            lanes = Lanes.of(height, self.letters, self.log.has_secondary)
            self._painter = TimelinePainter(
                self.log, self.colours, self.letters, lanes, self.scale_px, self.tr("interrupted")
            )
            self.tiles = Tiles(self._painter.paint, height, ratio)
            self._names.show_lanes(lanes, self.letters)
        changed = self.log.take_changed()
        if changed is not None:
            self.tiles.drop_from(changed * self.scale_px - 8)
        return self._painter

    def _dress(self) -> None:
        self.colours = Colours.of(self.palette())
        self._shape = ()
        self.setBackground(self.colours.ground)
        self._names.fit(Letters(self.font(), False), self.words)
        self._names.update()
        self._item.update()

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours and letters."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_item"):
            self._dress()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the seconds, and changes the scale."""
        super().resizeEvent(event)
        if hasattr(self, "_item"):
            self._show(self.right, self.seconds)

    # -- explaining

    def explain(self, point: QPointF) -> str:
        """What is at a point of the box, in words."""
        painter = self.painter_of_now()
        second = (self.left_px + point.x()) / self.scale_px
        if not 0 <= second <= self.log.now + NEAR_PX / self.scale_px:
            return ""
        thing = thing_at(painter, second, point.y())
        return self.words.thing(thing, self.log) if thing is not None else self.words.sound(self.log, second)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Explains what is under the mouse."""
        super().mouseMoveEvent(event)
        self._mouse = event.position()
        self._look_again()

    def leaveEvent(self, event: QEvent) -> None:
        """Explains nothing any more, but what the keyboard has picked."""
        super().leaveEvent(event)
        self._mouse = None
        self._tell(self.words.thing(self.cursor, self.log) if self.cursor is not None else "")

    def viewportEvent(self, event: QEvent) -> bool:
        """Shows the explanation as a tooltip, too."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._words_at(QPointF(event.pos())), self)
            return True
        return super().viewportEvent(event)

    def _words_at(self, position: QPointF) -> str:
        point = self.box.mapFromScene(self.mapToScene(position.toPoint()))
        return self.explain(point) if self.box.rect().contains(point) else ""

    def _look_again(self) -> None:
        if self._mouse is not None:
            self._tell(self._words_at(self._mouse))
        elif self.cursor is not None:
            self._tell(self.words.thing(self.cursor, self.log))

    def _tell(self, words: str) -> None:
        if words != self.readout:
            self.readout = words
            self.setAccessibleDescription(words or self._help)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
            self.told.emit(words)

    # -- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right walk through what happened, with Shift through small things, too."""
        ticks = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        page = self.seconds * 0.9
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                self.walk(event.key() == Qt.Key.Key_Right, ticks)
            case Qt.Key.Key_P:
                self.pause() if self.following else self.follow()
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self.zoom(ZOOM_STEP)
            case Qt.Key.Key_Home:
                self.to_start()
            case Qt.Key.Key_End:
                self.follow()
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                self.scroll(-page if event.key() == Qt.Key.Key_PageUp else page)
            case Qt.Key.Key_Escape if self.cursor is not None:
                self._pick(None)
            case _:
                event.ignore()  # the talk button's keys, and those of the menu
                return
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """No key means anything here when it goes up."""
        event.ignore()

    def walk(self, forward: bool, ticks: bool = False) -> None:
        """Picks what happened next, or before; from nothing, the newest. `ticks`: small things, too."""
        found = step(self.log, self.cursor, forward, ticks)
        if found is not None:
            self._pick(found)

    def _pick(self, thing: Thing | None) -> None:
        self.cursor, self._mouse = thing, None
        self._tell(self.words.thing(thing, self.log) if thing is not None else "")
        if thing is not None:
            left = self.right - self.seconds * (1 + AHEAD_SHARE)
            if not left <= thing.start <= self.right:
                self.pause()
                self._show(thing.start + self.seconds / 2, self.seconds)
        self._item.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Shows that it has the keyboard."""
        super().focusInEvent(event)
        self._item.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Shows that it has it no more."""
        super().focusOutEvent(event)
        self._item.update()

    # -- its picture

    def save(self, path: Path | str) -> None:
        """Writes what is in view as an image: `.svg`, or anything else that Qt can write. Raises OSError."""
        self._item.exporting = True
        self._names.keep(False)
        try:
            save_picture(self, path, self.colours.ground, self.tr("KAME's timeline"))
        finally:
            self._item.exporting = False
            self._names.keep(True)
