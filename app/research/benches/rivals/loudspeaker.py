"""A silent loudspeaker that plays what a process gives it at the pace of sound, and remembers what was played when."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE

FLOOR = 0.01
"""Amplitude from which a played sound is heard: -40 dBFS."""


class RecordingLoudspeaker:
    """Times are those of the clock `now`, in seconds. Any thread may call it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pieces: list[tuple[float, np.ndarray]] = []  # when each begins to sound
        self._dry_at = 0.0
        self._lock = threading.Lock()

    def play(self, rate: int, samples: np.ndarray) -> None:
        """Plays int16 samples behind what is playing."""
        sound = samples.astype(np.float32) / 32768.0
        if rate != SAMPLE_RATE:
            sound = soxr.resample(sound, rate, SAMPLE_RATE).astype(np.float32)
        with self._lock:
            begin = max(self._dry_at, self._now())
            self._pieces.append((begin, sound))
            self._dry_at = begin + len(sound) / SAMPLE_RATE

    def flush(self) -> None:
        """Silences what has not been played."""
        with self._lock:
            now = self._now()
            for begin, sound in reversed(self._pieces):
                if begin + len(sound) / SAMPLE_RATE <= now:
                    break
                sound[max(0, round((now - begin) * SAMPLE_RATE)) :] = 0.0
            self._dry_at = min(self._dry_at, now)

    @property
    def quiet_for(self) -> float:
        """Seconds since the last sound; negative while something is still to be played."""
        with self._lock:
            return self._now() - self._dry_at

    def played(self, begin: float, end: float) -> np.ndarray:
        """What was played between two times: float32 24 kHz."""
        out = np.zeros(max(0, round((end - begin) * SAMPLE_RATE)), np.float32)
        with self._lock:
            pieces = list(self._pieces)
        for at, sound in pieces:
            start = round((at - begin) * SAMPLE_RATE)
            first, last = max(0, start), min(len(out), start + len(sound))
            if first < last:
                out[first:last] += sound[first - start : last - start]
        return out
