"""The only way into the frame thread: any thread may post, the frame thread drains once a frame.

Messages stay in order and none is lost. Safe between one draining thread and many posting ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.frontend.base import FrontEnd, FrontEndInput, SetAnswerMode, SetDials, SetOpenings
from app.session.control import SessionChoice


@dataclass(frozen=True, slots=True)
class WordsHint:
    """The user's words in `turn` so far, which cover the sound up to `heard_until`."""

    turn: int
    text: str
    heard_until: float
    language: str = "en"


@dataclass(frozen=True, slots=True)
class FinishedHint:
    """Probability that `turn` was finished at the pause that began at `speech_end`."""

    turn: int
    probability: float
    speech_end: float


@dataclass(frozen=True, slots=True)
class TalkButton:
    """The talk button went down or up."""

    pressed: bool


@dataclass(frozen=True, slots=True)
class TypedTurn:
    """The user has typed turn number `turn`."""

    turn: int


@dataclass(frozen=True, slots=True, eq=False)
class AskAloud:
    """This sound, float32 mono 24 kHz, is heard in the place of the microphone; None stops the one that is."""

    samples: np.ndarray | None


@dataclass(frozen=True, slots=True)
class SilenceAnswer:
    """The user wants the answer no more, whether it is being spoken or worked out."""


@dataclass(frozen=True, slots=True)
class SetDuplex:
    """Whether the voice alone opens and closes turns."""

    duplex: bool


@dataclass(frozen=True, slots=True)
class SetPatience:
    """How long pauses are waited out, in [-1, 1]: 0 as fitted, 1 the longest."""

    patience: float


@dataclass(frozen=True, slots=True)
class SwapFrontEnd:
    """This front-end, which is ready, takes over at the next step."""

    frontend: FrontEnd


Message = (
    SwapFrontEnd
    | FrontEndInput
    | WordsHint
    | FinishedHint
    | TalkButton
    | TypedTurn
    | AskAloud
    | SilenceAnswer
    | SetDuplex
    | SetPatience
)


class Mailbox:
    """A queue of messages."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()

    def post(self, message: Message) -> None:
        """Add a message for the next frame."""
        self._messages.append(message)

    def drain(self) -> list[Message]:
        """Remove and return the messages that are there now, oldest first."""
        out = []
        while self._messages:
            out.append(self._messages.popleft())
        return out


def changed_settings(before: SessionChoice, choice: SessionChoice) -> Iterator[Message]:
    """Yields the messages that bring the frame loop and the front-end from one choice to another."""
    if choice.duplex != before.duplex:
        yield SetDuplex(choice.duplex)
    if choice.patience != before.patience:
        yield SetPatience(choice.patience)
    if choice.openings != before.openings:
        yield SetOpenings(choice.openings)
    if choice.answer_mode != before.answer_mode:
        yield SetAnswerMode(choice.answer_mode)
    if choice.model.dials != before.model.dials:
        yield SetDials(*choice.model.dials)
