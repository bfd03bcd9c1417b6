"""Compares recognised words with what was said."""

from __future__ import annotations

from collections.abc import Iterable

import jiwer

from app.conversation.words import fold

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def word_distance(reference: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Substitutions, insertions and deletions between two word lists (Levenshtein)."""
    if not reference or not words:
        return len(reference) + len(words)
    found = jiwer.process_words(" ".join(reference), " ".join(words))
    return found.substitutions + found.insertions + found.deletions


def normalised(text: str) -> tuple[str, ...]:
    """The words of `text` for a comparison: no case, no punctuation, numbers below a hundred in digits, no "um"."""
    out: list[str] = []
    tens = False
    for word in fold(text.replace("-", " ")):
        number = _NUMBERS.get(word)
        if tens and number is not None and 0 < number < 10:
            out[-1], tens = str(int(out[-1]) + number), False
            continue
        tens = number is not None and number >= 20
        out += [str(number)] if number is not None else _SPELLINGS.get(word, word).split()
    return tuple(out)


def compare(pairs: Iterable[tuple[str, str]]) -> jiwer.WordOutput:
    """Compares all pairs of what was said and what was recognised, after normalisation."""
    pairs = [(" ".join(normalised(said)), " ".join(normalised(heard))) for said, heard in pairs]
    return jiwer.process_words([said for said, _ in pairs], [heard for _, heard in pairs])
