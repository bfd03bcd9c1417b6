"""Stable words: a word is stable when two successive hypotheses agree on it and on all before it.

LocalAgreement-2 (Macháček, Dabre, Bojar: Turning Whisper into Real-Time Transcription System, 2023). Stable words never
change afterwards; a hypothesis that contradicts them is joined to them by the words that both have, as are the words of
two windows of sound that overlap.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from app.conversation.words import fold


class StableWords:
    """Follows the hypotheses for one growing stretch of sound."""

    def __init__(self) -> None:
        self._stable: list[str] = []
        self._last: list[str] = []
        self._agreed = 0  # how many of the stable words two hypotheses agreed on
        self.contradicted = 0
        """How many hypotheses disagreed with words that were stable already."""

    @property
    def all(self) -> str:
        """The stable words, followed by what the last hypothesis has more."""
        return " ".join([*self._stable, *self._last[len(self._stable) :]])

    def update(self, hypothesis: str) -> tuple[str, str]:
        """Takes the newest hypothesis of the whole stretch; returns (stable, unstable) words."""
        words = hypothesis.split()
        count = len(self._stable)
        if _shared(self._stable, words) < min(count, len(words)):
            self.contradicted += 1
            # Joined by the words that both have, so that none is lost or doubled where they count differently.
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
        """Makes all of the hypothesis stable, since nothing was said after it, with the stable words that it skips."""
        words = with_skipped(self._stable, hypothesis.split())
        self._agreed = max(_shared(self._stable[: self._agreed], words), _shared(self._last, words))
        self._stable = words
        self._last = list(self._stable)
        return " ".join(self._stable)

    def reopen(self) -> None:
        """Lets words that only the last hypothesis had change again, since more is said after all."""
        self._stable = self._stable[: self._agreed]


SKIPPED_WORDS = 2
"""So many stable words in a row that are missing were skipped; one alone was misheard before."""


def with_skipped(stable: list[str], words: list[str]) -> list[str]:
    """`words` with the stable words that they skip.

    Whisper ends early at times, mostly at a pause, and leaves out what follows, though it has given it before.
    """
    out: list[str] = []
    blocks = SequenceMatcher(None, [fold(word) for word in stable], [fold(word) for word in words], autojunk=False)
    for what, a, b, c, d in blocks.get_opcodes():
        # A long piece replaced by a word or two is mostly skipped, too.
        skipped = what != "insert" and b - a >= SKIPPED_WORDS and (d - c) * 3 <= b - a
        out += stable[a:b] if skipped else words[c:d]
    return out


def _shared(a: list[str], b: list[str]) -> int:
    """The number of words that two lists share from the start, ignoring case and punctuation."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if fold(x) != fold(y):
            break
        count += 1
    return count


def joined(before: str, after: str, overlap: float) -> str:
    """The words of two windows of sound; `overlap`: the share of `after`'s sound (0 to 1) that `before` has, too.

    They are joined at the longest run of words that both have: what `before` has after it and `after` before it is
    dropped, since the words at a window's edges may be halves. Without such a run, the share of the words of `after`
    that the overlap must hold is dropped.
    """
    old, new = before.split(), after.split()
    if not old or not new:
        return " ".join(old or new)
    common = overlap * len(new)
    reach = round(1.5 * common) + 3  # nobody speaks evenly
    first = max(0, len(old) - reach)
    keys = [" ".join(fold(word)) for word in old[first:]]
    heads = [" ".join(fold(word)) for word in new[:reach]]
    match = SequenceMatcher(None, keys, heads, autojunk=False).find_longest_match()
    # One short word may be in both by chance; two in a row, or a long one, are hardly.
    if match.size >= 2 or (match.size == 1 and len(keys[match.a]) >= 5):
        return " ".join([*old[: first + match.a], *new[match.b :]])
    return " ".join([*old, *new[round(common) :]])
