"""Plays the audio of a replay, which can be stopped at any time."""

from __future__ import annotations

import asyncio
import contextlib

import numpy as np

from app.audio.devices.loudspeaker import StereoClip
from app.audio.io.base import AudioError


class DemoSound:
    """Plays one clip at a time on the named loudspeaker, or on the system's default if the name is empty.

    Does nothing if the device is unavailable.
    """

    def __init__(self, loudspeaker: str = "") -> None:
        self._loudspeaker = loudspeaker
        self._clip: StereoClip | None = None
        self._turn = asyncio.Lock()

    async def play(self, samples: np.ndarray) -> float:
        """Plays float32 (n, 2) samples at 24 kHz, replacing the current clip; returns the output latency in seconds."""
        await self.stop()
        async with self._turn:
            clip = StereoClip(samples, self._loudspeaker or None)
            with contextlib.suppress(AudioError):
                await asyncio.to_thread(clip.__enter__)
                self._clip = clip
            return clip.latency

    async def stop(self) -> None:
        """Stops playback; a no-op if nothing is playing."""
        async with self._turn:
            clip, self._clip = self._clip, None
            if clip is not None:
                await asyncio.to_thread(clip.close)
