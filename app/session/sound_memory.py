"""Keeps the last minutes of both sides' audio in memory, to play a turn again.

Nothing is written to disk; the audio is gone with the session.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE, silence_flushed

KEPT_SECONDS = 300.0
"""How much the window keeps: five minutes of both sides in 16 bits are 29 MB."""


class SoundMemory:
    """The newest `seconds` of both sides, frame by frame on the session's clock."""

    def __init__(self, seconds: float) -> None:
        self._first = 0  # the number of the oldest frame that is kept
        most = max(1, round(seconds / FRAME_SECONDS))
        self._frames: dict[str, deque[np.ndarray]] = {"user": deque(maxlen=most), "assistant": deque(maxlen=most)}

    def add(self, index: int, user: np.ndarray, assistant: np.ndarray, flushed: int = 0) -> None:
        """Add both sides of frame `index`, float32 (1920,); `flushed`: samples written before that were never
        played.
        """
        mine, theirs = self._frames["user"], self._frames["assistant"]
        if not mine:
            self._first = index
        elif len(mine) == mine.maxlen:
            self._first += 1
        silence_flushed(theirs, flushed)
        mine.append(_to_16_bits(user))
        theirs.append(_to_16_bits(assistant))

    def cut(self, speaker: str, begin: float, end: float) -> np.ndarray | None:
        """Return a side's sound between two session times in seconds, float32 (n,); None where it is no longer kept."""
        frames = self._frames[speaker]
        if not frames or begin >= self._next * FRAME_SECONDS or end <= begin:
            return None
        if end <= self._first * FRAME_SECONDS:
            return None
        first = max(self._first, int(begin / FRAME_SECONDS))
        last = min(self._next, int(np.ceil(end / FRAME_SECONDS)))
        kept = np.concatenate([frames[n - self._first] for n in range(first, last)])
        from_sample = max(0, round((begin - first * FRAME_SECONDS) * SAMPLE_RATE))
        to_sample = round((end - first * FRAME_SECONDS) * SAMPLE_RATE)
        return kept[from_sample:to_sample].astype(np.float32) / 32768.0

    @property
    def _next(self) -> int:
        return self._first + len(self._frames["user"])


def _to_16_bits(samples: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)
