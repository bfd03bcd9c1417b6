"""Attenuates the residual echo where nobody but the app speaks."""

from __future__ import annotations

import numpy as np

from app.audio.echo.power import FAR_ACTIVE, powers
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

BLOCK = SAMPLE_RATE // 100
BLOCKS = FRAME_SAMPLES // BLOCK


class ResidualEchoGate:
    """Passes only what is nearly as loud as the microphone's sound was recently, while the loudspeaker sounds.

    The residual echo is 20 dB and more below the echo; a voice over it isn't. So 20 ms that are less than `OPENS` below
    the loudest 10 ms of the last moments open the gate, and then it stays open for `HOLD_BLOCKS`. Until the canceller
    has had `COLD_SECONDS` of echo to learn from they must be nearer. All else is attenuated by `CLOSED`; while the
    loudspeaker is silent nothing is changed. To be used only where there is an echo (see `EchoPresence`), and reset
    when one is found.

    The figures were found by trial in simulated rooms (`tests.support.room_talks`): 20 to 250 ms, -6 to -20 dB.
    """

    OPENS = 10 ** (-10 / 10)
    OPENS_COLD = 10 ** (-6 / 10)
    COLD_SECONDS = 5.0
    WARMING_SECONDS = 1.0
    """After a pause, and after words of the user above all, the canceller needs so long to readapt."""
    CLOSED = 10 ** (-30 / 20)
    DECAY = 10 ** (-15 / 10 * BLOCK / SAMPLE_RATE)
    """The remembered loudness falls by 15 dB a second: over the gaps between words, not over a pause."""
    HOLD_BLOCKS = 35
    LOOK_BACK = 4
    """Blocks before the one that opened the gate which pass with it, if they are in the same frame: a word begins
    softly."""
    TAIL_BLOCKS = 60
    """The echo goes on for 0.6 s after its origin: 0.25 s of latency and a room's tail."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, *, known: bool = False) -> None:
        """Starts over. `known`: the canceller knows the echo path from an earlier session."""
        self._active_seconds = self.COLD_SECONDS if known else 0.0
        self._since_pause = 0.0
        self._tail = self._hold = 0
        self._peak = 0.0
        self._gain = 1.0
        self._before = 0.0

    def apply(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Returns the canceller's output `out` with its residual attenuated: `out` itself if nothing is to do.

        `near`: the microphone's sound, `far`: what the loudspeaker played; float32 (1920,) each.
        """
        sounding = powers(far, BLOCK) > FAR_ACTIVE
        if not sounding.any() and not self._tail:
            self._peak, self._hold, self._gain, self._since_pause = 0.0, 0, 1.0, 0.0
            return out
        opened = self._opened_blocks(sounding, powers(near, BLOCK), powers(out, BLOCK))
        if self._gain == 1.0 and opened.all():
            return out
        # Opens at once, closes over 10 ms: linear from block's end to block's end.
        gains = np.where(opened, 1.0, self.CLOSED)
        starts = np.maximum(np.concatenate([[self._gain], gains[:-1]]), gains)
        ramp = np.linspace(0.0, 1.0, BLOCK, dtype=np.float32)
        curve = starts[:, None] + (gains - starts)[:, None] * ramp
        self._gain = float(gains[-1])
        return (out * curve.reshape(-1)).astype(np.float32)

    def _opened_blocks(self, sounding: np.ndarray, near: np.ndarray, out: np.ndarray) -> np.ndarray:
        """For which blocks the gate is open: bool (8,), from whether the far end sounds and the others' powers."""
        opened = np.zeros(BLOCKS, bool)
        for n in range(BLOCKS):
            self._tail = self.TAIL_BLOCKS if sounding[n] else max(0, self._tail - 1)
            self._active_seconds += BLOCK / SAMPLE_RATE if sounding[n] else 0.0
            self._since_pause += BLOCK / SAMPLE_RATE
            self._peak = max(self._peak * self.DECAY, near[n])
            # Two blocks together: a single one can be a click.
            level = 0.5 * (out[n] + self._before)
            self._before = out[n]
            if not self._tail:
                opened[n] = True  # nothing sounds yet
            elif level > self._threshold() * self._peak:
                self._hold = self.HOLD_BLOCKS
                opened[max(0, n - self.LOOK_BACK) : n + 1] = True
            else:
                self._hold = max(0, self._hold - 1)
                opened[n] = opened[n] or self._hold > 0
        return opened

    def _threshold(self) -> float:
        """The share of the microphone's loudest power that opens the gate."""
        cold = self._active_seconds < self.COLD_SECONDS or self._since_pause < self.WARMING_SECONDS
        return self.OPENS_COLD if cold else self.OPENS
