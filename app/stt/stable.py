"""Stable words: a word is stable when two successive hypotheses agree on it and on all before it.

LocalAgreement-2 (Macháček, Dabre, Bojar: Turning Whisper into Real-Time Transcription System, 2023).
Stable words never change afterwards; a hypothesis that contradicts them is laid over what follows.
"""

from __future__ import annotations

from app.conversation.words import fold


class StableWords:
    """Follows the hypotheses of one growing stretch of sound."""

    def __init__(self) -> None:
        self._stable: list[str] = []
        self._last: list[str] = []
        self.contradicted = 0
        """How many hypotheses disagreed with words that were stable already."""

    @property
    def all(self) -> str:
        """The stable words and, behind them, what the last hypothesis has more."""
        return " ".join([*self._stable, *self._last[len(self._stable) :]])

    def update(self, hypothesis: str) -> tuple[str, str]:
        """Takes the newest hypothesis of the whole stretch; returns (stable, unstable) words."""
        words = hypothesis.split()
        count = len(self._stable)
        if _shared(self._stable, words) < min(count, len(words)):
            self.contradicted += 1
        agreed = _shared(self._last, words)
        if agreed > count:
            # The hypothesis' own spelling and punctuation, except of the newest word: that may yet change.
            self._stable = [*self._stable, *words[count:agreed]]
        self._last = words
        return " ".join(self._stable), " ".join(words[len(self._stable) :])

    def settle(self, hypothesis: str) -> str:
        """The stretch is over, and this is what it was: all of it is stable from now on."""
        self._stable = hypothesis.split()
        self._last = list(self._stable)
        return " ".join(self._stable)


def _shared(a: list[str], b: list[str]) -> int:
    """How many words two lists share from the start, whatever their case and punctuation."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if fold(x) != fold(y):
            break
        count += 1
    return count
