"""Finds late frames: those whose step ended after the next frame was due.

`LevelMeasured.late_ms` is relative to the session's clock, which is aligned with the sound once, at the first frame.
A sound card's clock drifts from the computer's, so over minutes the least lateness changes without any delay in the
frame loop, and that much is subtracted.
"""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 10.0


class Lateness:
    """Measures by how much a frame was late. `frame_ms`: how long a step may take."""

    def __init__(self, frame_ms: float) -> None:
        self._frame_ms = frame_ms
        self._usual: float | None = None
        self._until: float | None = None
        self._lately: deque[tuple[float, float]] = deque()
        """Times and lateness; the least of the window is first."""

    def over(self, at: float, late_ms: float) -> float:
        """Returns the milliseconds by which the step of the frame at `at` delayed the next one; else 0 or less."""
        while self._lately and self._lately[-1][1] >= late_ms:
            self._lately.pop()
        self._lately.append((at, late_ms))
        while at - self._lately[0][0] > WINDOW_SECONDS:
            self._lately.popleft()
        least = self._lately[0][1]
        if self._until is None:
            self._until = at + WINDOW_SECONDS
        if self._usual is None or at < self._until:
            self._usual = least if self._usual is None else min(self._usual, least)
        return late_ms - (least - self._usual) - self._frame_ms
