"""The plot of the timeline: follows the talk, is dragged and zoomed, explains what is under the mouse, and is saved."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.gui.timeline.descriptions import TimelineWords
from app.gui.timeline.export import save_picture
from app.gui.timeline.find import NEAR_PX, step, thing_at
from app.gui.timeline.picture import Frame, TimelinePicture
from app.gui.timeline.view_range import ViewRange
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Thing

TICK_MS = 16
ZOOM_STEP = 1.5
LEAST_HEIGHT_PX = 80
NOTCH = 120
SCROLL_SHARE = 0.1
"""A notch of the wheel scrolls by this share of the width."""
WHEEL_ZOOM = 1.2
DRAG_ZOOM = 1.02
"""Zoom of each pixel that the right mouse button drags."""


class TimelineView(QWidget):
    """Shows what `log` holds. Call `begin` and `end` around a talk, and `settle` after each batch of events."""

    told = Signal(str)
    """What is under the mouse, or under the keyboard's cursor, in words; empty for nothing."""
    following_changed = Signal(bool)

    def __init__(self, log: TimelineLog, edge: LiveEdge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.log = log
        self.edge = edge
        self.range = ViewRange(log, edge)
        self.words = TimelineWords(self)
        self.picture = TimelinePicture(log, edge, self.words)
        self.running = False
        self.cursor_thing: Thing | None = None
        """What the keyboard has picked."""
        self.painted = 0
        """The number of paint events so far."""
        self.readout = ""
        self._reduced_motion = False
        self._mouse: QPointF | None = None
        self._dragged_from: QPointF | None = None
        self._zoomed_at = 0.0
        self._help = self.tr(
            "Left and Right walk through what happened. P pauses and follows, plus and minus zoom, Home and End go to "
            "the start and to the present moment."
        )
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(self._help)
        self.setMinimumHeight(LEAST_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while the view is visible and follows a talk."""
        self.timer.timeout.connect(self.advance)
        self.picture.restyle(self.palette(), self.font())

    def sizeHint(self) -> QSize:
        return QSize(900, 180)

    # -- the talk

    def begin(self) -> None:
        """Starts with an empty timeline: a new talk runs."""
        self.running, self.cursor_thing = True, None
        self.picture.forget()
        self._tell("")
        self.follow()

    def end(self) -> None:
        """Stops moving: the talk is over, and stays in view."""
        self.running = False
        self.watch()
        self.update()

    def settle(self) -> None:
        """Shows what a batch of events has changed."""
        if not self.isVisible():
            return
        if not self.timer.isActive():
            if self.running:
                self.range.advance()
            self.update()
        self._update_readout()

    def advance(self) -> None:
        """Moves on to the present moment."""
        self.range.advance()
        self.update()

    # -- what is in view

    @property
    def box(self) -> QRectF:
        """The place of the lanes, right of their names."""
        gutter = self.picture.gutter
        return QRectF(gutter, 0, max(1, self.width() - gutter), self.height())

    @property
    def frame(self) -> Frame:
        """What is in view, in pixels. Second 0 is on a whole pixel of the device, so that letters stay crisp."""
        ratio, scale, gutter = self.devicePixelRatioF(), self.box.width() / self.range.whole, self.picture.gutter
        origin = math.ceil((gutter - self.range.left * scale) * ratio - 1e-6) / ratio
        return Frame(QSizeF(self.size()), ratio, scale, gutter - origin)

    def follow(self) -> None:
        """Goes back to the live edge, and stays with it."""
        self._move(self.range.follow)

    def pause(self) -> None:
        """Stays where it is while the talk goes on."""
        self._move(self.range.pause)

    def last_seconds(self) -> None:
        """Follows, with the last half minute in view."""
        self._move(self.range.last_seconds)

    def to_start(self) -> None:
        """Goes to the oldest second that is kept."""
        self._move(self.range.to_start)

    def zoom(self, factor: float, at_px: float | None = None) -> None:
        """Shows `factor` times as many seconds; what is at pixel `at_px` of the box stays there unless it follows."""
        share = 0.5 if at_px is None else at_px / self.box.width()
        self._move(lambda: self.range.zoom(factor, share))

    def scroll_by(self, seconds: float) -> None:
        """Moves by so many seconds and pauses; at the live edge it follows again."""
        self._move(lambda: self.range.scroll(seconds))

    def _move(self, move: Callable[[], None]) -> None:
        following = self.range.following
        move()
        self.watch()
        self.update()
        if self.range.following != following:
            self.following_changed.emit(self.range.following)

    # -- moving

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.range.following and self.running:
            self.advance()
        self.watch()

    def hideEvent(self, event: QHideEvent) -> None:
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
        """Starts or stops the timer as needed, for example when the window was minimised."""
        seen = self.isVisible() and not self.window().isMinimized()
        needed = seen and self.range.following and self.running and not self._reduced_motion
        if needed and not self.timer.isActive():
            self.timer.start()
        elif not needed:
            self.timer.stop()

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.picture.paint(painter, self.frame, self.cursor_thing)
        if self.hasFocus():
            self.picture.paint_focus(painter, self.frame)
        painter.end()
        self.painted += 1

    def save(self, path: Path | str) -> None:
        """Writes what is in view as an image: `.svg`, or another format that Qt can write. Raises OSError."""
        title = self.tr("KAME's timeline")
        save_picture(
            path, self.size(), self.logicalDpiX(), title, lambda p: self.picture.paint(p, self.frame, exporting=True)
        )

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.picture.restyle(self.palette(), self.font())
            self.update()

    # -- explaining

    def explain(self, point: QPointF) -> str:
        """What is at a point of the widget, in words."""
        if not self.box.contains(point):
            return ""
        frame = self.frame
        second = (frame.left + point.x() - self.picture.gutter) / frame.scale
        if not 0 <= second <= self.log.now + NEAR_PX / frame.scale:
            return ""
        thing = thing_at(self.picture.painter(frame), second, point.y())
        return self.words.thing(thing, self.log) if thing is not None else self.words.sound(self.log, second)

    def _update_readout(self) -> None:
        if self._mouse is not None:
            self._tell(self.explain(self._mouse))
        elif self.cursor_thing is not None:
            self._tell(self.words.thing(self.cursor_thing, self.log))

    def _tell(self, words: str) -> None:
        if words != self.readout:
            self.readout = words
            self.setAccessibleDescription(words or self._help)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
            self.told.emit(words)

    def event(self, event: QEvent) -> bool:
        """Shows the explanation as a tooltip, too."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.explain(QPointF(event.pos())), self)
            return True
        return super().event(event)

    # -- the mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Starts to drag: the left and the middle button move, the right one zooms."""
        self._dragged_from, self._zoomed_at = event.position(), event.position().x() - self.picture.gutter

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drags, or explains what is under the mouse."""
        position = event.position()
        if self._dragged_from is not None and event.buttons() != Qt.MouseButton.NoButton:
            across = position.x() - self._dragged_from.x()
            self._dragged_from = position
            if across and event.buttons() & Qt.MouseButton.RightButton:
                self.pause()
                self.zoom(DRAG_ZOOM**-across, self._zoomed_at)
            elif across:
                self._move(lambda: self._drag(across))
        self._mouse = position
        self._update_readout()

    def _drag(self, across: float) -> None:
        self.range.pause()
        self.range.show(self.range.right - across / self.frame.scale, self.range.seconds)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged_from = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls; with Ctrl, zooms around the mouse."""
        notches = (event.angleDelta().y() or event.angleDelta().x()) / NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(WHEEL_ZOOM**-notches, event.position().x() - self.picture.gutter)
        else:
            self.scroll_by(-notches * self.range.seconds * SCROLL_SHARE)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Explains only what the keyboard has picked."""
        super().leaveEvent(event)
        self._mouse = None
        if self.cursor_thing is None:
            self._tell("")
        self._update_readout()

    # -- the keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right walk through what happened, with Shift through small things, too."""
        small = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        page = self.range.seconds * 0.9
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                found = step(self.log, self.cursor_thing, event.key() == Qt.Key.Key_Right, small)
                if found is not None:
                    self._pick(found)
            case Qt.Key.Key_P:
                self.pause() if self.range.following else self.follow()
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self.zoom(ZOOM_STEP)
            case Qt.Key.Key_Home:
                self.to_start()
            case Qt.Key.Key_End:
                self.follow()
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                self.scroll_by(-page if event.key() == Qt.Key.Key_PageUp else page)
            case Qt.Key.Key_Escape if self.cursor_thing is not None:
                self._pick(None)
            case _:
                event.ignore()  # the talk button's keys, and those of the menu
                return
        event.accept()

    def _pick(self, thing: Thing | None) -> None:
        self.cursor_thing, self._mouse = thing, None
        self._tell(self.words.thing(thing, self.log) if thing is not None else "")
        if thing is not None:
            self._move(lambda: self.range.reveal(thing.start))
        self.update()
