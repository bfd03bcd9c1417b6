"""Simulated oracle augmentation: predicts answers to partial questions, with the true answer as a hint.

How closely a prediction may follow the true answer depends on the share r of the question heard so far, in the six
levels of the paper (KAME, arXiv 2510.02327): no hint below 0.5, keywords below 0.65, something different below 0.8, not
verbatim below 0.95, close below 1, and at 1 the true answer itself, which needs no model.

Arrival times of the words are drawn from typical back-end speeds. Nothing arrives earlier than it could in a session: a
request is sent only after the words it contains, its first word arrives after the time to first token, and the rest
follow at the back-end's rate, in bursts.

`check_dialogues` detects data that would mislead a model in training, and counts what a corpus contains. Faults are
garbage in the oracle, words out of order, and answers without an oracle. A corpus without any oracle passes: Moshi is
trained on such corpora. In one corpus made with the public trainer, 87 % of the events were corrupt, and the model
trained on it learned to ignore its oracle. A model learns to trust its oracle only if the true answer arrives in full.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.conversation.frame import FRAME_SECONDS
from app.conversation.languages import ENGLISH, language
from app.conversation.words import fold
from app.research.corpus.dialogue import (
    Dialogue,
    OracleEvent,
    TimedRevision,
    TimedWord,
    Utterance,
    exchanges,
    utterances,
)


@dataclass(frozen=True, slots=True)
class BackEndSpeed:
    """How fast a back-end is.

    - `first`: median seconds to the first word
    - `spread`: standard deviation of the logarithm of `first`
    - `rate`: words per second
    - `broken`: the share of requests that fail
    """

    first: float
    spread: float
    rate: float
    broken: float = 0.0


SPEEDS = {
    "embedded": BackEndSpeed(0.10, 0.3, 40.0),
    "local": BackEndSpeed(0.30, 0.5, 20.0),
    "cloud": BackEndSpeed(0.50, 0.5, 45.0, 0.01),
    "slow": BackEndSpeed(1.50, 0.6, 8.0, 0.03),
}
"""The embedded model was measured on two cores (first token after 77 to 122 ms, 60 tokens per second); the others are
estimates that span local servers and cloud providers."""

EARS = (0.25, 0.6)
"""The transcriber's delay: seconds from the end of a word to a request that includes it, as a range to draw from."""
LEAST_BETWEEN = 0.2
"""Minimum seconds between two requests."""


def request_times(question: Utterance, draw: random.Random) -> list[tuple[float, float, int]]:
    """Returns the requests for a question: time, share of the question heard, and number of words heard.

    From the second word on, each added word triggers a request, and a last one is sent for the whole question.
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
    """Draws arrival times for events without them, and drops a share of their predictions as failed requests."""
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


MOST_FAULTY = 0.05
"""A corpus fails the check if more than this share of its events is faulty."""
_LATE = 3.0
"""Seconds after the start of an answer by which its true answer should have been requested."""


@dataclass(slots=True)
class CheckResult:
    """The result of a check: totals, and the number of each kind of fault with up to three examples."""

    dialogues: int = 0
    hours: float = 0.0
    words: int = 0
    exchanges: int = 0
    events: int = 0
    faulty_events: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the corpus is fit for training."""
        structural = sum(count for fault, count in self.faults.items() if not fault.startswith("event: "))
        return self.faulty_events <= MOST_FAULTY * self.events and structural <= MOST_FAULTY * max(1, self.dialogues)

    def note(self, fault: str, where: str) -> None:
        """Counts a fault; `where` may be kept as an example."""
        self.faults[fault] += 1
        self.examples[fault] = [*self.examples.get(fault, ()), where][:3]

    def table(self) -> str:
        """Returns the result as text."""
        share = self.faulty_events / self.events if self.events else 0.0
        lines = [
            f"{self.dialogues:,} dialogues ({self.hours:.2f} h, {self.words:,} words), {self.exchanges:,} exchanges, "
            f"{self.events:,} oracle events, of which {self.faulty_events:,} ({share:.1%}) are faulty."
        ]
        for fault, count in self.faults.most_common():
            lines.append(f"  {count:>7,}  {fault}; for example {', '.join(self.examples[fault])}")
        lines.append("The corpus can be trained on." if self.ok else "Don't train on this corpus before it is mended.")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {**asdict(self), "faults": dict(self.faults), "ok": self.ok}


def check_dialogues(dialogues: Iterable[Dialogue]) -> CheckResult:
    """Checks all dialogues."""
    result = CheckResult()
    bare: list[str] = []
    for dialogue in dialogues:
        result.dialogues += 1
        result.hours += dialogue.seconds / 3600
        result.words += len(dialogue.words)
        for fault in _faults_of_words(dialogue):
            result.note(fault, dialogue.name)
        pairs = list(exchanges(dialogue.words))
        result.exchanges += len(pairs)
        if not pairs:
            result.note("nobody answers a question", dialogue.name)
        events = sorted(dialogue.events, key=lambda event: event.at)
        result.events += len(events)
        for number, event in enumerate(events):
            pair = _exchange_of(event, pairs)
            fault = _fault_of_event(event, pair, events[number - 1] if number else None)
            if fault:
                result.faulty_events += 1
                result.note(f"event: {fault}", f"{dialogue.name} at {event.at:.1f} s")
        if events:
            for question, answer in pairs:
                if fault := _fault_of_oracle(question, answer, events):
                    result.note(fault, f"{dialogue.name} at {question.start:.1f} s")
        elif pairs:
            bare.append(dialogue.name)
    if result.events:
        for name in bare:
            result.note("no oracle, though others have one", name)
    return result


def _faults_of_words(dialogue: Dialogue) -> list[str]:
    words, longest = dialogue.words, dialogue.seconds + 0.5 if dialogue.seconds else math.inf
    long = [one for one in utterances(words) if len(one.words) > 4]
    found = {
        "words are out of order": (before.start > after.start for before, after in itertools.pairwise(words)),
        "a word ends before it starts": (not word.start <= word.end < math.inf for word in words),
        "an entry is not one word": (len(word.text.split()) != 1 for word in words),
        "a word ends after the sound": (word.end > longest for word in words),
        "faster than anybody speaks": (len(one.words) > 9 * (one.end - one.start) > 0 for one in long),
    }
    return [fault for fault, cases in found.items() if any(cases)]


def _exchange_of(
    event: OracleEvent, pairs: Sequence[tuple[Utterance, Utterance]]
) -> tuple[Utterance, Utterance] | None:
    """Returns the exchange an event belongs to: the last whose question started at or before the event."""
    return next(((q, a) for q, a in reversed(pairs) if q.start <= event.at), None)


def _fault_of_event(event: OracleEvent, pair: tuple[Utterance, Utterance] | None, before: OracleEvent | None) -> str:
    if pair is None:
        return "before any question"
    question, answer = pair
    heard = [word for word in question.words if word.end <= event.at]
    share = len(heard) / len(question.words)
    if event.share > share + 1e-3 + 1 / len(question.words):
        return "has heard words that come later"
    if event.true and fold(event.text) != fold(answer.text):
        return "the true answer is another one"
    if event.true:
        return "the true answer before the question's end" if event.at < question.end - 0.05 else ""
    request = HintRequest(" ".join(word.text for word in heard), event.share, answer.text)
    if fault := fault_of(event.text, request):
        return fault
    if before is not None and before.text == event.text and level_of(before.share) < level_of(event.share) - 1:
        return "the same as long before"
    return ""


def _fault_of_oracle(question: Utterance, answer: Utterance, events: Sequence[OracleEvent]) -> str:
    true = [event for event in events if event.true and question.start <= event.at <= answer.start + _LATE]
    if not true:
        return "an answer that the oracle never tells"
    last = max(true, key=lambda event: event.at)
    later = [event for event in events if last.at < event.at < answer.end and not event.true]
    return "a guess replaces the true answer" if later else ""
