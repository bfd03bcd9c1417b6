"""Attenuates the residual echo while only the app speaks, and detects whether there is any echo at all.

With headphones the microphone does not pick up the loudspeaker. The detector is the generalised cross-correlation with
phase transform of the microphone's sound and the far end (C. Knapp and G. Carter, IEEE Trans. ASSP 24, 1976): an echo
appears as a peak at its delay within a frame or two, also in double talk, while another voice has no peak anywhere.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.known_path import FAR_ACTIVE, KnownEchoPath, powers
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

WINDOW = 3 * FRAME_SAMPLES
"""The part of the microphone's sound that is compared: the last 0.24 s."""
MOST_DELAY = 5 * FRAME_SAMPLES
"""How long after its origin the echo may come: 0.4 s."""
SIZE = 24_576
"""Of the Fourier transforms: no less than both together, and 3 * 2^13."""
BAND = slice(round(100.0 * SIZE / SAMPLE_RATE), round(4000.0 * SIZE / SAMPLE_RATE))
"""A voice's, 100 to 4000 Hz, by the transforms' bins."""
DELAYS = SIZE // 3
"""Delays that are distinguished, cyclic: an eighth of a millisecond each, by the bins up to 4 kHz."""


class EchoPresence:
    """Updated with each frame's near and far end. `present`: whether there is an echo; `suspected`: whether the last
    frame may be the first of one.

    Of 30 voices over headphones none reached a peak of more than 11 times the root mean square of all delays; of 30
    echoes in simulated rooms (20 to 250 ms, -6 to -26 dB, noise of -65 to -50 dBFS) all reached 12 within two frames
    of being louder than the noise, and most within one.
    """

    PEAK, TWO_PEAKS = 12.0, 22.0
    """In one frame, or in two together whose delay is the same."""
    SUSPECTED_PEAK, SUSPECTED_FRAMES = 7.0, 12
    """Half of all echoes reach this in their first frame and `PEAK` in the second. So do some voices as they begin:
    it counts only in the loudspeaker's first second."""
    GONE_FRAMES = 100
    """Frames (8 s) in which the loudspeaker sounds and the microphone doesn't, since the last ones with an echo, after
    which there is none any more: the user has put headphones on. A faint echo in a loud room is found less often than
    it is there."""
    SILENT = 10 ** (4 / 10)
    """What is no louder than this above the room's noise is silence."""
    RISE = 1.008
    """The noise's estimate rises by 0.4 dB a second and falls at once."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.reset()

    def reset(self) -> None:
        """Drops everything but the noise level: the two sounds are aligned differently from now on."""
        self.present = self.suspected = False
        self._near: np.ndarray = np.zeros(WINDOW, np.float32)
        self._residual: np.ndarray = np.zeros(WINDOW, np.float32)
        self._far: np.ndarray = np.zeros(WINDOW + MOST_DELAY, np.float32)
        self._without_echo = self._sounding = 0
        self._last = (0, 0.0)

    def update(self, near: np.ndarray, far: np.ndarray) -> bool:
        """Takes one frame of each, float32 (1920,); returns whether this frame shows an echo."""
        self._near, self._far = _shifted(self._near, near), _shifted(self._far, far)
        power = float(powers(near, FRAME_SAMPLES)[0])
        self._noise = min(self._noise * self.RISE, max(power, 1e-10))
        self.suspected = False
        if not self._sounded():
            return False
        self._sounding += 1
        if power <= self.SILENT * self._noise:
            self._without_echo += 1
            if self._without_echo >= self.GONE_FRAMES:
                self.present = False
            return False
        delay, peak = self._peak(self._near)
        same_delay = abs(delay - self._last[0]) <= 1 and peak + self._last[1] >= self.TWO_PEAKS
        self._last = (delay, peak)
        if peak < self.PEAK and not same_delay:
            self.suspected = self.undecided and peak >= self.SUSPECTED_PEAK
            return False
        self.present, self._without_echo = True, 0
        return True

    @property
    def undecided(self) -> bool:
        """Whether an echo may start at any moment: the loudspeaker hasn't sounded for long, if at all."""
        return not self.present and self._sounding <= self.SUSPECTED_FRAMES

    def is_in(self, residual: np.ndarray) -> bool:
        """Whether an echo may be left in a filter's output for the frame of the last `update`; call it each frame."""
        self._residual = _shifted(self._residual, residual)
        return self._sounded() and self._peak(self._residual)[1] >= self.SUSPECTED_PEAK

    def fit(self, known: KnownEchoPath) -> KnownEchoPath | None:
        """Fits a known path to the last frames; see `KnownEchoPath.fit`."""
        return known.fit(self._near, self._far)

    def _sounded(self) -> bool:
        return bool((powers(self._far, FRAME_SAMPLES) > FAR_ACTIVE).any())

    def _peak(self, sound: np.ndarray) -> tuple[int, float]:
        """Returns the delay with the highest correlation, and its height relative to all others."""
        cross = np.zeros(DELAYS // 2 + 1, complex)
        product = np.fft.rfft(sound * _TAPER, SIZE)[BAND] * np.fft.rfft(self._far, SIZE)[BAND].conj()
        cross[BAND] = product / (np.abs(product) + 1e-12)
        # The far end's window begins `MOST_DELAY` before the near end's.
        correlation = np.abs(np.roll(np.fft.irfft(cross, DELAYS), MOST_DELAY // 3)[: MOST_DELAY // 3])
        delay = int(np.argmax(correlation))
        return delay, float(correlation[delay] / np.sqrt(np.mean(correlation**2) + 1e-20))


_TAPER = np.hanning(WINDOW).astype(np.float32)


def _shifted(window: np.ndarray, frame: np.ndarray) -> np.ndarray:
    return np.concatenate([window[FRAME_SAMPLES:], frame])


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
