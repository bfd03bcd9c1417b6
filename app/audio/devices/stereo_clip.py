"""Plays one sound of two channels, from its beginning, on a loudspeaker of its own stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import soxr

from app.audio.devices.portaudio_stream import StreamOwner
from app.conversation.frame import SAMPLE_RATE


class StereoClip(StreamOwner):
    """Entering opens the loudspeaker and starts to play `samples`, float32 (n, 2) at 24 kHz; leaving stops. Opening
    raises `DeviceError`. A loudspeaker with one channel plays the mean of both.
    """

    kind = "loudspeaker"
    prepared = True

    def __init__(self, samples: np.ndarray, name: str | None = None) -> None:
        super().__init__(name)
        self._samples = samples
        self._next = 0

    def _prepare(self, rate: int, channels: int, block: int) -> Callable[..., None]:
        clip = self._samples if rate == SAMPLE_RATE else soxr.resample(self._samples, SAMPLE_RATE, rate)
        mixed = clip.mean(axis=1, keepdims=True) if channels == 1 else clip
        self._clip = np.ascontiguousarray(mixed, np.float32)
        self._next = 0
        return self._on_block

    def _discard(self) -> None:
        self._next = len(self._clip)

    # PortAudio's thread

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        part = self._clip[self._next : self._next + frames]
        block.fill(0.0)
        block[: len(part), : part.shape[1]] = part
        self._next += len(part)
