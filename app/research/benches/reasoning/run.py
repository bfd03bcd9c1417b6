"""Asks systems reasoning questions and counts the right answers: the same brain typed, as a cascade, in the tandem."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.backend.base import Backend, Usage
from app.diagnostics.tables import Progress, machine, markdown, paragraphs, quantile, rounded
from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.asking import ask_aloud, ask_typed
from app.research.benches.mtbench.questions import Question
from app.research.benches.mtbench.speech import SpokenTurn
from app.research.benches.mtbench.systems import System
from app.research.benches.questions import MakeSession
from app.research.benches.reasoning.matching import is_right
from app.research.benches.recordings import voice_end
from app.session.control import BackendChoice


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its form, its text (empty if it exists as sound only), its right answer, and its sound."""

    number: int
    form: str
    text: str
    answer: str
    samples: np.ndarray


@dataclass(slots=True)
class ReasoningResult:
    """Answers by system, in the order of `asked`."""

    asked: Sequence[Asked]
    costs: str
    """What the stages cost in simulated time; empty in real time."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)

    def right(self, system: str, form: str = "") -> tuple[int, int]:
        """Right answers of a system, and questions, of one form or of all."""
        pairs = [
            (one, answer)
            for one, answer in zip(self.asked, self.answers[system], strict=True)
            if form in ("", one.form)
        ]
        return sum(is_right(answer.said, one.answer) for one, answer in pairs), len(pairs)

    def _forms(self) -> list[str]:
        return list(dict.fromkeys(one.form for one in self.asked))

    def table(self) -> str:
        """The result as a Markdown table."""
        forms = self._forms()
        rows = []
        for system, answers in self.answers.items():
            right, count = self.right(system)
            sounds = [answer.first_sound for answer in answers if answer.first_sound is not None]
            latency = f"{quantile(sounds, 0.5):.2f}" if sounds else "–"
            by_form = (self.right(system, form)[0] for form in forms)
            silent = sum(not answer.said for answer in answers)
            failed = sum(bool(answer.failure) for answer in answers)
            rows.append((system, right, f"{100 * right / max(1, count):.0f}", *by_form, silent, failed, latency))
        kind = "simulated" if self.costs else "real"
        return "\n".join(
            [
                f"{len(self.asked)} reasoning questions in {kind} time, {machine()}",
                "",
                *markdown(("", "right", "%", *forms, "no answer", "failures", "first sound p50, s"), rows),
                *paragraphs([self.costs] if self.costs else []),
            ]
        )

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        systems = []
        for system, answers in self.answers.items():
            right, count = self.right(system)
            systems.append(
                {
                    "name": system,
                    "right": right,
                    "asked": count,
                    "right_share": right / max(1, count),
                    "unanswered": sum(not answer.said for answer in answers),
                    "failures": sum(bool(answer.failure) for answer in answers),
                    "by_form": {form: self.right(system, form)[0] for form in self._forms()},
                    "answers": [
                        {
                            "said": answer.said,
                            "heard": answer.heard,
                            "right_answer": one.answer,
                            "first": answer.first_sound,
                        }
                        for one, answer in zip(self.asked, answers, strict=True)
                    ],
                }
            )
        document: dict[str, Any] = rounded(
            {
                "bench": "reasoning",
                "machine": machine(),
                "simulated": bool(self.costs),
                "costs": self.costs,
                "systems": systems,
            }
        )
        return document


def run_reasoning(
    systems: Sequence[System],
    asked: Sequence[Asked],
    make_session: MakeSession,
    make_backend: Callable[[BackendChoice], Backend],
    cost: Callable[[Backend, Usage], float | None],
    run_talk: Callable[[Coroutine[Any, Any, Any]], Any],
    progress: Progress,
    *,
    costs: str = "",
) -> ReasoningResult:
    """Asks every system every question in a session of its own. `costs`: time is simulated, with these costs.

    Raises what opening a session raises.
    """
    result = ReasoningResult(asked, costs)
    for system in systems:
        answers = result.answers[system.name] = []
        for place, one in enumerate(asked, 1):
            progress(f"{system.name}: question {place} of {len(asked)}")
            question = Question(one.number, one.form, (one.text,))
            if system.speaks:
                turn = SpokenTurn(one.text, one.samples, voice_end(one.samples))
                talk = ask_aloud(make_session, system, 0, question, [turn], simulated=bool(costs))
                answers += run_talk(talk)
            else:
                answers += asyncio.run(ask_typed(make_backend, cost, system, 0, question))
    return result
