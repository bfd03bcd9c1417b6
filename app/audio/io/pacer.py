"""Lets frames pass at the pace of sound, though they may come in bursts."""

from __future__ import annotations

from app.conversation.frame import FRAME_SECONDS

CATCH_UP_SECONDS = 5.0
"""Frames that were held back for so long pass at once when they come."""
FASTER = 1.01
"""How much faster than sound frames may always pass: no two clocks are further apart, so none piles up."""


class Pacer:
    """Says when the next frame may pass. Times are seconds of any steady clock."""

    def __init__(self) -> None:
        self._due: float | None = None  # no frame has passed yet

    def early(self, now: float) -> float:
        """Returns how many seconds too early it is for a frame; 0 or less if one may pass."""
        return 0.0 if self._due is None else self._due - now

    def passed(self, now: float) -> None:
        """A frame has passed."""
        due = now if self._due is None else max(self._due, now - CATCH_UP_SECONDS)
        self._due = due + FRAME_SECONDS / FASTER
