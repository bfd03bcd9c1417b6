"""The timeline plot, which follows the conversation, scrolls and zooms, and describes the item under the pointer.

The lanes are rendered to a pixmap when the events, size or scale change, about once per audio frame. In between, the
pixmap is only shifted, which keeps scrolling smooth and cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QHideEvent,
    QImageWriter,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.conversation.frame import FRAME_SECONDS
from app.gui.design.look import Dressed
from app.gui.design.plain import set_tip
from app.gui.inspector.activity import Activity
from app.gui.inspector.layout import COMPACT_PX, Colours, Lanes, Layout, Letters
from app.gui.inspector.painter import NEAR_PX, Hit, TimelinePainter
from app.gui.inspector.things import Thing
from app.gui.inspector.timeline_words import TimelineWords
from app.gui.inspector.view_range import LiveEdge, ViewRange

TICK_MS = 16
LEAST_HEIGHT_PX = 80
MARGIN_PX = 6.0
SPARE_PX = 96
"""Extra width of the pixmap, so that it can be shifted until it is rendered again."""
ZOOM_STEP = 1.5
NOTCH = 120
SCROLL_SHARE = 0.1
"""Fraction of the visible time span scrolled per mouse wheel notch."""
WHEEL_ZOOM = 1.2
FINER = 2
"""Scale factor of saved images relative to the widget."""


class TimelineView(Dressed, QWidget):
    """The timeline plot of `activity`.

    Call `begin` and `end` around each session, and `settle` after each batch of events. The user scrolls by dragging or
    with the mouse wheel, zooms with Ctrl and the wheel, and steps through the items with the keyboard.
    """

    dressed_by = (QEvent.Type.PaletteChange, QEvent.Type.FontChange)

    told = Signal(str)
    """Emits a description of the item under the pointer or selected with the keyboard; empty if there is none."""
    following_changed = Signal(bool)

    def __init__(self, activity: Activity, edge: LiveEdge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.activity = activity
        self.edge = edge
        self.range = ViewRange(activity, edge)
        self.words = TimelineWords(self)
        self.running = False
        self.cursor_thing: Thing | None = None
        """The item selected with the keyboard."""
        self.readout = ""
        self.hits: list[Hit] = []
        """Hit areas of the items in the pixmap, in pixels from second 0."""
        self._picture = QPixmap()
        self._picture_left = 0.0
        self._picture_of: tuple[object, ...] = ()
        self._export = False
        self.reduced_motion = False
        """Whether to scroll once per batch of events instead of continuously."""
        self._mouse: QPointF | None = None
        self._dragged_from: QPointF | None = None
        self._help = self.tr(
            "Left and Right step through what happened. P pauses and follows, plus and minus zoom, Home and End go to "
            "the start and to now."
        )
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(self._help)
        self.setMouseTracking(True)
        self.setMinimumHeight(LEAST_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while the view is visible and follows a running session."""
        self.timer.timeout.connect(self.advance)
        self._dress()

    # -- the session

    def begin(self) -> None:
        """Starts a new session with an empty timeline."""
        self.edge.begin()
        self.running, self.cursor_thing = True, None
        self.follow()
        self._tell("")

    def end(self) -> None:
        """Ends the session. The view stops scrolling, but still shows the session."""
        self.running = False
        self.watch()
        self.update()

    def settle(self) -> None:
        """Updates the view after a batch of events."""
        self.watch()
        if self.isVisible():
            if not self.timer.isActive():
                if self.running:
                    self.range.advance()
                self.update()
            self._update_readout()

    def advance(self) -> None:
        """Scrolls to the current time."""
        self.range.advance()
        self.update()

    # -- the visible range

    @property
    def box(self) -> QRectF:
        """The plot area, to the right of the lane names."""
        return QRectF(self.gutter, 0, max(1, self.width() - self.gutter), self.height())

    @property
    def scale(self) -> float:
        """Pixels per second."""
        return self.box.width() / self.range.whole

    @property
    def left(self) -> float:
        """The left edge of the lanes, in pixels from second 0.

        Chosen so that second 0 falls on a device pixel, which keeps text crisp.
        """
        origin = (self.gutter - self.range.left * self.scale) * self._ratio
        return self.gutter - math.ceil(origin - 1e-6) / self._ratio

    @property
    def _ratio(self) -> float:
        """Device pixels per logical pixel."""
        return FINER if self._export else self.devicePixelRatioF()

    @property
    def look(self) -> Layout:
        """The layout for the current size."""
        letters = self._small_letters if self.height() < COMPACT_PX else self._letters
        lanes = Lanes(self.height(), letters, self.activity.has_secondary)
        return Layout(self.colours, letters, lanes, self.scale, self._ratio, self.words.interrupted())

    def follow(self, seconds: float | None = None) -> None:
        """Jumps to the live edge and follows it. `seconds`: the new visible duration; None leaves it unchanged."""
        self._move(lambda: self.range.follow(seconds))

    def pause(self) -> None:
        """Stops following the conversation."""
        self._move(self.range.pause)

    def zoom(self, factor: float, at_px: float | None = None) -> None:
        """Multiplies the visible duration by `factor`.

        While paused, the time at `at_px` pixels from the left of the box stays in place.
        """
        share = 0.5 if at_px is None else at_px / self.box.width()
        self._move(lambda: self.range.zoom(factor, share))

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

    def watch(self) -> None:
        """Starts or stops the timer as needed, for example when the window is minimised."""
        seen = self.isVisible() and not self.window().isMinimized()
        needed = seen and self.range.following and self.running and not self.reduced_motion
        if needed and not self.timer.isActive():
            self.timer.start()
        elif not needed:
            self.timer.stop()

    # -- painting

    def _dress(self) -> None:
        self.colours = Colours(self.palette())
        self._letters, self._small_letters = Letters(self.font(), False), Letters(self.font(), True)
        self._names = self.words.lanes()
        self.gutter = math.ceil(max(map(self._letters.width, self._names.values())) + 2 * MARGIN_PX)
        """Width of the column of lane names."""
        self._picture_of = ()

    def paintEvent(self, event: QPaintEvent) -> None:
        # Events within an audio frame are painted when the frame ends, along with its levels.
        shown = int(self.activity.now / FRAME_SECONDS) if self.running else self.activity.changes
        picture_of = (self.running, shown, self.scale, self.height(), self._ratio)
        right = self._picture_left + self._picture.deviceIndependentSize().width()
        if picture_of != self._picture_of or not self._picture_left <= self.left <= right - self.box.width():
            self._picture_of = picture_of
            self._paint_lanes()
        look = self.look
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.colours.ground)
            self._paint_names(painter, look)
            painter.setClipRect(self.box)
            painter.translate(self.gutter - self.left, 0)
            painter.drawPixmap(QPointF(self._picture_left, 0), self._picture)
            if self.edge.at > 0:
                painter.fillRect(QRectF(math.floor(self.edge.at * self.scale), 0, 2, self.height()), self.colours.now)
            if self.cursor_thing is not None:
                start, end = self.cursor_thing.start, self.cursor_thing.end
                shade, tall = self.colours.now.toRgb(), look.lanes.axis.top
                shade.setAlphaF(0.18)
                wide = max(2.0, ((self.activity.now if end is None else end) - start) * self.scale)
                painter.fillRect(QRectF(start * self.scale, 0, wide, tall), shade)
                painter.fillRect(QRectF(start * self.scale - 1, 0, 2, tall), self.colours.text)
            painter.resetTransform()
            if self.hasFocus():
                painter.setPen(QPen(self.colours.now, 2))
                painter.drawRect(self.box.adjusted(1, 1, -1, -1))

    def _paint_lanes(self) -> None:
        """Renders the lanes to the pixmap, starting at the view's left edge."""
        self._picture_left, wide = self.left, self.box.width() + SPARE_PX
        self._picture = QPixmap(math.ceil(wide * self._ratio), math.ceil(self.height() * self._ratio))
        self._picture.setDevicePixelRatio(self._ratio)
        with QPainter(self._picture) as painter:
            painter.translate(-self.left, 0)
            lanes = TimelinePainter(painter, self.activity, self.look, self.left, self.left + wide)
            lanes.paint()
        self.hits = lanes.hits

    def _paint_names(self, painter: QPainter, look: Layout) -> None:
        colours, letters, lanes = self.colours, look.letters, look.lanes
        special = {"you": colours.user, "words": colours.user, "kame": colours.assistant}
        painter.setFont(letters.font)
        above = -math.inf  # baseline of the previous name
        for lane, strip in lanes.strips.items():
            middle = strip.middle if lane != "kame" else (strip.top + lanes.said.bottom) / 2
            y = max(letters.ascent, middle + (letters.ascent - letters.descent) / 2)
            if y - above >= letters.ascent:  # skip names that don't fit when the pane is short
                painter.setPen(special.get(lane, colours.dim))
                painter.drawText(QPointF(MARGIN_PX, y), self._names[lane])
                above = y
        painter.fillRect(QRectF(self.gutter - 1, 0, 1, self.height()), colours.line)

    def save(self, path: Path | str) -> None:
        """Saves the view as an image in the format implied by the file extension. Raises OSError on failure."""
        image = QPixmap(self.size() * FINER)
        image.setDevicePixelRatio(FINER)
        self._export = True
        self.render(image)
        self._export = False
        writer = QImageWriter(str(path))
        if not writer.write(image.toImage()):
            raise OSError(writer.errorString())

    # -- descriptions

    def explain(self, point: QPointF) -> str:
        """Returns a description of the item at a point of the widget, or of the audio levels if there is no item.

        Returns an empty string outside the timeline.
        """
        x, y = point.x() - self.gutter + self.left, point.y()
        if not self.box.contains(point) or not 0 <= x <= self.activity.now * self.scale + NEAR_PX:
            return ""
        found = [hit for hit in self.hits if hit.left <= x < hit.right and hit.top <= y < hit.bottom]
        if not found:
            return self.words.sound(self.activity, x / self.scale)
        nearest = min(found, key=lambda hit: (hit.right - hit.left, abs(hit.left + hit.right - 2 * x)))
        return self.words.thing(nearest.thing, self.activity)

    def _update_readout(self) -> None:
        if self._mouse is not None:
            self._tell(self.explain(self._mouse))
        elif self.cursor_thing is not None:
            self._tell(self.words.thing(self.cursor_thing, self.activity))

    def _tell(self, words: str) -> None:
        if words != self.readout:
            self.readout = words
            set_tip(self, words)
            self.setAccessibleDescription(words or self._help)
            self.told.emit(words)

    # -- mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._dragged_from = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrolls while dragging, and describes the item under the pointer."""
        position = event.position()
        if self._dragged_from is not None and event.buttons() != Qt.MouseButton.NoButton:
            across = position.x() - self._dragged_from.x()
            self._dragged_from = position
            if across:
                self.pause()
                self._move(lambda: self.range.show(self.range.right - across / self.scale, self.range.seconds))
        self._mouse = position
        self._update_readout()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged_from = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls, or zooms around the pointer if Ctrl is held."""
        notches = (event.angleDelta().y() or event.angleDelta().x()) / NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(WHEEL_ZOOM**-notches, event.position().x() - self.gutter)
        else:
            self._move(lambda: self.range.scroll(-notches * self.range.seconds * SCROLL_SHARE))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Reverts to describing the item selected with the keyboard."""
        super().leaveEvent(event)
        self._mouse = None
        self._tell("" if self.cursor_thing is None else self.words.thing(self.cursor_thing, self.activity))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles stepping through items (Left, Right; Shift includes small ones), pausing, scrolling and zooming."""
        keys, page = Qt.Key, self.range.seconds * 0.9
        small = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        acts: dict[int, Callable[[], None]] = {
            keys.Key_Left: lambda: self._step(forward=False, small=small),
            keys.Key_Right: lambda: self._step(forward=True, small=small),
            keys.Key_P: lambda: self.pause() if self.range.following else self.follow(),
            keys.Key_Plus: lambda: self.zoom(1 / ZOOM_STEP),
            keys.Key_Equal: lambda: self.zoom(1 / ZOOM_STEP),
            keys.Key_Minus: lambda: self.zoom(ZOOM_STEP),
            keys.Key_Home: lambda: self._move(self.range.to_start),
            keys.Key_End: self.follow,
            keys.Key_PageUp: lambda: self._move(lambda: self.range.scroll(-page)),
            keys.Key_PageDown: lambda: self._move(lambda: self.range.scroll(page)),
        }
        if self.cursor_thing is not None:
            acts[keys.Key_Escape] = lambda: self._pick(None)
        if event.key() in acts:
            acts[event.key()]()
        event.setAccepted(event.key() in acts)  # other keys go to the talk button and the menu

    def _step(self, *, forward: bool, small: bool) -> None:
        found = self.activity.step(self.cursor_thing, forward=forward, small=small)
        if found is not None:
            self._pick(found)

    def _pick(self, thing: Thing | None) -> None:
        self.cursor_thing, self._mouse = thing, None
        self._tell(self.words.thing(thing, self.activity) if thing is not None else "")
        if thing is not None:
            self._move(lambda: self.range.reveal(thing.start))
        self.update()
