"""When the words of simulated oracle revisions arrive: drawn from what back-ends were measured to take.

Nothing here is ever earlier than it could be in a session: a request is sent only after the words that it has heard,
its first word comes after the time to the first token, and the rest at the back-end's rate, in bursts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.conversation.frame import FRAME_SECONDS
from app.research.corpus.dialogue import Dialogue, OracleEvent, Utterance, exchanges
from app.research.corpus.streams import TimedRevision, TimedWord


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
