"""Data types of the demo: sides, questions, back-ends and results."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from app.session.control import BackendChoice, SessionChoice, Style, UserError

Side = Literal["cascade", "tandem"]
"""The `cascade` waits for the end of the question before it thinks and speaks; the `tandem` thinks while listening."""

SIDES: tuple[Side, Side] = ("cascade", "tandem")


@dataclass(frozen=True, slots=True, eq=False)
class DemoQuestion:
    """A spoken question: `samples` are float32 mono at 24 kHz; the speech ends after `seconds`.

    For a visitor's question, `text` is the transcript so far.
    """

    text: str
    samples: np.ndarray
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoBackend:
    """An available back-end. `costs`: whether it may cost money; if so, it is used only if requested by name."""

    choice: BackendChoice
    label: str
    costs: bool = False


@dataclass(frozen=True, slots=True)
class DemoOffer:
    """The available back-ends, the default one first, and the key of the tandem's front-end."""

    backends: tuple[DemoBackend, ...]
    frontend: str = "cascade"


@dataclass(frozen=True, slots=True)
class DemoFigure:
    """Both sides' response times, in seconds from the end of the question to the start of the reply; None without one.

    - `own`: whether the question was a visitor's
    - `said`: the replies, or why there was none, in the order of `SIDES`
    """

    question: str
    cascade: float | None
    tandem: float | None
    own: bool = False
    said: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The results of a demo. `backend`: the name of the back-end that answered."""

    figures: tuple[DemoFigure, ...] = ()
    backend: str = ""

    @property
    def counted(self) -> tuple[DemoFigure, ...]:
        """The figures for the medians: those with replies from both sides, and only visitors' questions if any."""
        both = tuple(f for f in self.figures if f.cascade is not None and f.tandem is not None)
        return tuple(f for f in both if f.own) or both

    def median(self, side: Side) -> float | None:
        """Returns a side's median response time in seconds, or None without figures."""
        times = [getattr(figure, side) for figure in self.counted]
        return statistics.median(times) if times else None

    def document(self) -> dict[str, Any]:
        """Returns the result as JSON-compatible data; times are in seconds."""
        medians = {side: self.median(side) for side in SIDES}
        rows = [asdict(figure) for figure in self.figures]
        return {"ok": bool(self.counted), "backend": self.backend, "median_seconds": medians, "questions": rows}


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """Options for a demo that starts with the program.

    - `backends`: substrings of the names of the back-ends to use, in order; if empty, all free ones
    - `aloud`: whether audio is played
    - `full`: whether the demo is full-screen rather than in a window
    """

    backends: tuple[str, ...] = ()
    aloud: bool = True
    full: bool = True


def chosen_backends(backends: Sequence[DemoBackend], names: Sequence[str] = ()) -> tuple[DemoBackend, ...]:
    """Selects back-ends by substrings of their names, or all free ones without names.

    Raises UserError if a name matches no back-end.
    """
    if not names:
        return tuple(backend for backend in backends if not backend.costs)
    found = {name: [one for one in backends if name.casefold() in one.label.casefold()] for name in names}
    here = ", ".join(backend.label for backend in backends) or "none"
    for name, some in found.items():
        if not some:
            raise UserError(f"No back-end that can be used now is called “{name}”. There are: {here}.")
    return tuple(dict.fromkeys(one for some in found.values() for one in some))


def choice_of(side: Side, offer: DemoOffer, place: int) -> SessionChoice:
    """Returns the options of a side's hands-free session with the model at index `place`.

    The sides differ only in front-end and answer mode.
    """
    # Openings are off, since the answer itself is timed.
    backend, style = offer.backends[place].choice, Style(length="short")
    common = SessionChoice(backend=backend, style=style, openings=False, duplex=True)
    if side == "cascade":
        return replace(common, frontend="cascade", answer_mode="after")
    return replace(common, frontend=offer.frontend, answer_mode="thinking")
