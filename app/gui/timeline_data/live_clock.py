"""Moves the live edge of the timeline evenly between two events, and never back."""

from __future__ import annotations

from collections.abc import Callable

from app.gui.widgets.formats import SessionTime

LAG_SECONDS = 0.085
"""The edge stays one frame behind the session, so that everything up to it is already known."""
JUMP_SECONDS = 1.5
"""The edge jumps to what is farther ahead, and catches up with what is nearer."""
CATCH_UP = 4.0
"""The edge makes up this share of its distance in a second."""
SLOWEST, FASTEST = 0.15, 4.0


class LiveEdge:
    """Takes each event's time with `update`, and is moved once a picture with `move`. `clock`: any steady one, in
    seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.time = SessionTime(clock)
        self.begin()

    def begin(self) -> None:
        """Restarts at 0: a new conversation starts."""
        self.at = 0.0
        """The edge, in seconds of the session."""
        self._moved_at: float | None = None
        self.time.begin()

    def update(self, at: float) -> None:
        """Takes the session time of an event that has just come."""
        self.time.update(at)

    def move(self) -> float:
        """Moves the edge to now, and returns it."""
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
            # After a long time without a call the pace must not carry it beyond the target.
            step = since * pace
            self.at = max(self.at, min(self.at + step, target)) if pace > 1.0 else self.at + min(step, since)
        self._moved_at = now
        return self.at
