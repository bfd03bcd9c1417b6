"""The swap demo: what it is made of, and what comes of it. Protocols and records only.

A tour asks a few spoken questions of every brain, by every front-end, and changes the brain in mid-answer once. Who
carries it out (`app.demo.run`) and who shows it know nothing of devices, models and keys: see `DemoService`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.events import AnswerMode, Event
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError


@dataclass(frozen=True, slots=True, eq=False)
class DemoQuestion:
    """A spoken question: `samples` are float32 mono 24 kHz; its voice ends `seconds` after the first one."""

    name: str
    text: str
    samples: np.ndarray
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoBackend:
    """A brain that can be asked now. `costs`: asking it may cost money, so it is asked only if the user says so."""

    choice: BackendChoice
    label: str
    costs: bool = False


@dataclass(frozen=True, slots=True)
class DemoFrontEnd:
    """A front-end that can run here, in these manners. `backends`: it speaks what brains tell it."""

    key: str
    label: str
    manners: tuple[AnswerMode, ...] = ("thinking",)
    backends: bool = True


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What the user wants to see. `quick`: one question each, and of the answers their beginning."""

    backends: tuple[DemoBackend, ...]
    frontends: tuple[DemoFrontEnd, ...]
    quick: bool = False


@dataclass(frozen=True, slots=True)
class DemoStop:
    """A station of the tour: one front-end, in one manner, with one brain (None: it needs none), and what it is asked.

    `swap`: the question in whose answer the brain is changed to `swap_to`.
    """

    frontend: DemoFrontEnd
    answer_mode: AnswerMode
    backend: DemoBackend | None
    questions: tuple[DemoQuestion, ...]
    swap: DemoQuestion | None = None
    swap_to: DemoBackend | None = None

    @property
    def choice(self) -> SessionChoice:
        """The session that it needs: the voice alone opens and closes turns."""
        backend = self.backend.choice if self.backend is not None else BackendChoice()
        # Answers are compared, so none begins with an opening.
        return SessionChoice(
            frontend=self.frontend.key, backend=backend, answer_mode=self.answer_mode, openings=False, duplex=True
        )


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """What the tour does now: question `number` of `total`. `asking` is None while a session is being made."""

    number: int
    total: int
    stop: DemoStop
    asking: DemoQuestion | None
    swapping: bool = False


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """What came of a question. `response`: seconds from its last sound to the answer's first, None without an answer.

    `text`: the answer as far as it was heard; `cut`: it would have gone on. `first_words`: seconds that the brain took
    to its first words, None where nobody asked it. `trouble`: why there is no answer, in a sentence.
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
    """What came of the change in mid-answer.

    `seconds`: from the wish until words of the new brain were heard, None when none were; `silence`: the longest that
    the voice was silent meanwhile. `before` and `after`: what was heard of each. `trouble`: why there was no change.
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
    """What a tour has brought. `whole`: it went to its end."""

    answers: tuple[DemoAnswer, ...] = ()
    swaps: tuple[DemoSwap, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """A tour that nobody attends. `backends`: parts of the names of those that take part (none: all that cost nothing).
    `picture` and `json`: files to write when it is over; with either, the program ends then. `aloud` False: nothing is
    played.
    """

    backends: tuple[str, ...] = ()
    quick: bool = False
    picture: str = ""
    json: str = ""
    aloud: bool = True


def chosen_backends(backends: Sequence[DemoBackend], names: Sequence[str]) -> tuple[DemoBackend, ...]:
    """Those of `backends` that `names` name, in that order; without names all that cost nothing. Raises UserError."""
    if not names:
        return tuple(backend for backend in backends if not backend.costs)
    out: list[DemoBackend] = []
    for name in names:
        found = [backend for backend in backends if name.casefold() in backend.label.casefold() and backend not in out]
        if not found:
            here = ", ".join(backend.label for backend in backends) or "none"
            raise UserError(f"No brain that can be asked now is called “{name}”. There are: {here}.")
        out += found
    return tuple(out)


class DemoMicrophone(Protocol):
    """The script's end of a session's microphone."""

    def ask(self, question: DemoQuestion) -> float:
        """Asks from the next frame on; the session time, in seconds, at which its sound begins."""
        ...


class DemoService(Protocol):
    """What a tour needs of this machine; the composition root makes it."""

    questions: tuple[DemoQuestion, ...]
    """All that may be asked; the last one has the longest answer."""

    async def backends(self) -> tuple[DemoBackend, ...]:
        """The brains that can be asked now without anything of the user: those on this machine first."""
        ...

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        """The front-ends that are here and fit, the one that always does first."""
        ...

    async def start(
        self, choice: SessionChoice, progress: Callable[[str], None]
    ) -> tuple[SessionControl, DemoMicrophone]:
        """A started session that hears the script alone; its voice, and the questions, sound from the loudspeaker if
        there is one. Raises UserError.
        """
        ...


class DemoStage(Protocol):
    """Where a tour takes place: one session at a time. Its events go to the tour's `take`."""

    async def start(self, choice: SessionChoice, take: Callable[[Event], None]) -> DemoMicrophone:
        """Begins a session, in place of one that runs. Raises UserError."""
        ...

    async def swap(self, choice: BackendChoice) -> None:
        """Has the running session answer with this brain. Raises UserError."""
        ...

    async def stop(self) -> None:
        """Ends the session, if one runs."""
        ...
