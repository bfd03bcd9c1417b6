"""Estimates the session's time between two of its events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

REMEMBERED_SECONDS = 6.0
"""Older delays are forgotten: a sound card's clock drifts, and a session may pause."""


class SessionTime:
    """Takes each event's time with `update`, and estimates `now`. `clock`: any steady one, in seconds.

    Events may come late, in batches, and never early, so the least recent delay gives the best estimate.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._offsets: deque[tuple[float, float]] = deque()
        """The time of each delay, and the session's start by the clock that follows from it; the least is first."""

    def begin(self) -> None:
        """Starts another session."""
        self._offsets.clear()

    def update(self, at: float) -> None:
        """Takes the session time of an event that has just come."""
        if at <= 0:
            return  # before the first frame the session's time stands still
        now = self.clock()
        start = now - at
        while self._offsets and self._offsets[-1][1] >= start:
            self._offsets.pop()
        self._offsets.append((now, start))
        while len(self._offsets) > 1 and now - self._offsets[0][0] > REMEMBERED_SECONDS:
            self._offsets.popleft()

    @property
    def now(self) -> float | None:
        """The session's time in seconds, or None before its first frame."""
        return self.clock() - self._offsets[0][1] if self._offsets else None
