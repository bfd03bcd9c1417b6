"""Simulated oracle augmentation: what a back-end would answer to a part of a question, with the true answer as a hint.

The share r of the question that has been heard decides how far the true answer may be followed, in the paper's six
levels (KAME, arXiv 2510.02327): none up to 0.5, keywords up to 0.65, something different up to 0.8, not verbatim up to
0.95, close up to 1, and at 1 the true answer itself, which needs no model.

When the words of these revisions arrive is drawn from what back-ends were measured to take. Nothing is ever earlier
than it could be in a session: a request is sent only after the words that it has heard, its first word comes after the
time to the first token, and the rest at the back-end's rate, in bursts.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.conversation.frame import FRAME_SECONDS
from app.conversation.languages import ENGLISH, language
from app.research.corpus.dialogue import Dialogue, OracleEvent, TimedRevision, TimedWord, Utterance, exchanges


@dataclass(frozen=True, slots=True)
class BackEndSpeed:
    """How fast a back-end is.

    `first`: median seconds to the first word; `spread`: of its logarithm; `rate`: words a second.
    `burst`: the most words that come at once. `broken`: share of the requests that fail.
    """

    first: float
    spread: float
    rate: float
    burst: int = 1
    broken: float = 0.0


SPEEDS = {
    "embedded": BackEndSpeed(0.10, 0.3, 40.0, 2),
    "local": BackEndSpeed(0.30, 0.5, 20.0, 2),
    "cloud": BackEndSpeed(0.50, 0.5, 45.0, 6, 0.01),
    "slow": BackEndSpeed(1.50, 0.6, 8.0, 1, 0.03),
}
"""The embedded model's first token was measured on two cores (77 to 122 ms, 60 tokens a second); the others span what
users of local servers and of providers see."""

EARS = (0.25, 0.6)
"""Seconds from the end of a word to the request that has heard it: the transcriber's delay."""
LEAST_BETWEEN = 0.2
"""Seconds between two requests at least."""


def request_times(question: Utterance, draw: random.Random) -> list[tuple[float, float, int]]:
    """When requests for a question are sent: time, share that was heard, and words that were heard.

    One for each change of the transcript from the second word on, none where no word is new, and a last one for the
    whole question.
    """
    ears = draw.uniform(*EARS)
    requests: list[tuple[float, float, int]] = []
    free = 0.0
    total = len(question.words)
    for heard, word in enumerate(question.words[:-1], 1):
        at = max(word.end + ears, free)
        # Words that end before the request is sent are in it.
        heard = max(heard, sum(other.end + ears <= at for other in question.words[:-1]))
        if heard >= 2 and (not requests or heard > requests[-1][2]):
            requests.append((at, heard / total, heard))
            free = at + LEAST_BETWEEN
    requests.append((max(question.end + ears, free), 1.0, total))
    return requests


def with_arrivals(events: Sequence[OracleEvent], draw: random.Random) -> list[OracleEvent]:
    """Draws when the words of the events come, for those of which it is not known. Requests that fail are left out."""
    speed = SPEEDS[draw.choice(sorted(SPEEDS))]
    out = []
    for event in events:
        if not event.first:
            if not event.true and draw.random() < speed.broken:
                continue
            first = speed.first * math.exp(draw.gauss(0, speed.spread))
            event = replace(event, first=first, rate=speed.rate * draw.uniform(0.7, 1.3))
        out.append(event)
    return out


def arrivals(events: Sequence[OracleEvent], draw: random.Random) -> list[TimedRevision]:
    """The revisions of the events, in the order of their requests, each word with the frame in which it arrives."""
    out = []
    for event in sorted(events, key=lambda event: event.at):
        burst = draw.choice((1, 1, 2, 4))
        words = []
        for place, text in enumerate(event.text.split()):
            # A burst comes when its last word is ready, never before.
            last = place - place % burst + burst - 1
            at = event.at + event.first + last / max(event.rate, 0.1)
            words.append(TimedWord(math.ceil(at / FRAME_SECONDS), text))
        out.append(TimedRevision(tuple(words)))
    return out


def events_needed(dialogue: Dialogue, draw: random.Random) -> list[tuple[float, float, int, Utterance, Utterance]]:
    """All requests that a dialogue's questions cause: time, share, words heard, question and its true answer."""
    return [
        (at, share, heard, question, answer)
        for question, answer in exchanges(dialogue.words)
        for at, share, heard in request_times(question, draw)
    ]


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
