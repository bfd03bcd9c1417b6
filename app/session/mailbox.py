"""The messages to the frame thread, and their queue: any thread may post, and the frame thread drains it each frame.

Messages stay in order, and none is lost.
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
    """The user's words in `turn` so far, which cover the audio up to `heard_until`."""

    turn: int
    text: str
    heard_until: float
    language: str = "en"


@dataclass(frozen=True, slots=True)
class FinishedHint:
    """The probability that `turn` was finished at the pause that began at `speech_end`."""

    turn: int
    probability: float
    speech_end: float


@dataclass(frozen=True, slots=True)
class TalkButton:
    """The talk button went down or up."""

    pressed: bool


@dataclass(frozen=True, slots=True)
class TypedTurn:
    """The user has typed turn `turn`."""

    turn: int


@dataclass(frozen=True, slots=True, eq=False)
class AskAloud:
    """Replaces the microphone with this audio, float32 mono 24 kHz; None stops it."""

    samples: np.ndarray | None


@dataclass(frozen=True, slots=True)
class SilenceAnswer:
    """The user has stopped the answer, whether it is being spoken or generated."""


@dataclass(frozen=True, slots=True)
class SetDuplex:
    """Turns hands-free mode, in which the voice alone opens and closes turns, on or off."""

    duplex: bool


@dataclass(frozen=True, slots=True)
class SetPatience:
    """Sets how long to wait in pauses, in [-1, 1]: 0 as fitted, 1 longest."""

    patience: float


@dataclass(frozen=True, slots=True)
class SwapFrontEnd:
    """A front-end that has been entered takes over at the next step."""

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
        """Adds a message for the next frame."""
        self._messages.append(message)

    def drain(self) -> list[Message]:
        """Removes and returns all messages, oldest first."""
        out = []
        while self._messages:
            out.append(self._messages.popleft())
        return out


def changed_settings(before: SessionChoice, choice: SessionChoice) -> Iterator[Message]:
    """Yields the messages that change the frame loop and the front-end from one choice to another."""
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
