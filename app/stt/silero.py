"""Streaming voice activity detection with the copy of Silero VAD v6 that ships with faster-whisper.

The detector also distinguishes a closed-mouth hum ("mhm") from speech by its spectrum, and measures how periodic each
window is. It runs on the frame thread and takes 0.4 ms per frame.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE, Frame, Position
from app.conversation.turns.voice import VoiceWindow
from app.models.onnx import open_onnx
from app.stt.whisper_library import faster_whisper

VAD_RATE = 16_000
WINDOW = 512
"""Samples at 16 kHz: 32 ms, the only window size this model accepts."""
CONTEXT = 64
"""Samples of the previous window that are prepended to each window."""

HUM_SHARE = 0.005
"""Maximum share of energy above 1 kHz in a hum (-23 dB), since a closed mouth blocks higher frequencies. The hums in
the tests measure -28 dB or less, and 90 % of the first windows of spoken words more than -25 dB."""

QUIET = 0.15
"""Voice probability below which a window counts as room noise."""

RESTED = 31
"""Consecutive quiet windows (1 s) after which speech no longer affects the model's state, which is then saved."""
REFRESH = 8
"""The saved state is restored each time this many further quiet windows (0.26 s) have passed.

In a long silence the model's state drifts (its largest cell grows from 70 to 490 in 16 s), which delays the detection
of the next word. Over 294 speech onsets, with room noise at -65 and -50 dBFS, the median delay to a probability of 0.7
is 81 ms after 1 s of silence, 98 ms after 4 s and 139 ms after 20 s. With the state restored it is 65 to 69 ms."""

PITCH_HZ = (60, 400)
"""The pitch range of speech, from low male voices to animated female ones."""
VOICING_BAND_HZ = 1000
"""Voicing is measured below this frequency, where the first harmonics stand out most from room noise and breath. 90 %
of the windows that are clearly speech reach 0.6 and half reach 0.94; hiss and breath reach 0.2 to 0.4, vocal fry 0.3 to
0.6."""
LOW_PASS = 65
"""Number of taps of the low-pass filter at that frequency: 4 ms, for a transition band of 500 Hz."""


@cache
def _load() -> Any:
    """Loads the model shared by all sessions. It is small, stateless and thread-safe."""
    assets = faster_whisper("utils").get_assets_path()
    return open_onnx(Path(assets, "silero_vad_v6.onnx"), errors_only=True)


class SileroVoiceActivity:
    """The voice activity detector of one session, which keeps the model's state between frames."""

    def __init__(self) -> None:
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, VAD_RATE, 1, dtype="float32", quality="LQ")
        self._position = Position("voice activity", VAD_RATE)
        self._rest: np.ndarray = np.zeros(0, np.float32)
        self._context: np.ndarray = np.zeros(CONTEXT, np.float32)
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)
        self._rested = (self._h, self._c)
        self._quiet = 0  # consecutive quiet windows
        self._before = np.zeros(WINDOW, np.float32)
        self._high = np.fft.rfftfreq(WINDOW, 1 / VAD_RATE) >= 1000
        self._room = (1e9, 1e9)  # power of the room noise, above 1 kHz and in total
        self._hummed = False
        self._taper = np.hanning(WINDOW).astype(np.float32)
        taps = np.arange(-(LOW_PASS // 2), LOW_PASS // 2 + 1) * (2 * VOICING_BAND_HZ / VAD_RATE)
        self._low_pass = (np.sinc(taps) * np.hanning(LOW_PASS + 2)[1:-1]).astype(np.float32)
        shortest, longest = (VAD_RATE // 2 // hz for hz in reversed(PITCH_HZ))
        self._lags = np.arange(shortest, longest + 1)

    def load(self) -> None:
        """Loads the model in advance. Loading takes half a second and would otherwise delay the first `hear`."""
        _load()

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        chunk = self._resampler.resample_chunk(self._position.take(frame))
        self._rest = np.concatenate([self._rest, chunk])
        start = self._position.count(len(chunk)) - len(self._rest)
        out = []
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            start += WINDOW
            probability, self._h, self._c = _load().run(
                None, {"input": np.concatenate([self._context, window])[None], "h": self._h, "c": self._c}
            )
            self._context = window[-CONTEXT:]
            end = round(start / VAD_RATE, 6)
            voice = float(probability.reshape(-1)[0])
            self._rest_state(voice)
            level = 10 * np.log10(float(np.square(window).mean()) + 1e-12)
            hum = self._hums(window, voice)
            out.append(VoiceWindow(end, voice, hum, round(level, 1), self._voicing(window)))
        return out

    def _rest_state(self, voice: float) -> None:
        """Prevents the model's state from drifting during a long silence."""
        self._quiet = self._quiet + 1 if voice < QUIET else 0
        if self._quiet == RESTED:
            self._rested = (self._h, self._c)
        elif self._quiet > RESTED and (self._quiet - RESTED) % REFRESH == 0:
            self._h, self._c = self._rested

    def _voicing(self, window: np.ndarray) -> float:
        """Returns the window's periodicity: the peak normalised correlation with the audio a pitch period earlier."""
        both = np.concatenate([self._before, window])
        self._before = window
        low = np.convolve(both - both.mean(), self._low_pass, "valid")[::-2][::-1]  # at 8 kHz
        now, lags = low[-(WINDOW // 2) :], self._lags
        energy = np.concatenate([[0.0], np.cumsum(np.square(low))])
        starts = len(low) - len(now) - lags
        then = energy[starts + len(now)] - energy[starts]
        alike = np.correlate(low[starts[-1] : starts[0] + len(now)], now)[::-1]
        return round(float((alike / np.sqrt(then * np.square(now).sum() + 1e-14)).max()), 3)

    def _hums(self, window: np.ndarray, voice: float) -> bool:
        """Whether the window is a hum. The room noise is subtracted first, since a soft "mhm" is barely above it."""
        power = np.abs(np.fft.rfft(window * self._taper)) ** 2
        high, all_of_it = float(power[self._high].sum()), float(power.sum())
        if voice < QUIET and all_of_it > 0.0:  # a muted microphone delivers no room noise
            # The estimate falls immediately, but rises by only 10 % per window (3 dB in a quarter of a second).
            self._room = (min(high, 1.1 * self._room[0] + 1e-12), min(all_of_it, 1.1 * self._room[1] + 1e-12))
        if all_of_it < 4 * self._room[1]:
            return self._hummed  # not louder than the room noise, so keep the previous result
        self._hummed = high - 1.2 * self._room[0] < HUM_SHARE * (all_of_it - self._room[1])
        return self._hummed
