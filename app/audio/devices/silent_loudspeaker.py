"""Stands in for a loudspeaker where there is none: it takes samples at the pace of sound, and nobody hears them."""

from __future__ import annotations

import time

import numpy as np

from app.audio.io.playback_position import Playback
from app.conversation.frame import SAMPLE_RATE


class SilentLoudspeaker:
    """Has the counters of a `Loudspeaker`, so that what is said to nobody keeps the pace of speech. Not thread-safe."""

    finished = False
    underruns = 0
    prebuffer_seconds = 0.0
    name = "no loudspeaker"

    def __init__(self) -> None:
        self._written = self._flushed = self._played = 0
        self._dry_at = 0.0  # by `time.monotonic`
        self._paused_at: float | None = None

    def playback(self) -> Playback:
        now = self._now()
        waiting = round(max(0.0, self._dry_at - now) * SAMPLE_RATE)
        self._played = max(self._played, self._written - self._flushed - waiting)  # it never falls, by rounding either
        queued = self._written - self._flushed - self._played
        return Playback(self._written, self._played, queued, self._flushed, 0)

    def write(self, samples: np.ndarray) -> None:
        self.playback()
        self._dry_at = max(self._dry_at, self._now()) + samples.size / SAMPLE_RATE
        self._written += samples.size

    def flush(self) -> int:
        queued = self.playback().queued
        self._flushed += queued
        self._dry_at, self._paused_at = 0.0, None
        return queued

    def pause_playback(self) -> None:
        if self._paused_at is None:
            self._paused_at = time.monotonic()

    def resume_playback(self) -> None:
        if self._paused_at is not None:
            if self._dry_at > self._paused_at:
                self._dry_at += time.monotonic() - self._paused_at
            self._paused_at = None

    def _now(self) -> float:
        return time.monotonic() if self._paused_at is None else self._paused_at
