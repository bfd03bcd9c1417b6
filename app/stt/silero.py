"""Voice activity detection with Silero VAD v6, as faster-whisper ships it, streamed window by window.

Also distinguishes a closed-mouth hum ("mhm") from speech by its spectrum, and measures how periodic each window is.
Runs on the frame thread: 0.4 ms a frame.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE, Frame
from app.conversation.voice import VoiceWindow
from app.models.onnx import open_onnx
from app.stt.whisper_library import faster_whisper

VAD_RATE = 16_000
WINDOW = 512
"""Samples at 16 kHz: 32 ms, the one window size that this model takes."""
CONTEXT = 64
"""Samples of the window before, which the model takes in front of each window."""

HUM_SHARE = 0.005
"""A hum has less than this share of its energy above 1 kHz (-23 dB): a closed mouth lets nothing higher through. Hums
as in the tests have -28 dB and less, nine in ten of the first windows of spoken words more than -25 dB."""

QUIET = 0.15
"""Probability of voice below which a window has the room's noise alone."""

RESTED = 31
"""Windows of quiet (1 s) after which the model has forgotten the last voice; its state is kept as it is then..."""
REFRESH = 8
"""... and set back to that every so many windows (0.26 s) of further quiet.

In a long silence the model's state drifts on (the largest of its cells counts from 70 up to 490 in 16 s), and the next
word is detected later. Over 294 onsets of speech, in rooms of -65 and -50 dBFS, it takes 81 ms (median) to give 0.7 one
second after a voice, 98 ms after 4 s and 139 ms after 20 s of silence; with the state kept, 65 to 69 ms."""

PITCH_HZ = (60, 400)
"""The range of the pitch of speech, from a low man's voice to a lively woman's."""
VOICING_BAND_HZ = 1000
"""Voicing is measured below this: the first harmonics, which are farthest above the noise of room and breath. Nine in
ten sure windows of speech reach 0.6 there and half of them 0.94, hiss and breath 0.2 to 0.4, a throat's creak 0.3 to
0.6."""
LOW_PASS = 65
"""Taps of the low pass that cuts there (4 ms: its slope is 500 Hz wide)."""


@cache
def _load() -> Any:
    """Loads the model, one for all sessions: it is small, keeps no state, and several threads may run it at once."""
    assets = faster_whisper("utils").get_assets_path()
    return open_onnx(Path(assets, "silero_vad_v6.onnx"), errors_only=True)


class SileroVoiceActivity:
    """The detector of one session, which keeps the model's state from frame to frame."""

    def __init__(self) -> None:
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, VAD_RATE, 1, dtype="float32", quality="LQ")
        self._rest: np.ndarray = np.zeros(0, np.float32)
        self._context: np.ndarray = np.zeros(CONTEXT, np.float32)
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)
        self._rested = (self._h, self._c)
        self._quiet = 0  # windows of unbroken quiet
        self._windows = 0
        self._before = np.zeros(WINDOW, np.float32)
        self._high = np.fft.rfftfreq(WINDOW, 1 / VAD_RATE) >= 1000
        self._room = (1e9, 1e9)  # power of the room alone, above 1 kHz and altogether
        self._hummed = False
        self._taper = np.hanning(WINDOW).astype(np.float32)
        taps = np.arange(-(LOW_PASS // 2), LOW_PASS // 2 + 1) * (2 * VOICING_BAND_HZ / VAD_RATE)
        self._low_pass = (np.sinc(taps) * np.hanning(LOW_PASS + 2)[1:-1]).astype(np.float32)
        shortest, longest = (VAD_RATE // 2 // hz for hz in reversed(PITCH_HZ))
        self._lags = np.arange(shortest, longest + 1)

    def load(self) -> None:
        """Loads the model: half a second with its libraries, which the first `hear` would take otherwise."""
        _load()

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        self._rest = np.concatenate([self._rest, self._resampler.resample_chunk(frame.samples)])
        out = []
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            self._windows += 1
            probability, self._h, self._c = _load().run(
                None, {"input": np.concatenate([self._context, window])[None], "h": self._h, "c": self._c}
            )
            self._context = window[-CONTEXT:]
            end = round(self._windows * WINDOW / VAD_RATE, 6)
            voice = float(probability.reshape(-1)[0])
            self._rest_state(voice)
            level = 10 * np.log10(float(np.square(window).mean()) + 1e-12)
            hum = self._hums(window, voice)
            out.append(VoiceWindow(end, voice, hum, round(level, 1), self._voicing(window)))
        return out

    def _rest_state(self, voice: float) -> None:
        """Keeps the model's state from drifting in a long quiet."""
        self._quiet = self._quiet + 1 if voice < QUIET else 0
        if self._quiet == RESTED:
            self._rested = (self._h, self._c)
        elif self._quiet > RESTED and (self._quiet - RESTED) % REFRESH == 0:
            self._h, self._c = self._rested

    def _voicing(self, window: np.ndarray) -> float:
        """How periodic the window is: its highest normalised correlation with the sound one pitch period before."""
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
        """Whether the window is a hum. The room's noise is subtracted first: a soft "mhm" is not far above it."""
        power = np.abs(np.fft.rfft(window * self._taper)) ** 2
        high, all_of_it = float(power[self._high].sum()), float(power.sum())
        if voice < QUIET and all_of_it > 0.0:  # a muted microphone gives no sound of the room
            # Falls at once, rises by a tenth a window (3 dB in a quarter of a second).
            self._room = (min(high, 1.1 * self._room[0] + 1e-12), min(all_of_it, 1.1 * self._room[1] + 1e-12))
        if all_of_it < 4 * self._room[1]:
            return self._hummed  # no louder than the room: as the window before
        self._hummed = high - 1.2 * self._room[0] < HUM_SHARE * (all_of_it - self._room[1])
        return self._hummed
