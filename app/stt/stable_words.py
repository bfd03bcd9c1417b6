"""Stable words: a word is stable when two successive hypotheses agree on it and on all before it.

LocalAgreement-2 (Macháček, Dabre, Bojar: Turning Whisper into Real-Time Transcription System, 2023).
Stable words never change afterwards; a hypothesis that contradicts them is laid over what follows.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from app.conversation.words import fold
from app.stt.window_overlap import joined


class StableWords:
    """Follows the hypotheses of one growing stretch of sound."""

    def __init__(self) -> None:
        self._stable: list[str] = []
        self._last: list[str] = []
        self._agreed = 0  # how many of the stable words two hypotheses agreed on
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
            # Laid over by the words that both have, so that none is lost or doubled where they count differently.
            words = joined(" ".join(self._stable), hypothesis, min(1.0, count / len(words))).split()
            words = [*self._stable, *words[count:]]
        agreed = _shared(self._last, words)
        if agreed > count:
            # The hypothesis' own spelling and punctuation, except of the newest word: that may yet change.
            self._stable = [*self._stable, *words[count:agreed]]
        self._agreed = len(self._stable)
        self._last = words
        return " ".join(self._stable), " ".join(words[len(self._stable) :])

    def settle(self, hypothesis: str) -> str:
        """Nothing new was said since: all of the hypothesis is stable now, with what it skips of the stable words."""
        words = with_skipped(self._stable, hypothesis.split())
        self._agreed = max(_shared(self._stable[: self._agreed], words), _shared(self._last, words))
        self._stable = words
        self._last = list(self._stable)
        return " ".join(self._stable)

    def reopen(self) -> None:
        """More is said after all: words that only the last hypothesis had may change again."""
        self._stable = self._stable[: self._agreed]


SKIPPED_WORDS = 2
"""So many words in a row that were stable and are missing were skipped; one alone was misheard before."""


def with_skipped(stable: list[str], words: list[str]) -> list[str]:
    """`words` with those put in that were stable and that they skip.

    Whisper ends early at times, at a pause mostly, and leaves out what follows, though it has told it before.
    """
    out: list[str] = []
    blocks = SequenceMatcher(None, [fold(word) for word in stable], [fold(word) for word in words], autojunk=False)
    for what, a, b, c, d in blocks.get_opcodes():
        # A long piece replaced by a word or two is mostly skipped, too.
        skipped = what != "insert" and b - a >= SKIPPED_WORDS and (d - c) * 3 <= b - a
        out += stable[a:b] if skipped else words[c:d]
    return out


def _shared(a: list[str], b: list[str]) -> int:
    """How many words two lists share from the start, whatever their case and punctuation."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if fold(x) != fold(y):
            break
        count += 1
    return count
