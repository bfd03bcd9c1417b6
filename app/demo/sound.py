"""Plays the sound of a replay on a loudspeaker, and stops it at any time."""

from __future__ import annotations

import asyncio
import contextlib

import numpy as np

from app.audio.devices.loudspeaker import StereoClip
from app.audio.io.base import AudioError


class DemoSound:
    """One sound at a time, on the loudspeaker of this name (empty: the system's default). Where there is none, nothing
    is heard.
    """

    def __init__(self, loudspeaker: str = "") -> None:
        self._loudspeaker = loudspeaker
        self._clip: StereoClip | None = None
        self._turn = asyncio.Lock()

    async def play(self, samples: np.ndarray) -> float:
        """Starts to play float32 (n, 2) at 24 kHz, in place of what is played; returns how late it is."""
        await self.stop()
        async with self._turn:
            clip = StereoClip(samples, self._loudspeaker or None)
            with contextlib.suppress(AudioError):
                await asyncio.to_thread(clip.__enter__)
                self._clip = clip
            return clip.latency

    async def stop(self) -> None:
        """Falls silent."""
        async with self._turn:
            clip, self._clip = self._clip, None
            if clip is not None:
                await asyncio.to_thread(clip.close)
