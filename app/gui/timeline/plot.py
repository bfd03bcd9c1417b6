"""The plot of the timeline without its mouse and keyboard: follows the conversation, is moved and zoomed, and is
saved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.timeline.export import save_picture
from app.gui.timeline.view_range import ViewRange
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Thing
from app.gui.timeline_drawing.descriptions import TimelineWords
from app.gui.timeline_drawing.picture import Frame, TimelinePicture

TICK_MS = 16
LEAST_HEIGHT_PX = 80


class TimelinePlot(QWidget):
    """Shows what `log` holds. Call `begin` and `end` around a conversation, and `settle` after each batch of events."""

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
        self._reduced_motion = False
        self.setMinimumHeight(LEAST_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while the view is visible and follows a conversation."""
        self.timer.timeout.connect(self.advance)
        self.picture.restyle(self.palette(), self.font())

    def sizeHint(self) -> QSize:
        return QSize(900, 180)

    # -- the conversation

    def begin(self) -> None:
        """Starts with an empty timeline: a new conversation runs."""
        self.running, self.cursor_thing = True, None
        self.picture.forget()
        self.follow()

    def end(self) -> None:
        """Stops moving: the conversation is over, and stays in view."""
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
        """Stays where it is while the conversation goes on."""
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
        title = self.words.title()
        save_picture(
            path, self.size(), self.logicalDpiX(), title, lambda p: self.picture.paint(p, self.frame, exporting=True)
        )

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.picture.restyle(self.palette(), self.font())
            self.update()
