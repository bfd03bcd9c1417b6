"""Cuts a growing answer into clauses that can be spoken one by one.

A clause that has been cut stays as it is, however the text grows.
"""

from __future__ import annotations

import re
from functools import cache

from app.conversation.languages import ENGLISH, Language, language

MIN_WORDS = 4
"""A comma closes a clause only after this many words: shorter ones make a voice sound chopped."""

MAX_WORDS = 28
"""A clause without punctuation is cut here, so that its speech can begin."""

CLOSING = "\"'”’“‘»«›‹)]"
"""Brackets, and quotation marks that close in some language."""
_STRONG = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*$")
_WEAK = re.compile(rf"[,;:—–][{re.escape(CLOSING)}]*$")
_INITIALS = re.compile(r"(?:[A-ZÄÖÜÉa-z]\.)+")
_ORDINAL = re.compile(r"\d{1,2}\.")

FIRST_WORDS = 6
LONGEST_FIRST_WORDS = 11
"""The first clause is cut early, before a word that often begins a phrase, because the user waits for its sound."""


def split_clauses(text: str, *, complete: bool, code: str = ENGLISH) -> list[str]:
    """Returns the closed clauses of `text`, which is in the language `code`; joined by spaces they are its words.

    A clause is closed by what follows it, so the last one is returned only if the text is `complete`. The first one is
    kept short. A sentence that stands for code or a table is a clause at once: what follows it may be long in coming.
    """
    spoken_in = language(code)
    clauses: list[str] = []
    stretches = _announcements(code).split(text)
    for number, stretch in enumerate(stretches):
        if number % 2:
            clauses.append(stretch)
        else:
            _split(stretch.split(), clauses, spoken_in, complete or number + 1 < len(stretches))
    return clauses


def _split(tokens: list[str], clauses: list[str], spoken_in: Language, complete: bool) -> None:
    words: list[str] = []
    for place, token in enumerate(tokens):
        words.append(token)
        if place + 1 == len(tokens):
            break
        following = tokens[place + 1]
        # The end of a paragraph may still add a full stop to the last word.
        settled = complete or place + 2 < len(tokens)
        early = not clauses and _early(words, following if settled else "", spoken_in)
        if early or _closes(token, words, following, spoken_in):
            clauses.append(" ".join(words))
            words = []
    if words and complete:
        clauses.append(" ".join(words))


@cache
def _announcements(code: str) -> re.Pattern[str]:
    return re.compile("(" + "|".join(map(re.escape, language(code).on_screen.values())) + ")")


def ends_sentence_here(token: str, following: str, spoken_in: Language) -> bool:
    """Whether the mark at the end of `token` ends a sentence, and not an abbreviation, an initial or an ordinal."""
    abbreviated = token.lower() in spoken_in.abbreviations or _INITIALS.fullmatch(token)
    ordinal = spoken_in.ordinals_with_point and _ORDINAL.fullmatch(token)
    return not abbreviated and not ordinal and not following[:1].islower()


def _early(words: list[str], following: str, spoken_in: Language) -> bool:
    if len(words) >= LONGEST_FIRST_WORDS:
        return True
    return len(words) >= FIRST_WORDS and following.lower() in spoken_in.phrase_starters


def _closes(token: str, words: list[str], following: str, spoken_in: Language) -> bool:
    if _STRONG.search(token):
        return ends_sentence_here(token, following, spoken_in)
    if _WEAK.search(token):
        return len(words) >= MIN_WORDS
    return len(words) >= MAX_WORDS
