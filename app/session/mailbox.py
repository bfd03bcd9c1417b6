"""The one way into the frame thread: anything may be posted, the frame thread drains it once a frame.

First in, first out; nothing is lost and nothing waits. Safe between one draining thread and many posting.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from app.frontend.base import FrontEnd, FrontEndInput


@dataclass(frozen=True, slots=True)
class WordsHint:
    """The user's words in `turn` so far, which account for the sound up to `heard_until`."""

    turn: int
    text: str
    heard_until: float
    language: str = "en"


@dataclass(frozen=True, slots=True)
class FinishedHint:
    """How finished `turn` sounded at the pause that began at `speech_end`."""

    turn: int
    probability: float
    speech_end: float


@dataclass(frozen=True, slots=True)
class TalkButton:
    """The talk button went down or up."""

    pressed: bool


@dataclass(frozen=True, slots=True)
class TypedWords:
    """The user has typed a turn."""

    text: str


@dataclass(frozen=True, slots=True)
class SetDuplex:
    """Whether the voice alone opens and closes turns."""

    duplex: bool


@dataclass(frozen=True, slots=True)
class SetPatience:
    """How long pauses are waited out: in [-1, 1], 0 as fitted, 1 the longest."""

    patience: float


@dataclass(frozen=True, slots=True)
class SwapFrontEnd:
    """From the next step on this front-end, which is ready, hears and speaks."""

    frontend: FrontEnd


Message = SwapFrontEnd | FrontEndInput | WordsHint | FinishedHint | TalkButton | TypedWords | SetDuplex | SetPatience


class Mailbox:
    """See the module's docstring."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()

    def post(self, message: Message) -> None:
        """Leaves a message for the next frame."""
        self._messages.append(message)

    def drain(self) -> list[Message]:
        """Takes out what is there now, oldest first."""
        out = []
        while self._messages:
            out.append(self._messages.popleft())
        return out
