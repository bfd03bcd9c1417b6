"""Tells the user when frames are dropped again and again because the machine is too slow."""

from __future__ import annotations

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS

WINDOW_SECONDS = 10.0
DROPPED_SECONDS = 1.0
"""The user is told when this much sound was dropped within the window."""
REPEAT_SECONDS = 60.0


class Overload:
    """Counts dropped frames over a sliding window."""

    def __init__(self) -> None:
        self._drops: list[tuple[float, int]] = []
        self._told_at = float("-inf")

    def dropped(self, at: float, frames: int) -> e.Failure | None:
        """Count dropped frames; return what the user should be told, at most once a minute."""
        self._drops = [(then, n) for then, n in self._drops if at - then <= WINDOW_SECONDS] + [(at, frames)]
        lost = sum(n for _, n in self._drops) * FRAME_SECONDS
        if lost < DROPPED_SECONDS or at - self._told_at < REPEAT_SECONDS:
            return None
        self._told_at = at
        return e.Failure(
            at,
            "frontend",
            f"This machine can't keep up: {lost:.1f} s of your voice were skipped in the last {WINDOW_SECONDS:.0f} s. "
            "Close other programs, or choose a smaller precision, a shorter context or the built-in voice in the "
            "settings.",
        )
