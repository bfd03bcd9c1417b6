"""Words as both clocks compare them: split, folded, counted. Pure text; knows no language model."""

from __future__ import annotations

import re
import unicodedata

from app.conversation.languages import ENGLISH, language

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_HUM = re.compile(r"[mhn.]+|u+h+|o+h+|a+h+")
"""How recognisers write a hum: "MMMM", "M.H.M.", "Ohh"."""


def fold(text: str) -> tuple[str, ...]:
    """The words of `text` for comparison: lower case, no punctuation, one form of each accent."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return tuple(_WORD.findall(text))


def same_words(a: str, b: str) -> bool:
    """Whether two texts hold the same words, whatever their punctuation and case."""
    return fold(a) == fold(b)


def is_backchannel(text: str, code: str = ENGLISH) -> bool:
    """Whether `text` only tells the speaker to go on ("mhm", "okay, right") in the language of that code, or holds no
    word at all.
    """
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


def is_echo(heard: str, said: str, code: str = ENGLISH) -> bool:
    """Whether `heard` is nothing but a stretch of what was `said`: two words or more, in order, and no command of the
    language of that code among them.

    From four words on one may be wrong, missing or too many, as a recogniser has it that hears an echo.
    """
    words, own = fold(heard), fold(said)
    if len(words) < 2 or not own or language(code).commands & set(words):
        return False
    # Edit distance of `words` to the nearest stretch of `own`: free at both ends.
    row = [0] * (len(own) + 1)
    for count, word in enumerate(words, 1):
        corner, row[0] = row[0], count
        for place, mine in enumerate(own, 1):
            here = min(corner + (word != mine), row[place] + 1, row[place - 1] + 1)
            corner, row[place] = row[place], here
    return min(row) <= (1 if len(words) >= 4 else 0)


class WordGatherer:
    """Gathers a stream of deltas to whole words, so that no word is ever cut by the stream's chunks.

    What `push` and `flush` return, joined, is the stream's text with its spacing, to the letter.
    """

    def __init__(self) -> None:
        self._tail = ""

    def push(self, delta: str) -> str:
        """Takes a delta; returns what is now known to be whole words (may be empty)."""
        self._tail += delta
        cut = max((i for i, char in enumerate(self._tail) if char.isspace()), default=-1)
        # The space stays with the word behind it: a growing text then only ever appends " word".
        whole, self._tail = self._tail[: max(cut, 0)], self._tail[max(cut, 0) :]
        if not fold(whole):  # a dash is no word yet: it goes with the next one
            self._tail = whole + self._tail
            return ""
        return whole

    def flush(self) -> str:
        """The rest, at the stream's end."""
        whole, self._tail = self._tail, ""
        return whole if whole.strip() else ""  # a last closing quote is part of the text
