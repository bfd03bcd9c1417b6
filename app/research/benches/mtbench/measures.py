"""Measures an answer without a judge: what of the oracle was said, how late, and whether it is about the question."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from app.conversation import events as e
from app.conversation.spoken_form import spoken
from app.conversation.words import fold

_COMMON = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does
    doing don done down each even ever every few first for from get give go had has have having he her here him his how
    i if in into is it its just know let like made make many may me might more most much must my no nor not now of off
    on once one only or other our out over own s same say see she should so some such t take than that the their them
    then there these they thing things this those through to too two under until up us use used using very want was way
    we well were what when where which while who whom why will with would you your""".split()
)
"""Words that are in any answer."""


def content_words(text: str) -> list[str]:
    """The words of a text that say what it is about, as they are spoken, in order."""
    return [word for word in fold(spoken(text)) if word not in _COMMON and len(word) > 1]


def adoption(oracle: str, events: Sequence[e.Event], revision: int) -> tuple[float | None, float | None]:
    """The share of the content words of the last oracle that were said, and the median of the seconds from when each
    was known until it had been said. `revision`: the oracle's number. None without an oracle; no seconds if none of its
    words was said after they were known.
    """
    wanted = content_words(oracle)
    if not wanted:
        return None, None
    known: dict[str, float] = {}
    text = ""
    for event in events:
        if isinstance(event, e.OracleDelta) and event.revision == revision:
            text += event.text
            for word in content_words(text):
                known.setdefault(word, event.at)
    heard: dict[str, float] = {}
    for event in events:
        if isinstance(event, e.AssistantSaid):
            for word in content_words(event.text):
                heard.setdefault(word, event.at)
    distinct = dict.fromkeys(wanted)
    late = [heard[word] - known[word] for word in distinct if word in known and heard.get(word, -1.0) >= known[word]]
    share = sum(word in heard for word in distinct) / len(distinct)
    return share, statistics.median(late) if late else None


def relevance_gap(answered: Sequence[tuple[int, str, str]]) -> float | None:
    """By how much more answers share content words with their own questions than with others, from -1 to 1.

    `answered`: the question's number, its text and the answer. The overlap is the share of a question's content words
    that the answer has; it is compared with the mean over the questions of other numbers. None for fewer than two
    numbers.
    """
    words = [(number, set(content_words(asked)), set(content_words(said))) for number, asked, said in answered]
    own = [_overlap(asked, said) for _, asked, said in words]
    others = [_overlap(asked, said) for number, asked, _ in words for another, _, said in words if number != another]
    return statistics.fmean(own) - statistics.fmean(others) if others else None


def _overlap(question: set[str], answer: set[str]) -> float:
    return len(question & answer) / len(question) if question else 0.0


def plain(text: str) -> str:
    """A text on one line, as facts are looked for in it."""
    return re.sub(r"\s+", " ", text).strip().lower()
