"""Measures the drift between two clocks from the level of the queue between them.

Devices take and deliver whole blocks, so a queue's level seems constant for minutes and then jumps by a block: only a
slow loop sees through that. Time is counted in steps of one frame.
"""

from __future__ import annotations

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

MOST_PPM = 1000.0
"""No two sound devices are further apart: crystals keep within 100 ppm, cheap USB ones have been seen at 300."""


class ClockLoop:
    """Turns a queue's level into the rate at which it has to be emptied: a phase-locked loop of second order.

    The gains are those of a critically damped loop, 2w and w^2 (F. M. Gardner, "Phaselock Techniques", ch. 2; the type
    that D. Rossi and F. Adriaensen use between sound cards, "Controlling adaptive resampling", LAC 2012). It begins at
    w = 1/60 s, so that 300 ppm displace the queue by 10 ms at most, and narrows to 1/500 s as time passes: a level that
    jumps by a block of 20 ms each 200 s (100 ppm) then moves the rate by less than 100 ppm, which is inaudible.
    """

    FIRST, LAST = 1 / 60, 1 / 500
    NARROWING_SECONDS = 200.0
    SURE_SECONDS = 240.0
    LARGEST = FRAME_SAMPLES / 2

    def __init__(self) -> None:
        self._drift = self._seconds = 0.0

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the queue is filled than emptied, without the correction; None until it is known."""
        return round(self._drift, 1) if self._seconds >= self.SURE_SECONDS else None

    def step(self, surplus: float) -> float:
        """Returns the rate to empty the queue with, in ppm; called once a frame.

        `surplus`: samples (24 kHz) above the target level now.
        """
        surplus = min(max(surplus, -self.LARGEST), self.LARGEST)  # a late thread is no drift
        width = max(self.LAST, self.FIRST / (1.0 + self._seconds / self.NARROWING_SECONDS))
        self._seconds += FRAME_SECONDS
        in_ppm = 1e6 / SAMPLE_RATE
        self._drift += width**2 * surplus * FRAME_SECONDS * in_ppm
        self._drift = min(max(self._drift, -MOST_PPM), MOST_PPM)
        return min(max(self._drift + 2.0 * width * surplus * in_ppm, -MOST_PPM), MOST_PPM)
