"""The systems that are compared, as they are written on the command line: KIND, KIND=BACKEND:MODEL, KIND=…@URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from app.conversation.events import AnswerMode
from app.conversation.frame import as_frames
from app.session.control import BackendChoice, ModelChoice, SessionChoice
from app.session.errors import UserError

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
