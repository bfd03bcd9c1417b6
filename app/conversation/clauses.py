"""Cuts a growing answer into clauses that can be spoken one by one.

A clause once cut stays cut where it is, however the text grows. Knows nothing of sound.
"""

from __future__ import annotations

import re

from app.conversation.languages import ENGLISH, Language, language

MIN_WORDS = 4
"""A comma closes a clause only behind this many words: shorter ones make a voice sound chopped."""

MAX_WORDS = 28
"""A clause without punctuation is cut here, so that its speech can begin."""

_STRONG = re.compile(r"[.!?…][\"'”’)\]]*$")
_WEAK = re.compile(r"[,;:—–][\"'”’)\]]*$")


FIRST_WORDS = 6
LONGEST_FIRST_WORDS = 11
"""The first clause is cut early, before a word that often begins a phrase: its sound is waited for."""


def split_clauses(text: str, *, complete: bool, code: str = ENGLISH) -> list[str]:
    """The clauses of `text`, in the language of that code, that are closed, in order; joined by spaces they are its
    words.

    A clause is closed by what follows it, so the last one is only given when the text is `complete`.
    The first one is kept short.
    """
    spoken_in = language(code)
    clauses: list[str] = []
    words: list[str] = []
    tokens = text.split()
    for place, token in enumerate(tokens):
        words.append(token)
        followed = place + 1 < len(tokens)
        if not followed:
            break
        following = tokens[place + 1]
        if _closes(token, words, following, spoken_in) or (not clauses and _early(words, following, spoken_in)):
            clauses.append(" ".join(words))
            words = []
    if words and complete:
        clauses.append(" ".join(words))
    return clauses


def _early(words: list[str], following: str, spoken_in: Language) -> bool:
    if len(words) >= LONGEST_FIRST_WORDS:
        return True
    return len(words) >= FIRST_WORDS and following.lower() in spoken_in.phrase_starters


def _closes(token: str, words: list[str], following: str, spoken_in: Language) -> bool:
    if _STRONG.search(token):
        if token.lower() in spoken_in.abbreviations or re.fullmatch(r"(?:[^\W\d_]\.)+|\d+\.", token):
            return False
        return not following[:1].islower()
    if _WEAK.search(token):
        return len(words) >= MIN_WORDS
    return len(words) >= MAX_WORDS
