"""Decides whether an answer in words is the right one: a number, yes or no, valid or invalid."""

from __future__ import annotations

import re

from app.research.benches.word_errors import normalised

_VERDICT = re.compile(r"\b(?:in)?valid\b")
_NEGATIONS = frozenset(("not", "no", "isn't", "isnt", "never", "cannot", "can't"))
NEGATION_REACH = 4
"""So many words before a verdict are searched for a negation: “is not a logically valid”."""


def is_right(answer: str, right: str) -> bool:
    """Whether `answer` says `right`."""
    return found_in(answer, right) == right.lower()


def found_in(answer: str, right: str) -> str:
    """What `answer` says of the kind of `right`; empty where it says nothing.

    Of several verdicts the last counts, as where an answer reasons aloud; yes and no count where they come first. Of
    several numbers the last counts, but one before a colon, which introduces a list, goes before those of the list.
    """
    right = right.lower()
    if right in ("valid", "invalid"):
        return _verdict(answer)
    if right in ("yes", "no"):
        return next((word for word in normalised(answer) if word in ("yes", "no")), "")
    head, colon, _ = answer.partition(":")
    return (_number(head) if colon else "") or _number(answer)


def _verdict(answer: str) -> str:
    text = answer.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found = list(_VERDICT.finditer(text))
    if not found:
        return ""
    clause = re.split(r"[.,;:!?]", text[: found[-1].start()])[-1]
    negations = sum(word in _NEGATIONS for word in clause.split()[-NEGATION_REACH:])
    return "valid" if (found[-1][0] == "valid") == (negations % 2 == 0) else "invalid"


def _number(text: str) -> str:
    """The last number of a text in digits."""
    return next((word for word in reversed(normalised(text)) if word.isdigit()), "")
