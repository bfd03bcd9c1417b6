"""Simulated oracle augmentation: what a back-end would answer to a part of a question, with the true answer as a hint.

The share r of the question that has been heard decides how far the true answer may be followed, in the paper's six
levels (KAME, arXiv 2510.02327): none up to 0.5, keywords up to 0.65, something different up to 0.8, not verbatim up to
0.95, close up to 1, and at 1 the true answer itself, which needs no model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.conversation.languages import ENGLISH, language

MOST_WORDS = 30
"""Spoken words of a prediction."""

_LEVELS = (
    (0.5, ""),
    (0.65, "Use single words of it only, and do not give it away."),
    (0.8, "Say something that fits the conversation and differs from it in one important point."),
    (0.95, "Say it in clearly different words."),
    (1.0, "Say it in nearly the same words."),
)


@dataclass(frozen=True, slots=True)
class HintRequest:
    """What a back-end is asked. `heard`: the user's words so far; `before`: the conversation before this question.

    `code`: the language that they talk in.
    """

    heard: str
    share: float
    answer: str
    before: str = ""
    code: str = ENGLISH


def level_of(share: float) -> int:
    """The level of a share, 0 to 5."""
    return next((level for level, (below, _) in enumerate(_LEVELS) if share < below), len(_LEVELS))


def prompt_of(request: HintRequest) -> str:
    """The prompt for a request below level 5."""
    lines = ["Someone talks with you. Guess how you will answer, although they have not finished speaking."]
    if request.before:
        lines.append(f"So far:\n{request.before}")
    lines.append(f"They now say: “{request.heard} …”")
    if order := _LEVELS[level_of(request.share)][1]:
        lines.append(f"Hint, not to be mentioned: the answer will be “{request.answer}” {order}")
    lines.append(
        f"Answer in {language(request.code).name}, aloud, in one or two sentences of at most {MOST_WORDS} words. Write "
        "nothing but the answer."
    )
    return "\n\n".join(lines)


_REMARK = re.compile(
    r"\b(hint|unfinished|prediction|as an ai|language model|second (one|person|speaker)|first (one|person|speaker))\b",
    re.IGNORECASE,
)


def cleaned(answer: str) -> str:
    """The first paragraph of a back-end's answer without quotes, up to the last sentence that is not too long."""
    text = (answer.strip().splitlines() or [""])[0].strip()
    quoted = text[:1] in ('"', "“") and text[-1:] in ('"', "”")
    words = (text[1:-1] if quoted else text).split()
    ends = [place for place, word in enumerate(words[:MOST_WORDS], 1) if word.rstrip('"”')[-1:] in (".", "!", "?")]
    return " ".join(words[: ends[-1]] if ends and len(words) > MOST_WORDS else words)


def fault_of(text: str, request: HintRequest) -> str:
    """What makes a prediction unusable, in a few words; empty if it is fine."""
    words = text.split()
    if not words:
        return "empty"
    if _REMARK.search(text):
        return "speaks of the prompt"
    if re.search(r"[*#_<>\[\]{}|`]|^\s*[-•\d]+[.)]?\s", text):
        return "not spoken words"
    if "\n" in text.strip():
        return "several lines"
    if not 3 <= len(words) <= MOST_WORDS + 10:
        return "too short" if len(words) < 3 else "too long"
    if len(set(words)) * 3 < len(words):
        return "repeats itself"
    level = level_of(request.share)
    same = _overlap(text, request.answer)
    if level == 0 and same > 0.85 and len(words) > 6:
        return "knows the answer too early"
    if level == 3 and text.strip().lower() == request.answer.strip().lower():
        return "repeats the answer"
    if level == 4 and same < 0.2:
        return "does not follow the hint"
    return ""


def _overlap(text: str, other: str) -> float:
    """Share of the words of `other` that are in `text`."""
    have, wanted = (set(re.findall(r"[\w']+", part.lower())) for part in (text, other))
    return len(have & wanted) / max(1, len(wanted))
