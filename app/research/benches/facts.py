"""`bench facts`: 120 short questions with one right answer, typed and spoken, for each installed language model.

The questions (`resources/bench/facts.json`, eight subjects) are asked by four voices of Kokoro that nothing is fitted
to, a dozen in each conversation. An answer is right if its first sentence contains one of the known ways to put it; a
mention further on does not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, no_progress
from app.platform.installation import resource
from app.research.benches.answers import SECONDS, Asked, JudgedAnswer, Way, contains_any, figures, run_answers
from app.research.benches.recordings import MakeSession, Question, read_sound
from app.session.control import BackendChoice, SessionChoice

QUESTIONS_PER_TALK = 12
VOICES = "four voices"
VOICE_RANGE_DB = 22.0


@dataclass(slots=True)
class FactsResult:
    """Answers by model and way, in the order of `facts`."""

    facts: Sequence[Asked]
    judged: dict[tuple[str, Way], list[JudgedAnswer]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    costs: str = ""
    """What the stages cost in simulated time; empty in real time."""

    def table(self) -> str:
        """The result as two Markdown tables: all questions, and right answers by subject."""
        rows, by_subject = [], []
        for (model, way), group in self.judged.items():
            f = figures(group)
            right = self._right(group)
            counts = (len(group) - right - f["unanswered"], f["unanswered"], f["taken_back"], f["openings"])
            seconds = (f"{f[key]:.2f}" for key in SECONDS)
            rows.append((model, way, right, f"{100 * right / max(1, len(group)):.0f}", *counts, *seconds))
            by_subject.append((model, way, *self._by_subject(group).values()))
        head = ["model", "way", "right", "%", "wrong", "no answer", "taken back", "openings"]
        head += ["first sound p50, s", "p75", "first word of the answer p50, s", "p75"]
        subjects = dict.fromkeys(fact.subject for fact in self.facts)
        lines = [
            f"{len(self.facts)} questions with one right answer, in {'simulated' if self.costs else 'real'} time, "
            f"{machine()}",
            "",
            *markdown(head, rows, text_columns=2),
            "",
            "Right by subject:",
            "",
            *markdown(("model", "way", *subjects), by_subject, text_columns=2),
        ]
        lines += ["", self.costs] if self.costs else []
        return "\n".join([*lines, *dict.fromkeys(self.failures)])

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "machine": machine(),
            "simulated": bool(self.costs),
            "costs": self.costs,
            "questions": len(self.facts),
            "groups": [
                {
                    "model": model,
                    "way": way,
                    **figures(group),
                    "right": self._right(group),
                    "by_subject": self._by_subject(group),
                    "answers": [
                        {**one.document(), "right": is_right(one, known)}
                        for one, known in zip(group, self._known(), strict=False)
                    ],
                }
                for (model, way), group in self.judged.items()
            ],
            "failures": self.failures,
        }

    def _known(self) -> list[tuple[str, ...]]:
        return [fact.answers for fact in self.facts]

    def _right(self, group: Sequence[JudgedAnswer]) -> int:
        return sum(map(is_right, group, self._known()))

    def _by_subject(self, group: Sequence[JudgedAnswer]) -> dict[str, int]:
        out = dict.fromkeys((fact.subject for fact in self.facts), 0)
        for fact, one in zip(self.facts, group, strict=False):
            out[fact.subject] += is_right(one, fact.answers)
        return out


def load_facts(count: int) -> list[Asked]:
    """The first `count` questions with their recordings; their subjects take turns."""
    facts = []
    for number, entry in enumerate(json.loads(resource("bench", "facts.json").read_text("utf-8"))[:count], 1):
        samples = read_sound(resource("bench", "facts", f"{number:03}.ogg"))
        question = Question(f"{number:03}", entry["question"], samples, loud_end(samples))
        facts.append(Asked(question, tuple(entry["answers"]), VOICES, entry["subject"]))
    return facts


def loud_end(samples: np.ndarray) -> float:
    """The second at which the voice ends: the last 60 ms that are less than 22 dB softer than its loud ones.

    One of the voices hums on for half a second after its last word, some 26 dB softer.
    """
    hop = SAMPLE_RATE // 50
    energy = np.convolve(np.square(samples), np.ones(3 * hop), "valid")[::hop]
    loud = np.quantile(energy, 0.95) * 10 ** (-VOICE_RANGE_DB / 10)
    return float(np.flatnonzero(energy > loud)[-1] * hop + 3 * hop) / SAMPLE_RATE


def is_right(answer: JudgedAnswer, answers: Sequence[str]) -> bool:
    """Whether the first sentence of the answer contains one of the known answers."""
    return contains_any(first_sentence(answer.said), answers)


def first_sentence(text: str) -> str:
    """`text` up to the first mark that ends a sentence, which a full stop after an initial (J. R. R.) does not."""
    for match in re.finditer(r"[.!?](?=\s|$)", text):
        if not re.search(r"(?:^|[\s.])\w$", text[: match.start()]):
            return text[: match.end()]
    return text


async def run_facts(
    make: MakeSession,
    models: Sequence[BackendChoice],
    facts: Sequence[Asked],
    progress: Progress,
    *,
    ways: Sequence[Way],
    costs: str = "",
) -> FactsResult:
    """Asks all `models` all questions in each way. `costs`: the loop's time is simulated, with these costs.

    Raises what opening a session raises.
    """
    result = FactsResult(facts, costs=costs)
    for choice in models:
        name = choice.model or choice.provider
        for way in ways:
            group = result.judged[name, way] = []
            for start in range(0, len(facts), QUESTIONS_PER_TALK):
                progress(f"{name}, {way}: question {start + 1} of {len(facts)}")
                part = await run_answers(
                    make,
                    replace(SessionChoice(), backend=choice),
                    facts[start : start + QUESTIONS_PER_TALK],
                    no_progress,
                    ways=(way,),
                    costs=costs,
                )
                group += part.judged[way, VOICES]
                result.failures += part.failures
    return result
