"""Decides whether an answer in words is the right one: a number, yes or no, valid or invalid."""

from __future__ import annotations

import re

from app.evaluation.word_errors import normalised

_NOT_VALID = re.compile(r"\b(?:in|not |is not a |isn't )valid\b")


def is_right(answer: str, right: str) -> bool:
    """Whether `answer` says `right`. Of several numbers or verdicts the last counts, as where an answer reasons aloud;
    yes and no count where they come first.
    """
    return found_in(answer, right) == right.lower()


def found_in(answer: str, right: str) -> str:
    """What `answer` says of the kind of `right`; empty where it says nothing."""
    right = right.lower()
    if right in ("valid", "invalid"):
        verdicts = re.findall(r"\b(?:not (?:a )?|isn't (?:a )?)?(?:in)?valid\b", answer.lower())
        if not verdicts:
            return ""
        return "invalid" if _NOT_VALID.search(verdicts[-1]) else "valid"
    words = normalised(answer)
    if right in ("yes", "no"):
        return next((word for word in words if word in ("yes", "no")), "")
    numbers = [word for word in words if word.isdigit()]
    return numbers[-1] if numbers else ""
