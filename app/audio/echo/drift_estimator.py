"""Hears from the echo how far apart the clocks of loudspeaker and microphone are: a few ppm after some seconds.

Where the two clocks differ, the echo's way grows or shrinks all the time, and the phases of a filter that follows it
turn. Queues show the same only over minutes, behind their blocks of 10 ms. Knows nothing of how the filter learns.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from app.audio.echo.adaptive_filter import HOP
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE


class DriftEstimator:
    """Fed once a frame with the filter's weights; tells by how much the far end is to be given faster, in ppm.

    The delay between two moments is the slope of the cross-spectrum's phase, the bins up to `HIGHEST` weighted by
    their strength (generalised cross-correlation, C. Knapp and G. Carter, IEEE Trans. ASSP 24, 1976). As the filter
    comes behind, less than the whole wander is seen at first: the answers are to be added up.
    """

    BACK = 4
    """Frames between the two moments: 0.32 s."""
    HIGHEST = 4000.0
    GAIN = 0.1
    """Share of what is seen that is made up for at each frame; it falls as 1/t behind `QUICK_FRAMES` of echo."""
    QUICK_FRAMES = 75
    LEAST_SHARE = 0.1
    MOST_PPM = 200.0
    EXPLAINS = 10 ** (0.5 / 10)
    """The filter must make the sound quieter by 0.5 dB: otherwise there's no echo, or the user speaks over it."""
    MEMORY = 0.9
    """Weight that both powers keep over a frame: 0.8 s."""

    def __init__(self) -> None:
        self._bins = round(self.HIGHEST / SAMPLE_RATE * 2 * HOP)
        self._turn = 2.0 * np.pi * np.arange(self._bins) / (2 * HOP)
        self.begin()

    def begin(self) -> None:
        """The filter has begun anew."""
        self._seen: deque[np.ndarray] = deque(maxlen=self.BACK)
        self._frames = 0
        self._near = self._out = 0.0

    def measure(self, weights: np.ndarray, near: np.ndarray, out: np.ndarray) -> float | None:
        """What to add to the far end's rate, in ppm; None where nothing can be said.

        `weights`: complex64 (partitions, bins); `near`, `out`: a frame in which the far end sounded, before and
        behind the filter, float32 (1920,).
        """
        self._near = self.MEMORY * self._near + float(near @ near)
        self._out = self.MEMORY * self._out + float(out @ out)
        now = weights[:, : self._bins].copy()
        before = self._seen[0] if len(self._seen) == self.BACK else None
        self._seen.append(now)
        if before is None or self._near < self.EXPLAINS * self._out:
            return None
        self._frames += 1
        cross = np.einsum("pf,pf->f", now, before.conj())
        strength = np.abs(cross) * self._turn
        samples = -float((strength * np.angle(cross)).sum()) / (float((strength * self._turn).sum()) + 1e-30)
        ppm = samples / (self.BACK * FRAME_SAMPLES) * 1e6
        share = self.GAIN * max(self.LEAST_SHARE, min(1.0, self.QUICK_FRAMES / self._frames))
        return -share * min(max(ppm, -self.MOST_PPM), self.MOST_PPM)
