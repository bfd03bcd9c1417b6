"""Splits and compares words: folding, backchannels, echoes, and gathering a stream into whole words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from app.conversation.languages import ENGLISH, language

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_HUM = re.compile(r"[mhn.]+|u+h+|o+h+|a+h+")
"""How recognisers write a hum: "MMMM", "M.H.M.", "Ohh"."""


def fold(text: str) -> tuple[str, ...]:
    """Returns the words of `text` for comparison: lower case, no punctuation, Unicode normalised."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return tuple(_WORD.findall(text))


def same_words(a: str, b: str) -> bool:
    """Whether two texts have the same words, ignoring punctuation and case."""
    return fold(a) == fold(b)


def is_backchannel(text: str, code: str = ENGLISH) -> bool:
    """Whether `text` only encourages the speaker ("mhm", "okay, right" in the language `code`) or has no words."""
    known = language(code).backchannels
    words = fold(text.replace("-", " "))
    if len(words) > 4:
        return False
    place = 0
    while place < len(words):
        if " ".join(words[place : place + 2]) in known:
            place += 2
        elif words[place] in known or _HUM.fullmatch(words[place]):
            place += 1
        else:
            return False
    return True


LONGEST_PHRASE = 5
"""Words in the longest phrase of `Language.waits`."""


def asks_to_wait(text: str, code: str = ENGLISH) -> bool:
    """Whether `text` as a whole asks the assistant to be silent and wait ("wait, wait", "one moment, please")."""
    known, words = language(code).waits, fold(text.replace("-", " "))
    place = 0
    while place < len(words):
        sizes = range(min(LONGEST_PHRASE, len(words) - place), 0, -1)
        size = next((size for size in sizes if " ".join(words[place : place + size]) in known), 0)
        if not size:
            return False
        place += size
    return place > 0


def consents(text: str, code: str = ENGLISH) -> bool:
    """Whether `text` as a whole allows what the assistant has asked for ("yes, do it"); not with any word more."""
    return " ".join(fold(text.replace("-", " "))) in _consents(code)


@cache
def _consents(code: str) -> frozenset[str]:
    return frozenset(" ".join(fold(phrase.replace("-", " "))) for phrase in language(code).consents)


def is_echo(heard: str, said: str, code: str = ENGLISH) -> bool:
    """Whether `heard` is only a part of what was `said`: at least two words, in order, without any command in
    the language `code`.

    From four words on, one word may be wrong, missing or added, since a recogniser makes such errors with an echo.
    """
    words, own = fold(heard), fold(said)
    if len(words) < 2 or not own or language(code).commands & set(words):
        return False
    # Edit distance from `words` to the nearest part of `own`.
    row = [0] * (len(own) + 1)
    for count, word in enumerate(words, 1):
        corner, row[0] = row[0], count
        for place, mine in enumerate(own, 1):
            here = min(corner + (word != mine), row[place] + 1, row[place - 1] + 1)
            corner, row[place] = row[place], here
    return min(row) <= (1 if len(words) >= 4 else 0)


class WordGatherer:
    """Gathers a stream of deltas into whole words.

    The results of `push` and `flush`, joined, are exactly the stream's text with its spacing.
    """

    def __init__(self) -> None:
        self._tail = ""

    def push(self, delta: str) -> str:
        """Adds a delta; returns the words that are complete now (may be empty)."""
        self._tail += delta
        cut = max((i for i, char in enumerate(self._tail) if char.isspace()), default=-1)
        # The space stays with the following word, so that a growing text only ever appends " word".
        whole, self._tail = self._tail[: max(cut, 0)], self._tail[max(cut, 0) :]
        if not fold(whole):  # a dash alone is not a word: it goes with the next one
            self._tail = whole + self._tail
            return ""
        return whole

    def flush(self) -> str:
        """Returns the rest at the stream's end."""
        whole, self._tail = self._tail, ""
        return whole if whole.strip() else ""  # a last closing quote is part of the text
