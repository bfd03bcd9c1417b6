"""`bench facts`: 120 short questions with one right answer, typed and spoken, for each language model that is here.

The questions (`resources/bench/facts.json`, eight subjects) are asked by four voices of Kokoro that nothing is fitted
to. A talk takes a dozen of them, so that a model answers as in a talk. An answer is right when its first sentence holds
one of the known ways to put it: a later mention among many words is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.evaluation.answers import Asked, Way, figures, read_sound, run_answers
from app.evaluation.heard_answers import HeardAnswer
from app.evaluation.latency import machine
from app.evaluation.spoken_questions import MakeSession, Question
from app.platform.resources import resource
from app.session.control import BackendChoice, SessionChoice

QUESTIONS_PER_TALK = 12
VOICES = "four voices"
VOICE_RANGE_DB = 22.0


@dataclass(frozen=True, slots=True)
class Fact:
    """A question of the bench and its subject."""

    subject: str
    asked: Asked


@dataclass(slots=True)
class FactsResult:
    """What a run gave: answers by model and way, in the order of `facts`."""

    facts: Sequence[Fact]
    heard: dict[tuple[str, Way], list[HeardAnswer]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    simulated: bool = False

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            f"{len(self.facts)} questions with one right answer, in {'simulated' if self.simulated else 'real'} time, "
            f"{machine()}",
            "",
            "| model | way | right | % | wrong | no answer | taken back | openings | first sound p50, s | p75 "
            "| first word of the answer p50, s | p75 |",
            "| --- | --- |" + " ---: |" * 10,
        ]
        for (model, way), heard in self.heard.items():
            f = figures(heard)
            right = sum(map(is_right, heard, self._answers()))
            lines.append(
                f"| {model} | {way} | {right} | {100 * right / max(1, len(heard)):.0f} | "
                f"{len(heard) - right - f['unanswered']} | {f['unanswered']} | {f['taken_back']} | {f['openings']} | "
                f"{f['sound_p50']:.2f} | {f['sound_p75']:.2f} | {f['word_p50']:.2f} | {f['word_p75']:.2f} |"
            )
        subjects = list(dict.fromkeys(fact.subject for fact in self.facts))
        lines += [
            "",
            "Right by subject:",
            "",
            "| model | way | " + " | ".join(subjects) + " |",
            "| --- | --- |" + " ---: |" * len(subjects),
        ]
        for key, heard in self.heard.items():
            by = self._by_subject(heard)
            lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(str(by[subject]) for subject in subjects) + " |")
        return "\n".join([*lines, *dict.fromkeys(self.failures)])

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "machine": machine(),
            "simulated": self.simulated,
            "questions": len(self.facts),
            "groups": [
                {
                    "model": model,
                    "way": way,
                    **figures(heard),
                    "right": sum(map(is_right, heard, self._answers())),
                    "by_subject": self._by_subject(heard),
                    "answers": [
                        {**one.document(), "right": is_right(one, known)}
                        for one, known in zip(heard, self._answers(), strict=False)
                    ],
                }
                for (model, way), heard in self.heard.items()
            ],
            "failures": self.failures,
        }

    def _answers(self) -> list[tuple[str, ...]]:
        return [fact.asked.answers for fact in self.facts]

    def _by_subject(self, heard: Sequence[HeardAnswer]) -> dict[str, int]:
        out = dict.fromkeys((fact.subject for fact in self.facts), 0)
        for fact, one in zip(self.facts, heard, strict=False):
            out[fact.subject] += is_right(one, fact.asked.answers)
        return out


def load_facts(count: int) -> list[Fact]:
    """Return the first `count` questions with their recordings; their subjects take turns."""
    facts = []
    for number, entry in enumerate(json.loads(resource("bench", "facts.json").read_text("utf-8"))[:count], 1):
        samples = read_sound(resource("bench", "facts", f"{number:03}.ogg"))
        question = Question(f"{number:03}", entry["question"], samples, voice_end(samples))
        facts.append(Fact(entry["subject"], Asked(question, tuple(entry["answers"]), VOICES)))
    return facts


def voice_end(samples: np.ndarray) -> float:
    """Return the second at which the voice ends: the last 60 ms that are less than 22 dB softer than its loud ones.

    One of the voices hums on for half a second behind its last word, some 26 dB softer.
    """
    hop = SAMPLE_RATE // 50
    energy = np.convolve(np.square(samples), np.ones(3 * hop), "valid")[::hop]
    loud = np.quantile(energy, 0.95) * 10 ** (-VOICE_RANGE_DB / 10)
    return float(np.flatnonzero(energy > loud)[-1] * hop + 3 * hop) / SAMPLE_RATE


def is_right(heard: HeardAnswer, answers: Sequence[str]) -> bool:
    """Tell whether the first sentence of what was said holds one of the known answers."""
    told = f" {' '.join(fold(first_sentence(heard.said)))} "
    return any(f" {' '.join(fold(answer))} " in told for answer in answers)


def first_sentence(text: str) -> str:
    """Return `text` up to its first closing mark that ends a sentence: not one behind an initial, as in J. R. R."""
    for match in re.finditer(r"[.!?](?=\s|$)", text):
        if not re.search(r"(?:^|[\s.])\w$", text[: match.start()]):
            return text[: match.end()]
    return text


async def run_facts(
    make: MakeSession,
    models: Sequence[BackendChoice],
    facts: Sequence[Fact],
    progress: Callable[[str], None],
    *,
    ways: Sequence[Way],
    simulated: bool = False,
) -> FactsResult:
    """Ask all questions of all `models` in each way. Raises what opening a session raises."""
    result = FactsResult(facts, simulated=simulated)
    for choice in models:
        name = choice.model or choice.provider
        for way in ways:
            group = result.heard[name, way] = []
            for start in range(0, len(facts), QUESTIONS_PER_TALK):
                some = [fact.asked for fact in facts[start : start + QUESTIONS_PER_TALK]]
                report = f"{name}, {way}: question {start + 1} of {len(facts)}"
                part = await run_answers(
                    make,
                    replace(SessionChoice(), backend=choice),
                    some,
                    lambda _, report=report: progress(report),
                    ways=(way,),
                    simulated=simulated,
                )
                group += part.heard[way, VOICES]
                result.failures += part.failures
    return result
