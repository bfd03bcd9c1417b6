"""The systems that are compared, as they are written on the command line: KIND, KIND=BACKEND:MODEL, KIND=…@URL.

Estimates what a run will cost before it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from app.backend.base import Usage
from app.conversation.events import AnswerMode
from app.conversation.frame import as_frames
from app.research.benches.mtbench.questions import TURNS, Question
from app.session.control import BackendChoice, ModelChoice, SessionChoice
from app.session.errors import UserError

REQUESTS_A_TURN = {"typed": 1.0, "cascade": 3.0, "tandem": 8.0, "kame": 8.0, "nano": 8.0, "moshi": 0.0}
"""Measured with the embedded models (`bench mtbench`): a tandem asks again as the words grow."""
PROMPT_TOKENS, ANSWER_TOKENS, TYPED_ANSWER_TOKENS = 450, 160, 600
JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS = 900, 250
CALIBRATION_CALLS = 20
SECONDS_A_QUESTION = 60.0
"""Of one question in real time, both turns with their answers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests to back-ends, calls of the judge, dollars (None where a price is not known) and hours of a run."""

    requests: int
    judge_calls: int
    dollars: float | None
    hours: float

    def check(self, cap: float) -> None:
        """Raises UserError if the run would cost more than `cap` dollars, or an unknown sum. A cap of 0: any sum."""
        if cap and self.dollars is None:
            raise UserError(f"{self.sentence} A cap can't be kept then. Give --cap 0 to run it all the same.")
        if cap and self.dollars is not None and self.dollars > cap:
            raise UserError(f"{self.sentence} That is more than its cap of ${cap:.2f}. Give a higher --cap.")

    @property
    def sentence(self) -> str:
        """The estimate in a sentence."""
        money = "an unknown sum: a model has no price" if self.dollars is None else f"about ${self.dollars:.2f}"
        return (
            f"This run takes about {self.hours:.1f} hours in real time, {self.requests:,} requests and "
            f"{self.judge_calls:,} calls of the judge, and costs {money}."
        )


def estimate(
    systems: Sequence[System],
    runs: int,
    questions: Sequence[Question],
    judge: BackendChoice | None,
    price: Callable[[BackendChoice, Usage], float | None],
    *,
    last_oracle: bool = False,
) -> Estimate:
    """Returns what is to be expected of a run. `price`: the dollars of a request, None if they are not known.
    `last_oracle`: the last oracles are judged, too.
    """
    turns = len(questions) * TURNS * runs
    requests, dollars, seconds = 0.0, 0.0, 0.0
    known = True
    for system in systems:
        asked = REQUESTS_A_TURN[system.kind] * turns
        requests += asked
        tokens = ANSWER_TOKENS if system.speaks else TYPED_ANSWER_TOKENS
        one = price(system.backend, Usage(PROMPT_TOKENS, tokens)) if asked else 0.0
        known = known and one is not None
        dollars += asked * (one or 0.0)
        seconds += (SECONDS_A_QUESTION if system.speaks else 10.0) * len(questions) * runs
    judged = sum(turns * (2 if last_oracle and system.has_oracle else 1) for system in systems) + CALIBRATION_CALLS
    if judge is None:
        judged = 0
    else:
        one = price(judge, Usage(JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS))
        known = known and one is not None
        dollars += judged * (one or 0.0)
    return Estimate(round(requests), judged, dollars if known else None, seconds / 3600)


Kind = Literal["moshi", "kame", "nano", "tandem", "cascade", "typed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LAST_ORACLE = "last-oracle"
"""No system of its own: the last oracle's text of every system that has one, judged as if it had been the answer."""
MODELS_THAT_SPEAK = ("moshi", "kame", "nano")
"""The kinds whose front-end has a delay that can be set."""


@dataclass(frozen=True, slots=True)
class System:
    """`moshi`: the model alone. `kame` and `nano`: the model with an oracle. `tandem`: the embedded voice that thinks
    while the user speaks. `cascade`: the same voice that waits for the whole turn. `typed`: the back-end alone.

    `delay`: seconds of silence that are forced before each answer.
    """

    kind: Kind
    backend: BackendChoice = field(default_factory=BackendChoice)
    delay: float = 0.0

    @property
    def name(self) -> str:
        """The system in a word, as in tables and files."""
        return self.base + (f"+{self.delay:g}s" if self.delay else "")

    @property
    def base(self) -> str:
        """The same without the delay."""
        return self.kind if self.kind == "moshi" else f"{self.kind}={self.model}"

    @property
    def model(self) -> str:
        """The back-end's model in a word; empty without one."""
        if self.kind == "moshi":
            return ""
        return f"{self.backend.provider}:{self.backend.model}" if self.backend.model else self.backend.provider

    @property
    def speaks(self) -> bool:
        """Whether it hears and speaks."""
        return self.kind != "typed"

    @property
    def has_oracle(self) -> bool:
        """Whether a back-end's words and what is said are two things."""
        return self.kind in ("kame", "nano", "tandem", "cascade")

    def choice(self, weights: str = "") -> SessionChoice:
        """The session that it is."""
        frontend = self.kind if self.kind in MODELS_THAT_SPEAK else "cascade"
        answer_mode: AnswerMode = "after" if self.kind == "cascade" else "thinking"
        return SessionChoice(
            frontend=frontend,
            backend=self.backend,
            model=ModelChoice(weights=weights, delay=as_frames(1000 * self.delay)),
            answer_mode=answer_mode,
            openings=False,
            duplex=True,
        )


def check_systems(systems: Sequence[System], *, simulated: bool) -> None:
    """Raises UserError if two systems have one name, or if one can't be run in simulated time."""
    names = [system.name for system in systems]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UserError(f"Two systems are called {twice}, and their results would be mixed. Run one of them by itself.")
    if simulated and (real := next((one.kind for one in systems if one.kind in MODELS_THAT_SPEAK), "")):
        raise UserError(f"{real} hears and speaks in real time only. Leave --simulated out, or leave {real} out.")


def with_delays(systems: list[System], delays: list[float]) -> list[System]:
    """Each system with each delay; those that have none to be set, without. Raises ValueError if none has."""
    if any(delays) and not any(system.kind in MODELS_THAT_SPEAK for system in systems):
        raise ValueError(
            "A delay can be forced on kame, moshi and nano only: the other systems have none to be set. Leave --delays "
            "out."
        )
    return [
        System(system.kind, system.backend, delay)
        for system in systems
        for delay in (delays if system.kind in MODELS_THAT_SPEAK else [0.0])
    ]
