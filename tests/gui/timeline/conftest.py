"""A timeline pane that is shown, empty or with a conversation in it."""

from __future__ import annotations

import pytest

from app.gui.timeline.pane import TimelinePane
from app.research.window.window import ManualClock
from tests.gui.pictures.timeline import talk
from tests.gui.timeline.helpers import SIZE, Shown, say


@pytest.fixture
def empty(qtbot) -> Shown:
    """A shown pane in which a conversation has just begun; its own timer ticks, but its clock stands still."""
    clock = ManualClock()
    pane = TimelinePane(clock=clock)
    qtbot.addWidget(pane)
    pane.resize(*SIZE)
    view = pane.view
    pane.show()
    pane.begin()
    return pane, view, clock


@pytest.fixture
def full(empty: Shown) -> Shown:
    """With the demo's talk of 28 seconds in it."""
    say(empty, *talk())
    return empty
