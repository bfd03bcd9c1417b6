"""The messages to the frame thread, and their queue: any thread may post, and the frame thread drains it each frame.

Messages stay in order, and none is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.conversation.speaking.revisions import OracleAsked, OracleDone, OracleInput
from app.conversation.turns.floor import FloorCommand, Interrupt, Silence, TakeFloor, Yield
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


LASTING = (SetDials, SetAnswerMode, SetOpenings)
"""Inputs that stay in force until another one of the same type arrives."""


class TurnInputs:
    """The inputs that a front-end needs in order to continue where the lost one stopped."""

    def __init__(self) -> None:
        self._inputs: list[FrontEndInput] = []
        self._turn = 0

    def add(self, item: FrontEndInput) -> None:
        """Records an input, if it belongs to the newest turn or is one of `LASTING`."""
        if isinstance(item, OracleAsked | TakeFloor) and item.turn > self._turn:
            self._turn = item.turn
            self._inputs = [kept for kept in self._inputs if isinstance(kept, LASTING)]
        if isinstance(item, LASTING):
            self._inputs = [kept for kept in self._inputs if type(kept) is not type(item)]
        if isinstance(item, Interrupt | Yield | Silence):
            self._inputs = [kept for kept in self._inputs if not isinstance(kept, TakeFloor)]
        elif _belongs_to_turn(item) or isinstance(item, LASTING):
            self._inputs.append(item)

    def ended(self, turn: int) -> None:
        """Forgets what belongs to a turn whose answer has ended, unless more of it is to come."""
        done = {item.revision for item in self._inputs if isinstance(item, OracleDone)}
        newest = [item.revision for item in self._inputs if isinstance(item, OracleAsked)][-1:]
        if turn == self._turn and done.issuperset(newest):
            self._inputs = [kept for kept in self._inputs if isinstance(kept, LASTING)]

    def for_successor(self, waiting: list[FrontEndInput], arrived: list[FrontEndInput]) -> list[FrontEndInput]:
        """Returns the first inputs of a front-end that takes over now.

        `waiting` was held back for the lost one, and `arrived` came with this frame. Those that belong to the turn are
        recorded already.
        """
        others = [item for item in waiting if not isinstance(item, FloorCommand)] + arrived
        return [*self._inputs, *(item for item in others if not _belongs_to_turn(item))]


def _belongs_to_turn(item: FrontEndInput) -> bool:
    return isinstance(item, OracleInput | TakeFloor)


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

    def take_oracle(self) -> list[OracleInput]:
        """Removes and returns the oracle revisions' messages at the front of the queue.

        Hints for the turn tracker may stand between them, and stay. Only the frame thread may call it.
        """
        messages = self.drain()
        ends = (n for n, one in enumerate(messages) if not isinstance(one, OracleInput | WordsHint | FinishedHint))
        end = next(ends, len(messages))
        kept = [one for one in messages[:end] if not isinstance(one, OracleInput)]
        self._messages.extendleft(reversed([*kept, *messages[end:]]))
        return [one for one in messages[:end] if isinstance(one, OracleInput)]


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
