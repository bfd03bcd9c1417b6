"""Where the live edge of the timeline is between two events: it moves evenly, and never back.

Knows nothing of Qt; its clock is any steady one, in seconds.
"""

from __future__ import annotations

from collections.abc import Callable

from app.gui.widgets.session_time import SessionTime

LAG_SECONDS = 0.085
"""The edge stays so far behind the newest that can be known: a frame, so that what it reaches is there by then."""
JUMP_SECONDS = 1.5
"""What lies farther ahead is jumped to; anything nearer is caught up with in the blink of an eye."""
CATCH_UP = 4.0
"""Of what it is behind or ahead, the edge makes good this share in a second."""
SLOWEST, FASTEST = 0.15, 4.0


class LiveEdge:
    """Moves evenly, and never back. `hear` each event's time, then ask for `move` once a picture; `begin` for a new
    talk.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.time = SessionTime(clock)
        self.begin()

    def begin(self) -> None:
        """Time is at 0 again."""
        self.at = 0.0
        """The edge, in seconds of the session."""
        self._moved_at: float | None = None
        self.time.begin()

    def hear(self, at: float) -> None:
        """An event of session time `at` has just come."""
        self.time.hear(at)

    def move(self) -> float:
        """Moves on to now, and returns where that is."""
        known = self.time.now
        if known is None:
            return self.at
        now = self.time.clock()
        target = max(0.0, known - LAG_SECONDS)
        since = 0.0 if self._moved_at is None else max(0.0, now - self._moved_at)
        behind = target - self.at - since
        if self._moved_at is None or behind > JUMP_SECONDS:
            self.at = max(self.at, target)
        else:
            pace = min(FASTEST, max(SLOWEST, 1.0 + CATCH_UP * behind))
            # After a long silence of the caller the pace of now must not carry it beyond the target.
            step = since * pace
            self.at = max(self.at, min(self.at + step, target)) if pace > 1.0 else self.at + min(step, since)
        self._moved_at = now
        return self.at
