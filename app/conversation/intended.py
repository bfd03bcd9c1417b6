"""Recovers the intended answer from what was played of it, for the back-end's history.

A played answer may begin with an opening, contain a bridge from one revision to the next, and break off within a
sentence. A back-end that reads such answers in its history learns to answer like that, and can't change code that it
does not see.
"""

from __future__ import annotations

import re

from app.conversation.aloud import aloud_parts
from app.conversation.blocks import blocks
from app.conversation.clauses import CLOSING
from app.conversation.languages import ENGLISH
from app.conversation.spoken_form import spoken
from app.conversation.words import fold

ENOUGH_WORDS = 4
"""This many words in a row identify a place in a text of a few sentences."""

_SENTENCE_END = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*(?=\s+[^a-z]|$)")


def intended_answer(answer: str, heard: list[str], *, whole: bool, code: str = ENGLISH) -> str:
    """Returns the spoken form of `answer`, which is in the language `code`, up to the end of the sentence in which
    `heard` ends, or all of it if it was played `whole`; code and tables are as they were written. Empty if `heard` is
    not from this answer.
    """
    text, last = spoken(answer, code), fold(" ".join(heard))[-ENOUGH_WORDS:]
    reached = _end_of(last, text)
    if reached is None:
        return ""
    end = None if whole else _SENTENCE_END.search(text, max(0, reached - 1))
    return _with_blocks(text if end is None else text[: end.end()], answer, code)


def _with_blocks(said: str, answer: str, code: str) -> str:
    """Returns what was said with the code and the tables of `answer` in place of the sentences that stand for them."""
    parts, place = [], 0
    for block, stands in aloud_parts(blocks(answer), code):
        if block.kind == "prose":
            continue
        if stands:
            begin = said.find(stands.strip(), place)
            if begin < 0:
                break
            parts.append(said[place:begin].strip())
            place = begin + len(stands.strip())
        parts.append(block.text.strip())
    return "\n\n".join(filter(None, [*parts, said[place:].strip()]))


def _end_of(words: tuple[str, ...], text: str) -> int | None:
    """The index after the last occurrence of `words` in `text`."""
    if not words:
        return None
    ends: list[int] = []
    folded: list[str] = []
    for token in re.finditer(r"\S+", text):
        for word in fold(token.group()):
            folded.append(word)
            ends.append(token.end())
    for place in range(len(folded) - len(words), -1, -1):
        if tuple(folded[place : place + len(words)]) == words:
            return ends[place + len(words) - 1]
    return None
