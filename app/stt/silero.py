"""Voice activity with Silero VAD v6, as faster-whisper ships it, streamed window by window.

Also tells a closed-mouth hum ("mhm") from speech by its spectrum. Runs on the frame thread: 0.3 ms a frame.
"""

from __future__ import annotations

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE, Frame
from app.conversation.voice import VoiceWindow

VAD_RATE = 16_000
WINDOW = 512
"""Samples at 16 kHz: 32 ms, the one window size that this model takes."""
CONTEXT = 64
"""Samples of the window before, which the model wants in front of each window."""

HUM_SHARE = 0.005
"""A hum has less than this share of its energy above 1 kHz (-23 dB): a closed mouth lets nothing higher through. Hums
as in the tests have -28 dB and less, nine in ten of the first windows of spoken words more than -25 dB."""

QUIET = 0.15
"""Probability of voice below which a window shows the room alone."""


class SileroVoiceActivity:
    """Keeps the model's state from frame to frame; one object a session."""

    def __init__(self) -> None:
        import onnxruntime
        from faster_whisper.utils import get_assets_path

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._model = onnxruntime.InferenceSession(
            f"{get_assets_path()}/silero_vad_v6.onnx", options, providers=["CPUExecutionProvider"]
        )
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, VAD_RATE, 1, dtype="float32", quality="LQ")
        self._rest = np.zeros(0, np.float32)
        self._context = np.zeros(CONTEXT, np.float32)
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)
        self._windows = 0
        self._high = np.fft.rfftfreq(WINDOW, 1 / VAD_RATE) >= 1000
        self._room = (1e9, 1e9)  # power of the room alone, above 1 kHz and altogether
        self._hummed = False
        self._taper = np.hanning(WINDOW).astype(np.float32)

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        """See `VoiceActivity.hear`."""
        self._rest = np.concatenate([self._rest, self._resampler.resample_chunk(frame.samples)])
        out = []
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            self._windows += 1
            probability, self._h, self._c = self._model.run(
                None, {"input": np.concatenate([self._context, window])[None], "h": self._h, "c": self._c}
            )
            self._context = window[-CONTEXT:]
            end = round(self._windows * WINDOW / VAD_RATE, 6)
            voice = float(probability.reshape(-1)[0])
            level = 10 * np.log10(float(np.square(window).mean()) + 1e-12)
            out.append(VoiceWindow(end, voice, self._hums(window, voice), round(level, 1)))
        return out

    def _hums(self, window: np.ndarray, voice: float) -> bool:
        """Whether the window hums. The room's own noise is taken off first: a soft "mhm" is not far above it."""
        power = np.abs(np.fft.rfft(window * self._taper)) ** 2
        high, all_of_it = float(power[self._high].sum()), float(power.sum())
        if voice < QUIET:
            # Falls at once, rises by a tenth a window (3 dB in a quarter of a second).
            self._room = (min(high, 1.1 * self._room[0] + 1e-12), min(all_of_it, 1.1 * self._room[1] + 1e-12))
        if all_of_it < 4 * self._room[1]:
            return self._hummed  # no louder than the room: it goes with the window before
        self._hummed = high - 1.2 * self._room[0] < HUM_SHARE * (all_of_it - self._room[1])
        return self._hummed
