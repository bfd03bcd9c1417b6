"""The plot of the timeline with its mouse and keyboard, and the explanation of what is under either."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import show_tip
from app.gui.timeline.find import NEAR_PX, step, thing_at
from app.gui.timeline.plot import TimelinePlot
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Thing

ZOOM_STEP = 1.5
NOTCH = 120
SCROLL_SHARE = 0.1
"""A notch of the wheel scrolls by this share of the width."""
WHEEL_ZOOM = 1.2
DRAG_ZOOM = 1.02
"""Zoom of each pixel that the right mouse button drags."""


class TimelineView(TimelinePlot):
    """The left mouse button and the wheel move, the right button and Ctrl with the wheel zoom; the keys do both, and
    walk through what happened.
    """

    told = Signal(str)
    """What is under the mouse, or under the keyboard's cursor, in words; empty for nothing."""

    def __init__(self, log: TimelineLog, edge: LiveEdge, parent: QWidget | None = None) -> None:
        super().__init__(log, edge, parent)
        self.readout = ""
        self._mouse: QPointF | None = None
        self._dragged_from: QPointF | None = None
        self._zoomed_at = 0.0
        self._help = self.tr(
            "Left and Right walk through what happened. P pauses and follows, plus and minus zoom, Home and End go to "
            "the start and to the present moment."
        )
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(self._help)
        self.setMouseTracking(True)

    def begin(self) -> None:
        """Starts with an empty timeline: a new conversation runs."""
        super().begin()
        self._tell("")

    def settle(self) -> None:
        """Shows what a batch of events has changed."""
        super().settle()
        if self.isVisible():
            self._update_readout()

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
            show_tip(event.globalPos(), self.explain(QPointF(event.pos())), self)
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
