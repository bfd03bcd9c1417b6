"""Takes the app's own voice out of the microphone's sound, with WebRTC's audio processing (AEC3).

WebRTC comes in the package `livekit`; it is loaded only when wanted (half a second), and where it is missing or
broken the talk goes on without it. Knows nothing of devices, clocks or alignment: it is given both sounds in step.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.conversation.sound_processing import Processing
from app.platform.installation import packages_command

CHUNK = SAMPLE_RATE // 100
"""WebRTC's audio processing takes 10 ms at a time, as 16-bit numbers."""

FULL_SCALE = 32767.0

MISSING = (
    "The app's own voice can't be taken out of the microphone's sound: the part that does it could not be loaded "
    "({fault}). The talk goes on without it; use headphones, or set the app up again: "
    "{command}."
)
BROKE = (
    "Taking the app's own voice out of the microphone's sound has failed ({fault}). The talk goes on without it; "
    "use headphones until the next start."
)

_Chunk = Callable[[bytes], Any]


class _Module:
    """WebRTC's module for one `Processing`. Raises whatever the package raises when it can't be had."""

    def __init__(self, processing: Processing) -> None:
        # The package tells its doings to the log: nobody asked.
        logger = logging.getLogger("livekit")
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        from livekit.rtc import AudioFrame
        from livekit.rtc.apm import AudioProcessingModule

        self._module = AudioProcessingModule(
            echo_cancellation=processing.echo,
            noise_suppression=processing.noise,
            # AEC3 is tuned for sound without rumble, and the gain control must not chase it.
            high_pass_filter=processing.echo or processing.noise or processing.gain,
            auto_gain_control=processing.gain,
        )
        self._frame = AudioFrame
        self._echo = processing.echo

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        near16, far16 = _to_16_bit(near), _to_16_bit(far)
        out = np.empty(len(near), np.int16)
        for start in range(0, len(near), CHUNK):
            piece = slice(start, start + CHUNK)
            if self._echo:
                self._module.process_reverse_stream(self._frame(far16[piece].tobytes(), SAMPLE_RATE, 1, CHUNK))
            frame = self._frame(near16[piece].tobytes(), SAMPLE_RATE, 1, CHUNK)
            self._module.process_stream(frame)
            out[piece] = np.frombuffer(frame.data, np.int16)
        return out.astype(np.float32) * np.float32(1.0 / FULL_SCALE)


class EchoCanceller:
    """Processes as its `Processing` says. One thread calls `process`; any thread may call `set_processing`.

    `problem` is a sentence for the user while what is wanted can't be done, empty otherwise. Sound comes out some
    5 ms late when anything is done to it, and bit for bit when nothing is.
    """

    def __init__(self, processing: Processing) -> None:
        self.problem = ""
        self._lock = threading.Lock()
        self._wanted = processing
        self._made: tuple[Processing, _Module | None, _Module | None] = _NOTHING
        self._loading: threading.Thread | None = None

    @property
    def cancels(self) -> bool:
        """Whether the echo is taken out of what is processed now."""
        return self._made[0].echo

    def load(self) -> None:
        """Loads what is wanted and waits for it: 0.6 s the first time, so not on an event loop. Raises nothing."""
        with self._lock:
            wanted = self._wanted
            if wanted == self._made[0]:
                self.problem = ""
                return
            module = plain = None
            if wanted.echo or wanted.noise or wanted.gain:
                try:
                    module = _Module(wanted)
                    if wanted.echo and (wanted.noise or wanted.gain):
                        plain = _Module(replace(wanted, echo=False))
                except Exception as error:  # a package that doesn't fit this system can fail in any way
                    self._give_up(MISSING, error)
                    return
            self.problem = ""
            self._made = (wanted, module, plain)

    def set_processing(self, processing: Processing) -> None:
        """Processes in this way as soon as it can, without waiting: until then as before."""
        self._wanted = processing
        self._loading = threading.Thread(target=self.load, name="echo", daemon=True)
        self._loading.start()

    def settle(self) -> None:
        """Waits until the last `set_processing` has come into effect."""
        if self._loading is not None:
            self._loading.join()

    def process(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """`near` as it is wanted: float32 (n,) in and out, whole chunks. `far`: what the loudspeaker played.

        The same lengths, in step: an echo in `near` must not come before its origin in `far`.
        """
        module = self._made[1]
        if module is None:
            return near
        assert len(near) == len(far) and len(near) % CHUNK == 0
        try:
            return module.process(near, far)
        except Exception as error:
            self._give_up(BROKE, error)
            return near

    def process_without_echo(self, near: np.ndarray) -> np.ndarray:
        """`near` with all but the echo's part done to it: where there is none, that part takes words for it."""
        plain = self._made[2]
        return near if plain is None else plain.process(near, near)

    def _give_up(self, sentence: str, error: Exception) -> None:
        self._made = _NOTHING
        fault = f"{type(error).__name__}: {error}"[:160]
        self.problem = sentence.format(fault=fault, command=packages_command())


_NOTHING = (Processing(False, False, False), None, None)
"""What is wanted, what does it, and what does it without the echo's part."""


def _to_16_bit(samples: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(samples, -1.0, 1.0) * FULL_SCALE).astype(np.int16)
