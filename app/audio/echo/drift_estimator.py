"""Estimates from the echo how far apart the clocks of loudspeaker and microphone are: within seconds, to a few ppm.

If the two clocks differ, the echo's delay grows or shrinks all the time, and the phases of an adaptive filter that
follows it rotate. Queue levels show the same only over minutes, because of their blocks of 10 ms.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from app.audio.echo.power import HOP
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE


class DriftEstimator:
    """Updated once a frame with the filter's weights; returns corrections to the far end's rate, in ppm.

    The delay between two moments is the slope of the cross-spectrum's phase, the bins up to `HIGHEST` weighted by
    their strength (generalised cross-correlation, C. Knapp and G. Carter, IEEE Trans. ASSP 24, 1976). As the filter
    lags behind, only part of the drift is visible at first: the corrections are to be added up.
    """

    BACK = 4
    """Frames between the two moments: 0.32 s."""
    HIGHEST = 4000.0
    GAIN = 0.1
    """Share of the visible drift that is corrected at each frame; it falls as 1/t after `QUICK_FRAMES` of echo."""
    QUICK_FRAMES = 75
    LEAST_SHARE = 0.1
    MOST_PPM = 200.0
    EXPLAINS = 10 ** (0.5 / 10)
    """The filter must attenuate the sound by 0.5 dB: otherwise there is no echo, or the user speaks over it."""
    MEMORY = 0.9
    """Weight that both powers keep over a frame: 0.8 s."""

    def __init__(self) -> None:
        self._bins = round(self.HIGHEST / SAMPLE_RATE * 2 * HOP)
        self._frequency = 2.0 * np.pi * np.arange(self._bins) / (2 * HOP)
        self.reset()

    def reset(self) -> None:
        """Starts over, as the filter does."""
        self._weights: deque[np.ndarray] = deque(maxlen=self.BACK)
        self._frames = 0
        self._near = self._residual = 0.0

    def update(self, weights: np.ndarray, near: np.ndarray, residual: np.ndarray) -> float | None:
        """Returns what to add to the far end's rate, in ppm; None if that is unknown.

        `weights`: complex64 (partitions, bins); `near`, `residual`: a frame in which the far end sounded, before and
        after the filter, float32 (1920,).
        """
        self._near = self.MEMORY * self._near + float(near @ near)
        self._residual = self.MEMORY * self._residual + float(residual @ residual)
        now = weights[:, : self._bins].copy()
        before = self._weights[0] if len(self._weights) == self.BACK else None
        self._weights.append(now)
        if before is None or self._near < self.EXPLAINS * self._residual:
            return None
        self._frames += 1
        cross = np.einsum("pf,pf->f", now, before.conj())
        strength = np.abs(cross) * self._frequency
        samples = -float((strength * np.angle(cross)).sum()) / (float((strength * self._frequency).sum()) + 1e-30)
        ppm = samples / (self.BACK * FRAME_SAMPLES) * 1e6
        share = self.GAIN * max(self.LEAST_SHARE, min(1.0, self.QUICK_FRAMES / self._frames))
        return -share * min(max(ppm, -self.MOST_PPM), self.MOST_PPM)
