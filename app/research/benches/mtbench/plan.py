"""What a run of the bench consists of, and what it is given to work with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.backend.base import Backend, Usage
from app.research.benches.mtbench.asking import Read
from app.research.benches.mtbench.questions import TURNS, Question
from app.research.benches.mtbench.speech import SpokenTurn
from app.research.benches.mtbench.store import once_for_all
from app.research.benches.mtbench.systems import System
from app.research.benches.questions import MakeSession
from app.session.control import BackendChoice

RunTalk = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine that holds talks, on a loop in real or in simulated time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run. `runs`: how often; `cap`: the dollars that it may cost, 0 for any. `sounds`: by question and turn,
    for systems that hear. `last_oracle`: the last oracle's text is judged, too. `costs`: what the stages cost in
    simulated time; empty in real time.
    """

    systems: Sequence[System]
    questions: Sequence[Question]
    runs: int
    judge: BackendChoice | None
    out: Path
    cap: float = 0.0
    last_oracle: bool = False
    weights: str = ""
    costs: str = ""
    sounds: Mapping[tuple[int, int], SpokenTurn] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether the talks run in simulated time."""
        return bool(self.costs)


@dataclass(frozen=True, slots=True)
class Tools:
    """What the bench is given to work with: how sessions and back-ends are made, what they cost, how talks run, and the
    form of the router's table. `read`: reads answers back.
    """

    make_session: MakeSession
    make_backend: Callable[[BackendChoice], Backend]
    cost: Callable[[Backend, Usage], float | None]
    run_talk: RunTalk
    write_routes: Callable[[Mapping[str, BackendChoice]], str]
    read: Read | None = None


def name_of(choice: BackendChoice) -> str:
    """A back-end in a word."""
    return f"{choice.provider}:{choice.model}" if choice.model else choice.provider


def write_down(plan: Plan, tools: Tools) -> None:
    """Writes down what the results in the plan's folder are of, for the run and for each system, or compares it with
    what is written: systems may be added. Raises UserError if something differs.
    """
    texts = hashlib.sha256("\n".join(text for question in plan.questions for text in question.turns).encode())
    run = {
        "questions": [question.number for question in plan.questions],
        "texts": texts.hexdigest(),
        "simulated": plan.simulated,
        "costs": plan.costs,
        "judge": None if plan.judge is None else _choice(plan.judge),
    }
    once_for_all(plan.out / "run.json", run)
    sounds = hashlib.sha256()
    for question in plan.questions:
        for turn in range(1, TURNS + 1):
            if (question.number, turn) in plan.sounds:
                sounds.update(plan.sounds[question.number, turn].samples.tobytes())
    for system in plan.systems:
        spoken = {"sounds": sounds.hexdigest(), "read_back": tools.read is not None, "weights": plan.weights}
        what = {"name": system.name, **_choice(system.backend), **(spoken if system.speaks else {})}
        file = "".join(char if char.isalnum() or char in "+-." else "-" for char in system.name)
        once_for_all(plan.out / "systems" / f"{file}.json", what)


def _choice(choice: BackendChoice) -> dict[str, str]:
    # An address may hold a password.
    address = hashlib.sha256(choice.base_url.encode()).hexdigest() if choice.base_url else ""
    return {"backend": name_of(choice), "address_sha256": address}
