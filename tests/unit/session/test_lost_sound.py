"""Sound that a device has lost without a word is noticed by how late all later frames come."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.conversation.frame import FRAME_SECONDS
from app.session.clock import SLEPT_SECONDS, SessionClock
from app.session.frame_thread import LostSound


def told(lag: Callable[[int], float], frames: int = 400, backlog: Callable[[int], int] = lambda number: 0) -> list[int]:
    """What is said to be missing, where the frame `number` comes `lag(number)` seconds late; nothing left out."""
    lost, index, said = LostSound(), 0, []
    for number in range(frames):
        now = 100.0 + number * FRAME_SECONDS + lag(number)
        missing = lost.missing(now, index, backlog(number))
        index += 1 + missing
        if missing:
            said.append(missing)
    return said


def after(number: int, seconds: float) -> Callable[[int], float]:
    return lambda at: seconds if at >= number else 0.0


def test_what_was_lost_is_told_once() -> None:
    assert told(after(100, 1.03)) == [12]
    assert told(lambda number: after(100, 0.5)(number) + after(200, 0.25)(number)) == [6, 3]


@pytest.mark.parametrize(
    "lag",
    [
        lambda number: 0.0,
        lambda number: 0.02 * (number % 3),
        after(100, 0.079),
        lambda number: 0.9 if number % 10 == 0 else 0.0,
        lambda number: max(0.0, 0.9 - 0.08 * (number - 100)) if number >= 100 else 0.0,
        lambda number: number * FRAME_SECONDS * 0.0005,
        after(0, 5.0),
    ],
    ids=["even", "uneven", "less than a frame", "held up", "catches up", "another clock", "late from the first"],
)
def test_what_is_only_late_is_not(lag: Callable[[int], float]) -> None:
    assert told(lag) == []


def test_what_comes_late_after_a_long_pause_of_all_frames_is_not_lost() -> None:
    """A process that was held for seconds reads on faster than real time, without a backlog that it could see."""
    held = 5.0
    assert told(lambda number: max(0.0, held - 0.04 * (number - 100)) if number >= 100 else 0.0, 900) == []


def test_frames_that_waited_here_tell_nothing_of_the_device() -> None:
    assert told(after(100, 1.03), frames=150, backlog=lambda number: int(number >= 100)) == []


def test_a_computer_that_slept_has_lost_nothing() -> None:
    assert told(after(100, SLEPT_SECONDS + 3600.0)) == []


@pytest.mark.parametrize(("slept", "then"), [(3600.0, 0.16), (1.0, 1.16)])
def test_the_sessions_time_does_not_pass_while_the_computer_sleeps(slept: float, then: float) -> None:
    now = [50.0]
    clock = SessionClock(lambda: now[0])
    clock.frame_ended(0)
    now[0] += FRAME_SECONDS + slept
    clock.frame_ended(1)
    assert clock() == pytest.approx(then)
