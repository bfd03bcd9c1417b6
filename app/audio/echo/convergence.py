"""Detects whether the adaptive filter has learned the echo path: then its residual needs no gate."""

from __future__ import annotations

from collections import deque

import numpy as np

from app.audio.echo.power import FAR_ACTIVE, HOP, powers


class ConvergenceMonitor:
    """`converged` turns True once the filter attenuates the echo by 10 dB, and False within 0.5 s if it no longer does.

    The figures were found by trial in simulated rooms (`tests.support.room_talks`).
    """

    COLD_HOPS = 400
    """Echo that the filter and the clocks need for learning before anything is trusted: 8 s."""
    KNOWN_HOPS = 15
    """The same if the path was known from another session: 0.3 s."""
    LEARNED_HOPS = 1400
    """After 20 s of echo a known path is as good as a learned one."""
    LOOK_BACK = 100
    """Hops with a sounding loudspeaker that are considered: its last two seconds."""
    REMAINS = 10 ** (-10 / 10)
    """More than this share of the microphone's power left in a hop is bad: the filter does no better, or the user
    speaks (and then the loudspeaker falls silent 0.3 s later)."""
    GAINED, LOST = 0.1, 0.3
    """Share of bad hops up to which it has converged, and above which it no longer has."""
    LOUD = 10 ** (15 / 10)
    """Only what is by so much louder than the room's noise is bad."""
    RISE = 1.002
    """The noise's estimate rises by 0.4 dB a second and falls at once."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.reset()

    def reset(self, *, known: bool = False) -> None:
        """Starts over. `known`: the filter starts from a path known from another session."""
        self._known = known
        self._active = self.COLD_HOPS - self.KNOWN_HOPS if known else 0
        self.converged = False
        self._bad: deque[bool] = deque(maxlen=self.LOOK_BACK)

    @property
    def known(self) -> bool:
        """Whether the path came from another session, and hasn't been learned in this one since."""
        return self._known and self._active < self.LEARNED_HOPS

    def is_unexplained(self, near: np.ndarray, residual: np.ndarray) -> bool:
        """Whether the filter leaves much of a hop, as of a voice other than the loudspeaker's. float32 (480,) each."""
        return self._is_bad(float(powers(near, HOP)[0]), float(powers(residual, HOP)[0]))

    def _is_bad(self, near: float, residual: float) -> bool:
        return residual > max(self.REMAINS * near, self.LOUD * self._noise)

    def update(self, near: np.ndarray, far: np.ndarray, residual: np.ndarray) -> bool:
        """Takes one frame and returns `converged`. `residual`: the filter's output; all float32 (1920,)."""
        sounding = powers(far, HOP) > FAR_ACTIVE
        for near_power, residual_power, sounds in zip(powers(near, HOP), powers(residual, HOP), sounding, strict=True):
            self._noise = min(self._noise * self.RISE, max(float(near_power), 1e-10))
            if sounds:
                self._active += 1
                self._bad.append(self._is_bad(float(near_power), float(residual_power)))
        if self._active >= self.COLD_HOPS:
            share = sum(self._bad) / max(1, len(self._bad))
            self.converged = share <= (self.LOST if self.converged else self.GAINED)
        return self.converged
