"""Keeps the levels of both sides' sound, frame by frame, for the last half hour of a conversation. Unknown frames are
gaps.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from app.conversation.frame import FRAME_SECONDS

LOWEST_DB = -60.0
LONGEST_BRIDGE = 5
"""Gaps of so many frames (0.4 s) are bridged: the window was busy while the conversation continued."""


class Levels:
    """A ring buffer of `frames` frames, with 8 bytes a frame."""

    def __init__(self, frames: int) -> None:
        self._size = frames
        self._ring = np.full((2, frames), np.nan, np.float32)
        self.newest = -1
        """Index of the newest frame, -1 before the first."""

    @property
    def oldest(self) -> int:
        """Index of the oldest frame that is kept."""
        return max(0, self.newest - self._size + 1)

    def add(self, at: float, user_dbfs: float, assistant_dbfs: float) -> None:
        """Adds the levels of the frame that ended at `at`, in seconds. Frames that are too old are ignored."""
        frame = round(at / FRAME_SECONDS) - 1
        if frame < self.oldest or frame < 0:
            return
        missing = min(frame - self.newest - 1, self._size)
        if missing > 0:
            self._ring[:, np.arange(frame - missing, frame) % self._size] = np.nan
        self.newest = max(self.newest, frame)
        self._ring[:, frame % self._size] = (user_dbfs, assistant_dbfs)

    def between(self, earliest: float, latest: float) -> tuple[np.ndarray, np.ndarray]:
        """The frames that overlap a window: the seconds of their middles, shape (n,), and how loud the user and the
        assistant were, shape (2, n), from 0 (silence, -60 dBFS) to 1 (full scale); NaN in gaps.
        """
        first = max(self.oldest, int(earliest / FRAME_SECONDS))
        last = min(self.newest, int(latest / FRAME_SECONDS))
        if last < first:
            return np.zeros(0), np.zeros((2, 0), np.float32)
        # A gap at the window's edge can only be bridged if both of its ends are read.
        wide_first = max(self.oldest, first - LONGEST_BRIDGE)
        frames = np.arange(wide_first, min(self.newest, last + LONGEST_BRIDGE) + 1)
        decibels = self._ring[:, frames % self._size].copy()
        _bridge(decibels)
        inner = slice(first - wide_first, last - wide_first + 1)
        shares = np.clip((decibels[:, inner] - LOWEST_DB) / -LOWEST_DB, 0.0, 1.0)
        return (frames[inner] + 0.5) * FRAME_SECONDS, shares

    def at(self, time: float) -> tuple[float, float] | None:
        """The levels of both in dBFS at a time; None where none is known."""
        frame = int(time / FRAME_SECONDS)
        if not self.oldest <= frame <= self.newest:
            return None
        user, assistant = self._ring[:, frame % self._size].tolist()
        return None if user != user else (user, assistant)


def _bridge(decibels: np.ndarray) -> None:
    known = np.flatnonzero(~np.isnan(decibels[0]))
    for before, behind in pairwise(known):
        if 1 < behind - before <= LONGEST_BRIDGE + 1:
            share = np.arange(1, behind - before) / (behind - before)
            steps = decibels[:, behind : behind + 1] - decibels[:, before : before + 1]
            decibels[:, before + 1 : behind] = decibels[:, before : before + 1] + steps * share
