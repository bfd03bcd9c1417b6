"""Defines the records of the swap demo: what it consists of, and its result.

A tour puts a few spoken questions to every back-end, with every front-end, and once changes the back-end in mid-answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from app.conversation.events import AnswerMode, Event
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.demo.microphone import DemoMicrophone


@dataclass(frozen=True, slots=True, eq=False)
class DemoQuestion:
    """A spoken question: `samples` are float32 mono 24 kHz; the voice ends after `seconds`."""

    name: str
    text: str
    samples: np.ndarray
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoBackend:
    """A back-end that can be used now. `costs`: it may cost money, and so is used only if the user says so."""

    choice: BackendChoice
    label: str
    costs: bool = False


@dataclass(frozen=True, slots=True)
class DemoFrontEnd:
    """A front-end that can run here, with these answer modes. `backends`: it speaks the answers of a back-end."""

    key: str
    label: str
    answer_modes: tuple[AnswerMode, ...] = ("thinking",)
    backends: bool = True


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What the user has chosen. `quick`: one question each, and only the beginning of each answer."""

    backends: tuple[DemoBackend, ...]
    frontends: tuple[DemoFrontEnd, ...]
    quick: bool = False


@dataclass(frozen=True, slots=True)
class DemoStop:
    """One session of the tour: front-end, answer mode, back-end (None: it needs none), and its questions.

    `swap`: the question in whose answer the back-end is changed to `swap_to`.
    """

    frontend: DemoFrontEnd
    answer_mode: AnswerMode
    backend: DemoBackend | None
    questions: tuple[DemoQuestion, ...]
    swap: DemoQuestion | None = None
    swap_to: DemoBackend | None = None

    @property
    def choice(self) -> SessionChoice:
        """The choice that makes its session, which is hands-free."""
        backend = self.backend.choice if self.backend is not None else BackendChoice()
        # Answers are compared, so none starts with an opening.
        return SessionChoice(
            frontend=self.frontend.key, backend=backend, answer_mode=self.answer_mode, openings=False, duplex=True
        )


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """The state of the tour: question `number` of `total`. `asking` is None while a session starts."""

    number: int
    total: int
    stop: DemoStop
    asking: DemoQuestion | None
    swapping: bool = False


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """The answer to a question. `response`: seconds from the question's end to the answer, None without an answer.

    `text`: the answer as far as it was spoken; `cut`: it would have gone on. `first_words`: seconds that the back-end
    took to its first words, None where it was not used. `trouble`: why there is no answer, in a sentence.
    """

    frontend: DemoFrontEnd
    answer_mode: AnswerMode
    backend: DemoBackend | None
    question: str
    response: float | None
    text: str
    cut: bool = False
    first_words: float | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class DemoSwap:
    """The result of the change in mid-answer.

    `seconds`: from the request to the first spoken words of the new back-end, None when there were none; `silence`: the
    longest silence of the voice meanwhile. `before` and `after`: what was spoken of each. `trouble`: why there was no
    change.
    """

    frontend: DemoFrontEnd
    answer_mode: AnswerMode
    before_backend: DemoBackend
    after_backend: DemoBackend
    question: str
    seconds: float | None
    silence: float | None
    before: str
    after: str
    response: float | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The result of a tour. `whole`: the tour went to its end."""

    answers: tuple[DemoAnswer, ...] = ()
    swaps: tuple[DemoSwap, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """A tour that runs by itself. `backends`: parts of the names of the back-ends (none: all that cost nothing).

    `picture` and `json`: files to write when it is over; with either, the program ends then. `aloud` False: nothing is
    played.
    """

    backends: tuple[str, ...] = ()
    quick: bool = False
    picture: str = ""
    json: str = ""
    aloud: bool = True


def chosen_backends(backends: Sequence[DemoBackend], names: Sequence[str]) -> tuple[DemoBackend, ...]:
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


class DemoStage(Protocol):
    """Runs the sessions of a tour, one at a time."""

    async def start(self, choice: SessionChoice, take: Callable[[Event], None]) -> DemoMicrophone:
        """Starts a session, in place of one that runs; `take` gets its events. Raises UserError."""
        ...

    async def swap(self, choice: BackendChoice) -> None:
        """Changes the back-end of the running session. Raises UserError."""
        ...

    async def stop(self) -> None:
        """Ends the session, if one runs."""
        ...
