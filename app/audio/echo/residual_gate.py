"""Attenuates the residual echo while only the app speaks, and detects whether there is any echo at all.

With headphones, the microphone picks up no echo. The detector uses the generalised cross-correlation with phase
transform of the microphone signal and the far end (C. Knapp and G. Carter, IEEE Trans. ASSP 24, 1976). An echo
causes a peak at its delay within a frame or two, even in double talk; other voices cause none.
"""

from __future__ import annotations

import numpy as np

from app.audio.echo.known_path import FAR_ACTIVE, KnownEchoPath, powers
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

WINDOW = 3 * FRAME_SAMPLES
"""Length of the microphone audio to correlate: the last 0.24 s."""
MOST_DELAY = 5 * FRAME_SAMPLES
"""Maximum delay of the echo: 0.4 s."""
SIZE = 24_576
"""Size of the Fourier transforms: 3 * 2^13, at least the sum of both signals' lengths."""
BAND = slice(round(100.0 * SIZE / SAMPLE_RATE), round(4000.0 * SIZE / SAMPLE_RATE))
"""The speech band, 100 to 4000 Hz, in bins of the transforms."""
DELAYS = SIZE // 3
"""Number of (cyclic) delays distinguished, in steps of 1/8 ms, which is the resolution of the bins up to 4 kHz."""


class EchoPresence:
    """Detects from each frame's near and far end whether there is an echo.

    `present`: there is an echo; `suspected`: the last frame may be the first one with an echo.

    In 30 recordings of voices over headphones, no peak exceeded 11 times the RMS over all delays. In 30 simulated rooms
    with echo (20 to 250 ms, -6 to -26 dB, noise from -65 to -50 dBFS), all peaks reached 12 times the RMS within two
    frames of the echo exceeding the noise, most of them within one.
    """

    PEAK, TWO_PEAKS = 12.0, 22.0
    """Minimum peak in one frame, and minimum sum of the peaks in two frames with the same delay."""
    SUSPECTED_PEAK, SUSPECTED_FRAMES = 7.0, 12
    """Peak at which a frame is suspected to be the first one with an echo. Half of all echoes reach it in their first
    frame and `PEAK` in the second. So do some voice onsets, so it only counts in the first second of far-end audio."""
    GONE_FRAMES = 100
    """Number of frames (8 s) since the last echo with far-end audio but a silent microphone after which the echo counts
    as gone, because the user has put on headphones. It is high because a faint echo in a loud room is often missed."""
    SILENT = 10 ** (4 / 10)
    """Ratio of signal to room noise up to which a frame counts as silent."""
    RISE = 1.008
    """Maximum rise of the noise estimate per frame: 0.4 dB per second. Decreases take effect immediately."""

    def __init__(self) -> None:
        self._noise = 1e9
        self.reset()

    def reset(self) -> None:
        """Resets everything but the noise estimate. Must be called when the signals have been realigned."""
        self.present = self.suspected = False
        self._near: np.ndarray = np.zeros(WINDOW, np.float32)
        self._residual: np.ndarray = np.zeros(WINDOW, np.float32)
        self._far: np.ndarray = np.zeros(WINDOW + MOST_DELAY, np.float32)
        self._without_echo = self._sounding = 0
        self._last = (0, 0.0)

    def update(self, near: np.ndarray, far: np.ndarray) -> bool:
        """Adds one frame of each signal, float32 (1920,), and returns whether `near` contains an echo."""
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
        """Whether an echo may still appear, because little far-end audio has been played so far."""
        return not self.present and self._sounding <= self.SUSPECTED_FRAMES

    def is_in(self, residual: np.ndarray) -> bool:
        """Whether a filter's output for the last frame may still contain an echo. Must be called for every frame."""
        self._residual = _shifted(self._residual, residual)
        return self._sounded() and self._peak(self._residual)[1] >= self.SUSPECTED_PEAK

    def fit(self, known: KnownEchoPath) -> KnownEchoPath | None:
        """Fits a known path to the latest frames; see `KnownEchoPath.fit`."""
        return known.fit(self._near, self._far)

    def _sounded(self) -> bool:
        return bool((powers(self._far, FRAME_SAMPLES) > FAR_ACTIVE).any())

    def _peak(self, sound: np.ndarray) -> tuple[int, float]:
        """Returns the delay with the highest correlation, and its peak relative to the RMS over all delays."""
        cross = np.zeros(DELAYS // 2 + 1, complex)
        product = np.fft.rfft(sound * _TAPER, SIZE)[BAND] * np.fft.rfft(self._far, SIZE)[BAND].conj()
        cross[BAND] = product / (np.abs(product) + 1e-12)
        # The far end's window starts `MOST_DELAY` before the near end's.
        correlation = np.abs(np.roll(np.fft.irfft(cross, DELAYS), MOST_DELAY // 3)[: MOST_DELAY // 3])
        delay = int(np.argmax(correlation))
        return delay, float(correlation[delay] / np.sqrt(np.mean(correlation**2) + 1e-20))


_TAPER = np.hanning(WINDOW).astype(np.float32)


def _shifted(window: np.ndarray, frame: np.ndarray) -> np.ndarray:
    return np.concatenate([window[FRAME_SAMPLES:], frame])


BLOCK = SAMPLE_RATE // 100
BLOCKS = FRAME_SAMPLES // BLOCK


class ResidualEchoGate:
    """A gate that, while the loudspeaker is active, passes only audio nearly as loud as the recent microphone signal.

    The residual echo is at least 20 dB below the echo, unlike the user's voice. The gate opens if the power over 20 ms
    exceeds `OPENS` times that of the loudest 10 ms of recent microphone audio, and stays open for `HOLD_BLOCKS`. Until
    the canceller has had `COLD_SECONDS` of echo to learn from, the threshold is `OPENS_COLD`. Everything else is
    attenuated by `CLOSED`. While the loudspeaker is silent, nothing is changed. Use the gate only if there is an echo
    (see `EchoPresence`), and reset it when an echo is first detected.

    The constants were tuned in simulated rooms (`tests.support.room_talks`) with delays of 20 to 250 ms and echoes of
    -6 to -20 dB.
    """

    OPENS = 10 ** (-10 / 10)
    OPENS_COLD = 10 ** (-6 / 10)
    COLD_SECONDS = 5.0
    WARMING_SECONDS = 1.0
    """Time that the canceller needs to readapt after a pause, especially if the user spoke during the pause."""
    CLOSED = 10 ** (-30 / 20)
    DECAY = 10 ** (-15 / 10 * BLOCK / SAMPLE_RATE)
    """Decay of the tracked peak per block: 15 dB per second, which bridges gaps between words but not pauses."""
    HOLD_BLOCKS = 35
    LOOK_BACK = 4
    """How many blocks before the one that opens the gate also pass if they are in the same frame, since word onsets are
    soft."""
    TAIL_BLOCKS = 60
    """How long an echo may outlast the far end: 0.6 s, to cover 0.25 s of latency and reverberation."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, *, known: bool = False) -> None:
        """Resets the state. `known`: the echo path is known from an earlier session."""
        self._active_seconds = self.COLD_SECONDS if known else 0.0
        self._since_pause = 0.0
        self._tail = self._hold = 0
        self._peak = 0.0
        self._gain = 1.0
        self._before = 0.0

    def apply(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Returns the canceller's output `out` with the residual echo attenuated, or `out` itself if the gate is open.

        `near`: the microphone signal; `far`: the audio that the loudspeaker played. Float32 (1920,) each.
        """
        sounding = powers(far, BLOCK) > FAR_ACTIVE
        if not sounding.any() and not self._tail:
            self._peak, self._hold, self._gain, self._since_pause = 0.0, 0, 1.0, 0.0
            return out
        opened = self._opened_blocks(sounding, powers(near, BLOCK), powers(out, BLOCK))
        if self._gain == 1.0 and opened.all():
            return out
        # The gate opens immediately and closes over 10 ms, with linear interpolation between block ends.
        gains = np.where(opened, 1.0, self.CLOSED)
        starts = np.maximum(np.concatenate([[self._gain], gains[:-1]]), gains)
        ramp = np.linspace(0.0, 1.0, BLOCK, dtype=np.float32)
        curve = starts[:, None] + (gains - starts)[:, None] * ramp
        self._gain = float(gains[-1])
        return (out * curve.reshape(-1)).astype(np.float32)

    def _opened_blocks(self, sounding: np.ndarray, near: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Returns whether the gate is open for each block: bool (8,). `near`, `out`: the blocks' powers."""
        opened = np.zeros(BLOCKS, bool)
        for n in range(BLOCKS):
            self._tail = self.TAIL_BLOCKS if sounding[n] else max(0, self._tail - 1)
            self._active_seconds += BLOCK / SAMPLE_RATE if sounding[n] else 0.0
            self._since_pause += BLOCK / SAMPLE_RATE
            self._peak = max(self._peak * self.DECAY, near[n])
            # The mean of two blocks, since a single one may be a click.
            level = 0.5 * (out[n] + self._before)
            self._before = out[n]
            if not self._tail:
                opened[n] = True  # no far-end audio yet
            elif level > self._threshold() * self._peak:
                self._hold = self.HOLD_BLOCKS
                opened[max(0, n - self.LOOK_BACK) : n + 1] = True
            else:
                self._hold = max(0, self._hold - 1)
                opened[n] = opened[n] or self._hold > 0
        return opened

    def _threshold(self) -> float:
        """Returns the share of the microphone's peak power that opens the gate."""
        cold = self._active_seconds < self.COLD_SECONDS or self._since_pause < self.WARMING_SECONDS
        return self.OPENS_COLD if cold else self.OPENS
