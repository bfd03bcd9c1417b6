"""What a run of the bench consists of, and what it is given to work with.

Keeps the results of a run as they come: one line of JSON each, so that a run goes on where it was stopped.

Counts what a run has cost, and stops it at its cap.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.backend.base import Backend, Usage
from app.research.benches.mtbench.asking import Read
from app.research.benches.mtbench.questions import TURNS, Question, SpokenTurn
from app.research.benches.mtbench.systems import System
from app.research.benches.recordings import MakeSession
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.untrusted.json_text import read_json
from app.untrusted.limits import CORPUS_LINE

_T = TypeVar("_T")


class Lines(Generic[_T]):
    """A file of records, to which records are added. `read` makes a record of a JSON value, `write` the reverse.

    A last line that was cut off when the process was killed is removed.
    """

    def __init__(self, path: Path, read: Callable[[Any], _T], write: Callable[[_T], Any]) -> None:
        self._path = path
        self._read = read
        self._write = write
        self.records: list[_T] = list(self._values())

    def add(self, *records: _T) -> None:
        """Adds records as the file holds them, where numbers are rounded; they are on the disk when this returns.

        Raises UserError.
        """
        lines = [json.dumps(self._write(record), ensure_ascii=False, sort_keys=True) + "\n" for record in records]
        try:
            with self._path.open("ab") as file:
                file.write("".join(lines).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(
                f"{self._path} can't be written ({error.strerror or error}). What there is stays: make room, then "
                "start the command again, and it goes on from there."
            ) from error
        self.records += [self._read(json.loads(line)) for line in lines]

    def _values(self) -> Iterator[_T]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return
        whole, newline, rest = data.rpartition(b"\n")
        if rest:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + len(newline))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                yield self._read(read_json(line, CORPUS_LINE))
            except ValueError as error:
                raise UserError(
                    f"Line {number} of {self._path} can't be read ({error}). Remove it, or give another --out."
                ) from error


def once_for_all(path: Path, described: dict[str, Any]) -> None:
    """Writes down what a folder's results are of, or compares it with what is written. Raises UserError."""
    text = json.dumps(described, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    try:
        before = path.read_text("utf-8")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        return
    if before != text:
        raise UserError(
            f"The results in {path.parent} are of other questions, sounds or settings than this command's (see "
            f"{path.name}). Give another --out, or the same options."
        )


@dataclass(slots=True)
class Spending:
    """`dollars` so far, of `cap` (0: any sum). `out`: the run's folder."""

    cap: float
    out: Path
    dollars: float = 0.0

    def add(self, dollars: float | None) -> None:
        """Adds what a request has cost; None counts as nothing, since its price is not known."""
        self.dollars += dollars or 0.0

    def check(self) -> None:
        """Raises UserError once the cap is reached."""
        if self.cap and self.dollars >= self.cap:
            raise UserError(
                f"This run has cost ${self.dollars:.2f}, and its cap is ${self.cap:.2f}. What was answered stays in "
                f"{self.out}: start the command again with a higher --cap, and it goes on from there."
            )


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
