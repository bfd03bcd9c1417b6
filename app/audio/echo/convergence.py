"""Tells whether a filter that takes an echo out has learned the way: then what is left of it needs no gate.

Looks at powers only, 20 ms at a time.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from app.audio.echo.residual_echo import FAR_ACTIVE, HOP, powers
from app.conversation.frame import SAMPLE_RATE


class ConvergenceMonitor:
    """Grows where the filter makes the echo 10 dB quieter, and goes in half a second where it doesn't any more.

    The figures were found by trial in simulated rooms (`tests.support.room_talks`).
    """

    COLD_HOPS = 400
    """Echo that the filter and the clocks have had to learn from before anything is trusted: 8 s."""
    KNOWN_HOPS = 15
    """The same where the way was known from another talk: 0.3 s."""
    LEARNED_HOPS = 1400
    """Behind 20 s of echo what was known is as good as learned."""
    LOOK_BACK = 100
    """Hops with a sounding loudspeaker that are looked at: the last two seconds of it."""
    LEAVES = 10 ** (-10 / 10)
    """More than this share of the microphone's power left in a hop is bad: the filter does no better, or the user
    speaks (and then the loudspeaker falls silent 0.3 s later)."""
    GAINS, LOSES = 0.1, 0.3
    """Share of bad hops up to which trust begins, and above which it ends."""
    LOUD = 10 ** (15 / 10)
    """Only what is by so much louder than the room's noise is bad."""
    RISE = 1.002
    """The noise's estimate rises by 0.4 dB a second and falls at once."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.begin()

    def begin(self, *, known: bool = False) -> None:
        """The filter has everything to learn, or only to show that what it knows is so."""
        self._known = known
        self._active = self.COLD_HOPS - self.KNOWN_HOPS if known else 0
        self.trusted = False
        self._bad: deque[bool] = deque(maxlen=self.LOOK_BACK)

    @property
    def known(self) -> bool:
        """Whether what it is about came from another talk, and hasn't been learned in this one since."""
        return self._known and self._active < self.LEARNED_HOPS

    def leaves(self, near: np.ndarray, left: np.ndarray) -> bool:
        """Whether the filter leaves much of a hop: of a voice that isn't the loudspeaker's. float32 (480,) each."""
        return self._leaves(float(powers(near, HOP)[0]), float(powers(left, HOP)[0]))

    def _leaves(self, heard: float, remains: float) -> bool:
        return remains > max(self.LEAVES * heard, self.LOUD * self._noise)

    def judge(self, near: np.ndarray, far: np.ndarray, left: np.ndarray) -> bool:
        """Whether it is trusted now. `left`: what the filter left of `near`; all float32 (1920,), of the same frame."""
        sounding = powers(far, HOP) > FAR_ACTIVE
        for heard, remains, sounds in zip(powers(near, HOP), powers(left, HOP), sounding, strict=True):
            self._noise = min(self._noise * self.RISE, max(float(heard), 1e-10))
            if sounds:
                self._active += 1
                self._bad.append(self._leaves(float(heard), float(remains)))
        if self._active >= self.COLD_HOPS:
            share = sum(self._bad) / max(1, len(self._bad))
            self.trusted = share <= (self.LOSES if self.trusted else self.GAINS)
        return self.trusted


assert SAMPLE_RATE // HOP == 50
