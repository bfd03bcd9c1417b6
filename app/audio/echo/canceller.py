"""Echo cancellation, noise suppression and gain control with WebRTC's audio processing module (AEC3).

WebRTC is part of the `livekit` package, which takes half a second to load and is loaded only if needed. If it is
missing or broken, the session continues without it. `EarlyHops` holds the hops of an incomplete frame that have already
been processed.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

import numpy as np

from app.conversation.events import Processing
from app.conversation.frame import SAMPLE_RATE
from app.platform.installation import packages_command


class EarlyHops:
    """The hops processed early: microphone signal, far end, linear filter's residual, and output; float32 (n,) each."""

    def __init__(self) -> None:
        self.near: np.ndarray = np.zeros(0, np.float32)
        self.far = self.residual = self.out = self.near

    @property
    def samples(self) -> int:
        return len(self.near)

    def append(self, near: np.ndarray, far: np.ndarray, residual: np.ndarray, out: np.ndarray) -> None:
        """Appends the next hop of each signal."""
        self.near, self.far = joined(self.near, near), joined(self.far, far)
        self.residual, self.out = joined(self.residual, residual), joined(self.out, out)


def joined(early: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Concatenates the early hops and the rest of a frame. Returns `rest` itself if there are no early hops."""
    return np.concatenate([early, rest]) if len(early) else rest


CHUNK = SAMPLE_RATE // 100
"""Samples per call of WebRTC, which processes 10 ms at a time, as 16-bit integers."""

FULL_SCALE = 32767.0

MISSING = (
    "The app's own voice can't be taken out of the microphone's sound: the part that does it could not be loaded "
    "({fault}). The conversation continues without it; use headphones, or set the app up again: "
    "{command}."
)
BROKE = (
    "Taking the app's own voice out of the microphone's sound has failed ({fault}). The conversation continues without "
    "it; use headphones until the next start."
)


class _Module:
    """WebRTC's audio processing module for one `Processing`. The constructor propagates any import error."""

    def __init__(self, processing: Processing) -> None:
        logger = logging.getLogger("livekit")  # the package logs every operation
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        from livekit.rtc import AudioFrame
        from livekit.rtc.apm import AudioProcessingModule

        self._module = AudioProcessingModule(
            echo_cancellation=processing.echo,
            noise_suppression=processing.noise,
            # AEC3 is tuned for audio without rumble, and the gain control must not react to rumble either.
            high_pass_filter=processing.echo or processing.noise or processing.gain,
            auto_gain_control=processing.gain,
        )
        self._frame = AudioFrame
        self._echo = processing.echo

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        near16, far16 = _to_16_bit(near), _to_16_bit(far)
        out = np.empty(len(near), np.int16)
        for start in range(0, len(near), CHUNK):
            chunk = slice(start, start + CHUNK)
            if self._echo:
                self._module.process_reverse_stream(self._frame(far16[chunk].tobytes(), SAMPLE_RATE, 1, CHUNK))
            frame = self._frame(near16[chunk].tobytes(), SAMPLE_RATE, 1, CHUNK)
            self._module.process_stream(frame)
            out[chunk] = np.frombuffer(frame.data, np.int16)
        return out.astype(np.float32) * np.float32(1.0 / FULL_SCALE)


class EchoCanceller:
    """Applies a `Processing` to audio. One thread calls `process`; any thread may call `set_processing`.

    `problem` is a user-facing message while the processing is unavailable, otherwise empty. Processing delays the audio
    by about 5 ms. If nothing is enabled, samples pass through unchanged.
    """

    def __init__(self, processing: Processing) -> None:
        self.problem = ""
        self._lock = threading.Lock()
        self._requested = processing
        self._loaded: tuple[Processing, _Module | None, _Module | None] = _NOTHING

    @property
    def cancels(self) -> bool:
        """Whether echo cancellation is currently in effect."""
        return self._loaded[0].echo

    def load(self) -> None:
        """Loads the required modules. Never raises. The first call blocks for 0.6 s; don't call it on an event loop."""
        with self._lock:
            requested = self._requested
            if requested == self._loaded[0]:
                self.problem = ""
                return
            module = without_echo = None
            if requested.echo or requested.noise or requested.gain:
                try:
                    module = _Module(requested)
                    if requested.echo and (requested.noise or requested.gain):
                        without_echo = _Module(replace(requested, echo=False))
                except Exception as error:  # an incompatible package can fail in any way
                    self._fail(MISSING, error)
                    return
            self.problem = ""
            self._loaded = (requested, module, without_echo)

    def set_processing(self, processing: Processing) -> None:
        """Loads the modules for these settings in the background, then applies the settings."""
        self._requested = processing
        threading.Thread(target=self.load, name="echo", daemon=True).start()

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Returns the processed `near`, float32 (n,) in whole chunks. `far`: the audio that the loudspeaker played.

        Both have the same length and must be aligned so that no echo in `near` precedes its origin in `far`.
        """
        assert len(near) == len(far) and len(near) % CHUNK == 0
        return self._process(self._loaded[1], near, far)

    def process_without_echo(self, near: np.ndarray) -> np.ndarray:
        """Returns `near` processed without echo cancellation, which could mistake words for echo when there is none."""
        return self._process(self._loaded[2], near, near)

    def _process(self, module: _Module | None, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        if module is None:
            return near
        try:
            return module.process(near, far)
        except Exception as error:  # the conversation continues without processing
            self._fail(BROKE, error)
            return near

    def _fail(self, sentence: str, error: Exception) -> None:
        self._loaded = _NOTHING
        fault = f"{type(error).__name__}: {error}"[:160]
        self.problem = sentence.format(fault=fault, command=packages_command())


_NOTHING = (Processing(False, False, False), None, None)
"""The effective processing, its module, and the module for the same processing without echo cancellation."""


def _to_16_bit(samples: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(samples, -1.0, 1.0) * FULL_SCALE).astype(np.int16)
