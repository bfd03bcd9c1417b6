"""What the tests of the timeline pane share: events on time, and places on the plot."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.timeline.pane import TimelinePane
from app.gui.timeline.view import TimelineView
from app.research.window.window import ManualClock

SIZE = (1200, 220)
Shown = tuple[TimelinePane, TimelineView, ManualClock]


def say(shown: Shown, *events: e.Event) -> None:
    """Events as they come in a conversation, each on time; then a picture."""
    pane, view, clock = shown
    for event in events:
        clock.now = max(clock.now, event.at)
        pane.apply(event)
    pane.settle()
    clock.now += 0.02
    view.advance()
    view.repaint()


def spot(view: TimelineView, second: float, y: float) -> QPoint:
    """Where a second is on the screen, at a height of the box."""
    return QPointF(view.box.left() + second * view.frame.scale - view.frame.left, y).toPoint()


def lane(view: TimelineView, name: str) -> float:
    return view.picture.painter(view.frame).canvas.lanes.strips[name].middle


def hover(view: TimelineView, second: float, y: float) -> str:
    QTest.mouseMove(view, spot(view, second, y))
    return view.readout


def colours(view: TimelineView) -> set[str]:
    image = view.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 2)}
