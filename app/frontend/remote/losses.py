"""Decides after each lost connection to a voice server when to connect again, and when to give up."""

from __future__ import annotations

PAUSES = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Seconds before each attempt to connect again; the last one repeats."""
STEADY_SECONDS = 5.0
"""A connection that has been ready for so long has come back; one that is lost earlier counts as one more failure."""
MOST_UNSTEADY = 5
"""Connections in a row that are lost earlier, after which no further one is tried."""


class Losses:
    """`seconds`: how long to try, from the moment when a connection that had come back was lost."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        """Seconds that are left for trying."""
        self._seconds = seconds
        self._lost_at: float | None = None
        self._attempts = self._unsteady = 0

    def lost(self, now: float, ready_at: float | None) -> float | None:
        """Takes the end of a connection, or of an attempt, at `now`; returns the pause before the next one.

        `ready_at`: since when the connection was ready, None if it never was. Returns None where it is to be given up.
        """
        if self._lost_at is None or (ready_at is not None and now - ready_at >= STEADY_SECONDS):
            self._lost_at, self._attempts, self._unsteady = now, 0, 0
        elif ready_at is not None:
            self._unsteady += 1
        self.left = self._seconds - (now - self._lost_at)
        if self.left <= 0 or self._unsteady >= MOST_UNSTEADY:
            return None
        pause = PAUSES[min(self._attempts, len(PAUSES) - 1)]
        self._attempts += 1
        return pause
