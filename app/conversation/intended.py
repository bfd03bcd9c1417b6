"""What the assistant meant to say, against what was heard of it: the answer as its brain gave it.

An answer as heard may begin with an opening, hold a bridge from one revision to the next, and break off within a
sentence. A brain that reads such answers in its history learns to answer so. Pure text.
"""

from __future__ import annotations

import re

from app.conversation.clauses import CLOSING
from app.conversation.languages import ENGLISH
from app.conversation.spoken_form import spoken
from app.conversation.words import fold

ENOUGH_WORDS = 4
"""So many words heard one after the other tell the place in a text of a few sentences."""

_SENTENCE_END = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*(?=\s+[^a-z]|$)")


def meant_by(answer: str, heard: list[str], *, whole: bool, code: str = ENGLISH) -> str:
    """The words of `answer`, in the language of that code, as they are spoken; up to the end of the sentence that was
    `heard` last, if it was not said `whole`. Empty where `heard` is not of this answer.
    """
    text, last = spoken(answer, code), fold(" ".join(heard))[-ENOUGH_WORDS:]
    reached = _end_of(last, text)
    if reached is None:
        return ""
    if whole:
        return text
    end = _SENTENCE_END.search(text, max(0, reached - 1))
    return text if end is None else text[: end.end()]


def _end_of(words: tuple[str, ...], text: str) -> int | None:
    """Where `words` stand last in `text`: the letter behind them."""
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
