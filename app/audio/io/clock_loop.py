"""Measures the drift between two clocks from the level of the queue between them.

Devices consume and deliver whole blocks, so the level of a queue seems constant for minutes and then jumps by a block.
Only a slow loop can average that out. Time advances in steps of one frame.
"""

from __future__ import annotations

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

MOST_PPM = 1000.0
"""Upper limit of the drift between two devices. Crystals stay within 100 ppm; 300 ppm occurs on cheap USB devices."""


class ClockLoop:
    """A second-order phase-locked loop that computes the rate for emptying a queue from its level.

    The gains are those of a critically damped loop, 2w and w^2 (F. M. Gardner, "Phaselock Techniques", ch. 2). D. Rossi
    and F. Adriaensen use the same type between sound cards ("Controlling adaptive resampling", LAC 2012). The loop
    starts at w = 1/60 s, so that 300 ppm shift the queue by at most 10 ms, and narrows to 1/500 s over time. A level
    that jumps by a 20 ms block every 200 s (100 ppm) then changes the rate by less than 100 ppm, which is inaudible.
    """

    FIRST, LAST = 1 / 60, 1 / 500
    NARROWING_SECONDS = 200.0
    SURE_SECONDS = 240.0
    LARGEST = FRAME_SAMPLES / 2

    def __init__(self) -> None:
        self._drift = self._seconds = 0.0

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the queue is filled than emptied without the correction; None until known."""
        return round(self._drift, 1) if self._seconds >= self.SURE_SECONDS else None

    def step(self, surplus: float) -> float:
        """Returns the rate correction for emptying the queue, in ppm. Call it once per frame.

        `surplus`: samples (24 kHz) above the target level.
        """
        surplus = min(max(surplus, -self.LARGEST), self.LARGEST)  # a late thread isn't drift
        width = max(self.LAST, self.FIRST / (1.0 + self._seconds / self.NARROWING_SECONDS))
        self._seconds += FRAME_SECONDS
        in_ppm = 1e6 / SAMPLE_RATE
        self._drift += width**2 * surplus * FRAME_SECONDS * in_ppm
        self._drift = min(max(self._drift, -MOST_PPM), MOST_PPM)
        return min(max(self._drift + 2.0 * width * surplus * in_ppm, -MOST_PPM), MOST_PPM)
