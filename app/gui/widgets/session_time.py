"""What time it is in a session between two of its events. Its clock is any steady one, in seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

REMEMBERED_SECONDS = 6.0
"""Delays older than this count no more: a sound card's clock drifts, and a session may pause."""


class SessionTime:
    """`hear` each event's time, then ask for `now`; `begin` for a new talk.

    Events come late at times, in batches, and never early: the least delay of late says how far the session is now.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._offsets: deque[tuple[float, float]] = deque()
        """When each delay was seen, and the session's start by the clock as it would follow; the least is first."""

    def begin(self) -> None:
        """Another session's time begins."""
        self._offsets.clear()

    def hear(self, at: float) -> None:
        """An event of session time `at` has just come."""
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
        """Seconds of the session, as far as it can be known; None before its first frame."""
        return self.clock() - self._offsets[0][1] if self._offsets else None
