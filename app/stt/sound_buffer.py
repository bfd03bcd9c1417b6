"""Keeps the user's newest sound at 16 kHz, and finds where a turn's sound starts."""

from __future__ import annotations

from collections import deque

import numpy as np
import soxr

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.stt.base import RATE
from app.stt.loudness import quiet_before

PREROLL_SECONDS = 0.4
"""Sound kept before voice was detected, even where the app was speaking: an onset takes 64 to 100 ms to detect, and a
consonant leads it."""
LONGEST_PREROLL_SECONDS = 2.5
"""Where the app was silent, the sound starts in the last silence before that, at most so far back: the detector may
have missed a soft first word."""


class SoundBuffer:
    """Sound from sample `first` to before sample `last`, counted at 16 kHz from the start of the session."""

    def __init__(self) -> None:
        self.first = 0
        self.last = 0
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, RATE, 1, dtype="float32", quality="MQ")
        self._blocks: deque[np.ndarray] = deque()
        self._started = False  # it may be in mid-session

    def push(self, frame: Frame) -> None:
        """Appends a frame (24 kHz)."""
        if not self._started:
            self._started = True
            self.first = self.last = frame.index * FRAME_SAMPLES * RATE // SAMPLE_RATE
        block = self._resampler.resample_chunk(frame.samples)
        self._blocks.append(block)
        self.last += len(block)

    def forget_before(self, sample: int) -> None:
        """Frees the sound before `sample`, to a block's length."""
        while self._blocks and self.first + len(self._blocks[0]) <= sample:
            self.first += len(self._blocks.popleft())

    def sound(self, start: int, end: int) -> np.ndarray:
        """What is kept from sample `start` to before `end`: float32."""
        if not self._blocks:
            return np.zeros(0, np.float32)
        return np.concatenate(self._blocks)[max(0, start - self.first) : max(0, end - self.first)]

    def onset(self, at: float, silent_since: float, not_before: int) -> int:
        """The sample at which a turn's sound starts whose voice was detected at session time `at`.

        `silent_since`: since when the app has been silent. `not_before`: up to there it is an earlier turn's sound.
        """
        earliest = max(self.first, not_before)
        start = max(earliest, int((at - PREROLL_SECONDS) * RATE))
        clear = max(earliest, int(silent_since * RATE), int((at - LONGEST_PREROLL_SECONDS) * RATE))
        if clear >= start:
            return start
        return clear + quiet_before(self.sound(clear, self.last), start - clear)
