"""Stable words: a word is stable once two successive hypotheses agree on it and on every word before it.

This is LocalAgreement-2 (Macháček, Dabre, Bojar: Turning Whisper into Real-Time Transcription System, 2023). A
hypothesis that contradicts the stable words is aligned with them at the words that both share. The words of two
overlapping windows of audio are aligned in the same way.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from app.conversation.words import fold


class StableWords:
    """Tracks the hypotheses for one growing stretch of audio."""

    def __init__(self) -> None:
        self._stable: list[str] = []
        self._last: list[str] = []
        self._agreed = 0  # number of stable words that two hypotheses agreed on

    @property
    def all(self) -> str:
        """The stable words, followed by any further words of the last hypothesis."""
        return " ".join([*self._stable, *self._last[len(self._stable) :]])

    def update(self, hypothesis: str) -> tuple[str, str]:
        """Adds the newest hypothesis for the whole stretch and returns the (stable, unstable) words."""
        words = hypothesis.split()
        count = len(self._stable)
        if _shared(self._stable, words) < min(count, len(words)):
            # Align by shared words, so that no word is lost or duplicated if the word counts differ.
            words = joined(" ".join(self._stable), hypothesis, min(1.0, count / len(words))).split()
            words = [*self._stable, *words[count:]]
        agreed = _shared(self._last, words)
        if agreed > count:
            # Words take their spelling and punctuation from the latest hypothesis when they become stable.
            self._stable = [*self._stable, *words[count:agreed]]
        self._agreed = len(self._stable)
        self._last = words
        return " ".join(self._stable), " ".join(words[len(self._stable) :])

    def settle(self, hypothesis: str) -> str:
        """Makes a hypothesis stable at a pause, restoring any stable words that it skips. Returns all words."""
        words = with_skipped(self._stable, hypothesis.split())
        self._agreed = max(_shared(self._stable[: self._agreed], words), _shared(self._last, words))
        self._stable = words
        self._last = list(self._stable)
        return " ".join(self._stable)

    def reopen(self) -> None:
        """Undoes `settle` for words that only the last hypothesis contained, since the user is speaking again."""
        self._stable = self._stable[: self._agreed]


SKIPPED_WORDS = 2
"""Minimum number of consecutive missing stable words that count as skipped; a single one was likely misrecognised."""


def with_skipped(stable: list[str], words: list[str]) -> list[str]:
    """Returns `words` with any skipped stable words restored.

    Whisper sometimes stops early, mostly at a pause, and omits words that earlier passes contained.
    """
    out: list[str] = []
    blocks = SequenceMatcher(None, [fold(word) for word in stable], [fold(word) for word in words], autojunk=False)
    for what, a, b, c, d in blocks.get_opcodes():
        # A long passage replaced by one or two words was mostly skipped, too.
        skipped = what != "insert" and b - a >= SKIPPED_WORDS and (d - c) * 3 <= b - a
        out += stable[a:b] if skipped else words[c:d]
    return out


def _shared(a: list[str], b: list[str]) -> int:
    """Returns how many leading words two lists share, ignoring case and punctuation."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if fold(x) != fold(y):
            break
        count += 1
    return count


def joined(before: str, after: str, overlap: float) -> str:
    """Joins the words of two overlapping windows. `overlap`: the share (0 to 1) of `after`'s audio covered by `before`.

    The windows are joined at their longest common run of words. Words after that run in `before`, or before it in
    `after`, are dropped, because a word at the edge of a window may be cut off. Without a common run, the words of
    `after` expected to lie in the overlap are dropped.
    """
    old, new = before.split(), after.split()
    if not old or not new:
        return " ".join(old or new)
    common = overlap * len(new)
    reach = round(1.5 * common) + 3  # speech isn't evenly paced
    first = max(0, len(old) - reach)
    keys = [" ".join(fold(word)) for word in old[first:]]
    heads = [" ".join(fold(word)) for word in new[:reach]]
    match = SequenceMatcher(None, keys, heads, autojunk=False).find_longest_match()
    # Both may contain the same short word by chance, but rarely the same long word or two words in a row.
    if match.size >= 2 or (match.size == 1 and len(keys[match.a]) >= 5):
        return " ".join([*old[: first + match.a], *new[match.b :]])
    return " ".join([*old, *new[round(common) :]])
