"""Defines the records of the demo: its sides, its questions, and its figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.session.control import BackendChoice, SessionChoice, Style
from app.session.errors import UserError

Side = Literal["cascade", "tandem"]
"""The `cascade` waits for the question's end, then thinks, then speaks; the `tandem` thinks while it listens."""

SIDES: tuple[Side, Side] = ("cascade", "tandem")


@dataclass(frozen=True, slots=True, eq=False)
class DemoQuestion:
    """A spoken question: `samples` are float32 mono 24 kHz; the voice ends after `seconds`.

    `text` of a visitor's: as far as it was understood.
    """

    text: str
    samples: np.ndarray
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoBackend:
    """A back-end that can be used now. `costs`: it may cost money, and so is used only if it is named."""

    choice: BackendChoice
    label: str
    costs: bool = False


@dataclass(frozen=True, slots=True)
class DemoOffer:
    """What the demo can use here: back-ends, the first of which answers, and the tandem's front-end by its key."""

    backends: tuple[DemoBackend, ...]
    frontend: str = "cascade"


@dataclass(frozen=True, slots=True)
class DemoFigure:
    """How long each side took, in seconds from the question's end until it was heard; None: it was not.

    `own`: a visitor has asked. `said` and `trouble`: what each side said, or why it said nothing, by side.
    """

    question: str
    cascade: float | None
    tandem: float | None
    own: bool = False
    said: tuple[str, str] = ("", "")
    trouble: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What a demo has brought. `whole`: it went to its end. `backend`: who answered."""

    figures: tuple[DemoFigure, ...] = ()
    whole: bool = False
    backend: str = ""

    @property
    def counted(self) -> tuple[DemoFigure, ...]:
        """The figures that the medians are of: the visitors' own if there are any, and both sides answered."""
        both = tuple(f for f in self.figures if f.cascade is not None and f.tandem is not None)
        return tuple(f for f in both if f.own) or both

    def median(self, side: Side) -> float | None:
        """A side's median in seconds; None without figures."""
        times = [getattr(figure, side) for figure in self.counted]
        return statistics.median(times) if times else None


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """A demo that begins with the program. `backends`: parts of the names of those that answer, the first one first
    (none: all that cost nothing). `picture` and `json`: files to write; with either it runs unattended, and the program
    ends then. `aloud` False: nothing is played. `full` False: in a window.
    """

    backends: tuple[str, ...] = ()
    picture: str = ""
    json: str = ""
    aloud: bool = True
    full: bool = True

    @property
    def unattended(self) -> bool:
        """Whether nobody is there: no visitor is waited for."""
        return bool(self.picture or self.json)


def chosen_backends(backends: Sequence[DemoBackend], names: Sequence[str] = ()) -> tuple[DemoBackend, ...]:
    """Selects back-ends by parts of their names; without names all that cost nothing. Raises UserError."""
    if not names:
        return tuple(backend for backend in backends if not backend.costs)
    out: list[DemoBackend] = []
    for name in names:
        found = [backend for backend in backends if name.casefold() in backend.label.casefold() and backend not in out]
        if not found:
            here = ", ".join(backend.label for backend in backends) or "none"
            raise UserError(f"No back-end that can be used now is called “{name}”. There are: {here}.")
        out += found
    return tuple(out)


def choice_of(side: Side, backend: BackendChoice, frontend: str) -> SessionChoice:
    """Returns the choice that makes a side's session, which is hands-free. The sides differ in their design alone.

    `frontend`: the tandem's.
    """
    # What is timed is the answer, so that none starts with an opening.
    common = SessionChoice(backend=backend, style=Style(length="short"), openings=False, duplex=True)
    if side == "cascade":
        return replace(common, frontend="cascade", answer_mode="after")
    return replace(common, frontend=frontend, answer_mode="thinking")
