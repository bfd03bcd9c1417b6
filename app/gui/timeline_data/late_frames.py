"""Which frames were late: those whose step ended after the next frame was due.

`LevelMeasured.late_ms` counts from the session's clock, and that is tied to the sound once, at the first frame. A
sound card's clock runs a little faster or slower than the computer's, which adds up: over minutes the least lateness
moves, and that much is no fault of the loop.
"""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 10.0


class Lateness:
    """Tells by how much a frame was late. `frame_ms`: how long a step may take."""

    def __init__(self, frame_ms: float) -> None:
        self._frame_ms = frame_ms
        self._usual: float | None = None
        self._until: float | None = None
        self._lately: deque[tuple[float, float]] = deque()
        """When, and how late; the least of the window is first."""

    def over(self, at: float, late_ms: float) -> float:
        """Milliseconds by which the step that ended with the frame at `at` held up the next one; 0 or less if it did
        not.
        """
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
