"""How the live edge moves between events, and which seconds are in view."""

from __future__ import annotations

import numpy as np
import pytest

from app.conversation import events as e
from app.gui.inspector.activity import Activity
from app.gui.inspector.view_range import AHEAD_SHARE, LAG_SECONDS, MOST_SECONDS, USUAL_SECONDS, LiveEdge, ViewRange
from app.research.window import ManualClock


def test_the_edge_moves_evenly_between_late_batches_and_never_back() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    seen, at, known = [], 0.0, 0
    while at < 20.0:
        at += 1 / 60
        clock.now = 1000.0 + at
        # A frame each 80 ms, known up to 33 ms later; nothing at all from second 8 to 9, and then all of it.
        while (known + 1) * 0.08 + (known * 7 % 33) / 1000 <= at and not 8 < at < 9:
            known += 1
            edge.update(known * 0.08)
        edge.move()
        seen.append(edge.at)
    steps = np.diff(seen)
    assert np.all(steps >= 0)
    settled = np.array(seen[120:])
    lag = (np.arange(121, 121 + len(settled))) / 60 - settled
    assert lag.max() <= 0.15 and lag.min() >= LAG_SECONDS - 0.01
    assert steps[120:].max() < 2.0 / 60 and steps[120:].min() > 0.5 / 60


def test_the_edge_waits_for_a_session_that_falls_behind_and_jumps_after_one_far_ahead() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    seen = []
    for tick in range(1800):
        clock.now = tick / 60
        late = 0.6 if tick > 300 else 0.0  # the microphone was away for so long, and continues where it was
        if tick % 5 == 0:
            edge.update(tick / 60 - late)
        edge.move()
        seen.append(edge.at)
    assert np.all(np.diff(seen) >= 0)
    assert seen[-1] == pytest.approx(1799 / 60 - 0.6 - LAG_SECONDS, abs=0.06)
    edge.update(clock.now + 60)
    edge.move()
    assert edge.at == pytest.approx(clock.now + 60 - LAG_SECONDS, abs=0.01)


def test_before_the_first_frame_time_stands_still() -> None:
    clock = ManualClock()
    edge = LiveEdge(clock)
    edge.update(0.0)
    clock.now = 5.0
    edge.move()
    assert edge.at == 0.0


@pytest.fixture
def view() -> ViewRange:
    """A view that follows a session of a hundred seconds."""
    clock, activity = ManualClock(), Activity()
    edge = LiveEdge(clock)
    clock.now = 100.0
    activity.apply(e.LevelMeasured(100.0, -30, -30))
    edge.update(100.0)
    view = ViewRange(activity, edge)
    view.advance()
    return view


def test_it_follows_with_room_ahead_of_the_live_edge(view: ViewRange) -> None:
    now = 100.0 - LAG_SECONDS
    assert (view.following, view.seconds) == (True, USUAL_SECONDS)
    assert view.right == pytest.approx(now + AHEAD_SHARE * USUAL_SECONDS) and view.right == view.live_right
    view.zoom(0.5)
    assert view.following and view.right == pytest.approx(now + AHEAD_SHARE * USUAL_SECONDS / 2)
    view.follow(USUAL_SECONDS)
    assert view.seconds == USUAL_SECONDS


def test_while_paused_zooming_keeps_what_is_under_the_mouse(view: ViewRange) -> None:
    view.pause()
    view.scroll(-30.0)
    second = view.left + 0.25 * view.whole
    view.zoom(0.5, 0.25)
    assert view.left + 0.25 * view.whole == pytest.approx(second)
    right = view.right
    view.advance()
    assert view.right == right and not view.following
    view.zoom(1e9)
    assert view.seconds == MOST_SECONDS


def test_scrolling_pauses_and_follows_again_at_the_live_edge(view: ViewRange) -> None:
    right = view.right
    view.scroll(-10.0)
    assert not view.following and view.right == pytest.approx(right - 10.0)
    view.scroll(5.0)
    assert not view.following
    view.scroll(60.0)
    assert view.following and view.right == pytest.approx(right)


def test_it_stays_within_what_is_kept_and_reveals_what_is_elsewhere(view: ViewRange) -> None:
    view.reveal(90.0)
    assert view.following, "it is in view"
    view.reveal(20.0)
    assert not view.following and view.left < 20.0 < view.right
    view.scroll(-1e9)
    assert view.right == pytest.approx(view.seconds)
    view.follow()
    view.to_start()
    assert not view.following and view.right == pytest.approx(view.seconds)
