"""Measures the drift between two clocks from the level of the queue between them.

Devices consume and deliver whole blocks, so a queue's level appears constant for minutes and then jumps by a block.
Only a slow loop can average out such jumps. Time advances in steps of one frame.
"""

from __future__ import annotations

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

MOST_PPM = 1000.0
"""Maximum drift between two devices. Crystals stay within 100 ppm; 300 ppm occurs in cheap USB devices."""


class ClockLoop:
    """A second-order phase-locked loop that computes the rate at which to drain a queue from the queue's level.

    The gains are those of a critically damped loop, 2w and w^2 (F. M. Gardner, "Phaselock Techniques", ch. 2). The same
    type of loop is used between sound cards (F. Adriaensen, "Controlling adaptive resampling", LAC 2012). It starts at
    w = 1/(60 s), so that 300 ppm shifts the queue by at most 10 ms, and narrows to 1/(500 s) over time. A level that
    jumps by a 20 ms block every 200 s (100 ppm) then changes the rate by less than 100 ppm, which is inaudible.
    """

    FIRST, LAST = 1 / 60, 1 / 500
    NARROWING_SECONDS = 200.0
    SURE_SECONDS = 240.0
    LARGEST = FRAME_SAMPLES / 2

    def __init__(self) -> None:
        self._drift = self._seconds = 0.0

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the queue would fill than drain without the correction, in ppm; None until known."""
        return round(self._drift, 1) if self._seconds >= self.SURE_SECONDS else None

    def step(self, surplus: float) -> float:
        """Returns the correction to the rate at which the queue is drained, in ppm. Must be called once per frame.

        `surplus`: number of samples (24 kHz) above the target level.
        """
        surplus = min(max(surplus, -self.LARGEST), self.LARGEST)  # a late thread isn't drift
        width = max(self.LAST, self.FIRST / (1.0 + self._seconds / self.NARROWING_SECONDS))
        self._seconds += FRAME_SECONDS
        in_ppm = 1e6 / SAMPLE_RATE
        self._drift += width**2 * surplus * FRAME_SECONDS * in_ppm
        self._drift = min(max(self._drift, -MOST_PPM), MOST_PPM)
        return min(max(self._drift + 2.0 * width * surplus * in_ppm, -MOST_PPM), MOST_PPM)
