"""Estimates how loud the user speaks, so that much softer voices are not mistaken for the user."""

from __future__ import annotations

import statistics
from collections import deque

TURNS = 5
"""The estimate is the median of this many of the user's last turns."""
FADE_DB = 0.1
"""Subtracted for each second since the last turn, so that a user who has moved away is heard again after a while."""


class SpeechLevel:
    """Takes the levels (dBFS) of one turn's voiced windows after the other."""

    def __init__(self) -> None:
        self._turn: list[float] = []
        self._turns: deque[float] = deque(maxlen=TURNS)
        self._ended_at = 0.0

    def start_turn(self) -> None:
        """Forgets the windows of a turn that was not kept."""
        self._turn = []

    def add(self, level: float) -> None:
        """Adds a voiced window of the current turn."""
        self._turn.append(level)

    def keep_turn(self, at: float) -> None:
        """Counts the current turn, which ended at `at`."""
        if self._turn:
            # Four fifths of a turn's windows are softer: pauses, consonants, unstressed vowels.
            self._turns.append(sorted(self._turn)[len(self._turn) * 4 // 5])
            self._ended_at = at

    def estimate(self, at: float) -> float | None:
        """Level of the loud part of the user's speech in dBFS; None before the first turn."""
        if not self._turns:
            return None
        return statistics.median(self._turns) - FADE_DB * (at - self._ended_at)
