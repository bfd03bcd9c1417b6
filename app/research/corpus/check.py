"""Detects data that would mislead a model in training, and counts what a corpus contains.

Faults are garbage in the oracle, words out of order, and answers without an oracle. A corpus without any oracle passes:
Moshi is trained on such corpora. In one corpus made with the public trainer, 87 % of the events were corrupt, and the
model trained on it learned to ignore its oracle. A model learns to trust its oracle only if the true answer arrives in
full.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.research.corpus.dialogue import Dialogue, OracleEvent, Utterance, exchanges, utterances
from app.research.corpus.hints import HintRequest, fault_of, level_of

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
        examples = self.examples.setdefault(fault, [])
        if len(examples) < 3:
            examples.append(where)

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
        """Returns the result as JSON."""
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
    faults = []
    words = dialogue.words
    if any(before.start > after.start for before, after in itertools.pairwise(words)):
        faults.append("words are out of order")
    if any(word.end < word.start or not math.isfinite(word.start + word.end) for word in words):
        faults.append("a word ends before it starts")
    if any(not word.text.strip() or " " in word.text.strip() for word in words):
        faults.append("an entry is not one word")
    if dialogue.seconds and any(word.end > dialogue.seconds + 0.5 for word in words):
        faults.append("a word ends after the sound")
    spoken = list(utterances(words))
    if any(u.end > u.start and len(u.words) / (u.end - u.start) > 9 and len(u.words) > 4 for u in spoken):
        faults.append("faster than anybody speaks")
    return faults


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
    if event.true and event.text.split() != answer.text.split() and _folded(event.text) != _folded(answer.text):
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


def _folded(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
