"""Cuts a growing answer into clauses that can be spoken one by one.

A clause once cut stays cut where it is, however the text grows. Knows nothing of sound.
"""

from __future__ import annotations

import re

MIN_WORDS = 4
"""A comma closes a clause only behind this many words: shorter ones make a voice sound chopped."""

MAX_WORDS = 28
"""A clause without punctuation is cut here, so that its speech can begin."""

_ABBREVIATIONS = {"mr.", "mrs.", "ms.", "dr.", "st.", "vs.", "etc.", "e.g.", "i.e.", "no.", "prof.", "jr.", "sr."}
_STRONG = re.compile(r"[.!?…][\"'”’)\]]*$")
_WEAK = re.compile(r"[,;:—–][\"'”’)\]]*$")


FIRST_WORDS = 6
LONGEST_FIRST_WORDS = 11
"""The first clause is cut early, before a word that often begins a phrase: its sound is waited for."""

_PHRASE_STARTERS = frozenset(
    "that which who because and but or so when where while if of in on for to with by as from is are was were "
    "has have can will at into than".split()
)


def split_clauses(text: str, *, complete: bool) -> list[str]:
    """The clauses of `text` that are closed, in order; joined by spaces they are its words.

    A clause is closed by what follows it, so the last one is only given when the text is `complete`.
    The first one is kept short.
    """
    clauses: list[str] = []
    words: list[str] = []
    tokens = text.split()
    for place, token in enumerate(tokens):
        words.append(token)
        followed = place + 1 < len(tokens)
        if not followed:
            break
        following = tokens[place + 1]
        if _closes(token, words, following) or (not clauses and _early(words, following)):
            clauses.append(" ".join(words))
            words = []
    if words and complete:
        clauses.append(" ".join(words))
    return clauses


def _early(words: list[str], following: str) -> bool:
    if len(words) >= LONGEST_FIRST_WORDS:
        return True
    return len(words) >= FIRST_WORDS and following.lower() in _PHRASE_STARTERS


def _closes(token: str, words: list[str], following: str) -> bool:
    if _STRONG.search(token):
        if token.lower() in _ABBREVIATIONS or re.fullmatch(r"(?:[A-Za-z]\.)+|\d+\.", token):
            return False
        return not following[:1].islower()
    if _WEAK.search(token):
        return len(words) >= MIN_WORDS
    return len(words) >= MAX_WORDS
