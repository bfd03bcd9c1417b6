"""Simulated oracle augmentation: predicted answers to partial questions, with the true answer as a hint.

How closely a prediction may follow the true answer depends on the share r of the question heard so far, in the six
levels of the paper (KAME, arXiv 2510.02327): no hint below 0.5, keywords below 0.65, something different below 0.8, not
verbatim below 0.95, close below 1, and at 1 the true answer itself, which needs no model.

Arrival times of the words are drawn from typical back-end speeds. Nothing arrives earlier than it could in a session: a
request is sent only after the words it contains, its first word arrives after the time to first token, and the rest
follow at the back-end's rate, in bursts.
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

    - `first`: median seconds to the first word
    - `spread`: standard deviation of the logarithm of `first`
    - `rate`: words per second
    - `burst`: the most words that arrive together
    - `broken`: the share of requests that fail
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
"""The embedded model was measured on two cores (first token after 77 to 122 ms, 60 tokens per second); the others are
estimates that span local servers and cloud providers."""

EARS = (0.25, 0.6)
"""The transcriber's delay: seconds from the end of a word to a request that includes it, as a range to draw from."""
LEAST_BETWEEN = 0.2
"""Minimum seconds between two requests."""


def request_times(question: Utterance, draw: random.Random) -> list[tuple[float, float, int]]:
    """Returns the requests for a question: time, share of the question heard, and number of words heard.

    There is one for each transcript change from the second word on that adds a word, and a last one for the whole
    question.
    """
    ears = draw.uniform(*EARS)
    requests: list[tuple[float, float, int]] = []
    free = 0.0
    total = len(question.words)
    for heard, word in enumerate(question.words[:-1], 1):
        at = max(word.end + ears, free)
        # Words that have been transcribed by the time the request is sent are part of it.
        heard = max(heard, sum(other.end + ears <= at for other in question.words[:-1]))
        if heard >= 2 and (not requests or heard > requests[-1][2]):
            requests.append((at, heard / total, heard))
            free = at + LEAST_BETWEEN
    requests.append((max(question.end + ears, free), 1.0, total))
    return requests


def with_arrivals(events: Sequence[OracleEvent], draw: random.Random) -> list[OracleEvent]:
    """Draws arrival times for the events that have none, and drops a share of their predictions as failed requests."""
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
    """Returns the revisions in order of request, each word with the frame in which it arrives."""
    out = []
    for event in sorted(events, key=lambda event: event.at):
        burst = draw.choice((1, 1, 2, 4))
        words = []
        for place, text in enumerate(event.text.split()):
            # A burst arrives once its last word is ready.
            last = place - place % burst + burst - 1
            at = event.at + event.first + last / max(event.rate, 0.1)
            words.append(TimedWord(math.ceil(at / FRAME_SECONDS), text))
        out.append(TimedRevision(tuple(words)))
    return out


def events_needed(dialogue: Dialogue, draw: random.Random) -> list[tuple[float, float, int, Utterance, Utterance]]:
    """Returns all requests for a dialogue's questions: time, share, words heard, question, and true answer."""
    return [
        (at, share, heard, question, answer)
        for question, answer in exchanges(dialogue.words)
        for at, share, heard in request_times(question, draw)
    ]


MOST_WORDS = 30
"""Maximum number of words in a prediction."""

_LEVELS = (
    (0.5, ""),
    (0.65, "Use single words of it only, and do not give it away."),
    (0.8, "Say something that fits the conversation and differs from it in one important point."),
    (0.95, "Say it in clearly different words."),
    (1.0, "Say it in nearly the same words."),
)


@dataclass(frozen=True, slots=True)
class HintRequest:
    """A request for a prediction.

    - `heard`: the words of the question so far
    - `share`: the share of the question heard, 0 to 1
    - `answer`: the true answer
    - `before`: the conversation before this question
    - `code`: the language of the conversation
    """

    heard: str
    share: float
    answer: str
    before: str = ""
    code: str = ENGLISH


def level_of(share: float) -> int:
    """Returns the hint level for a share, 0 to 5."""
    return next((level for level, (below, _) in enumerate(_LEVELS) if share < below), len(_LEVELS))


def prompt_of(request: HintRequest) -> str:
    """Returns the prompt for a request below level 5."""
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
    """Returns the first line of an answer without quotes; past `MOST_WORDS`, cut at the last sentence end within."""
    text = (answer.strip().splitlines() or [""])[0].strip()
    quoted = text[:1] in ('"', "“") and text[-1:] in ('"', "”")
    words = (text[1:-1] if quoted else text).split()
    ends = [place for place, word in enumerate(words[:MOST_WORDS], 1) if word.rstrip('"”')[-1:] in (".", "!", "?")]
    return " ".join(words[: ends[-1]] if ends and len(words) > MOST_WORDS else words)


def fault_of(text: str, request: HintRequest) -> str:
    """Returns why a prediction is unusable, in a few words; an empty string if it is usable."""
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
    """Returns the share of the distinct words of `other` that also occur in `text`."""
    have, wanted = (set(re.findall(r"[\w']+", part.lower())) for part in (text, other))
    return len(have & wanted) / max(1, len(wanted))
