"""The turn tracker's commands to the front-end, which say who holds the floor, and their delay after lost audio."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from app.conversation import events as e


@dataclass(frozen=True, slots=True)
class TakeFloor:
    """The user has finished turn `turn`: the assistant may speak.

    - `speech_end`: when the voice ended, None for a typed turn.
    - `heard`: the turn's words if those known so far reach up to the voice's end, else empty.
    - `explicit`: the user ended the turn with the talk button or by typing; otherwise its end was detected.
    - `nearly_heard`: the same as `heard`, if at most the decay of the last word is missing.
    """

    turn: int
    speech_end: float | None = None
    heard: str = ""
    explicit: bool = False
    nearly_heard: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """The user speaks: be silent, but keep the rest of the answer."""

    turn: int


@dataclass(frozen=True, slots=True)
class GoOn:
    """It was not an interruption: say the rest of the answer."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Discard the rest of the answer. `user_speaks`: the user has taken the floor; otherwise it was only noise.

    `turn`: the turn that the user has begun with it, or 0.
    """

    user_speaks: bool = True
    turn: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Yield:
    """The user continues turn `turn`, which was ended too early: be silent, and answer it again."""

    turn: int


@dataclass(frozen=True, slots=True)
class Silence:
    """The user has silenced the assistant: discard the answer, even if it has not begun, and stay silent until
    `TakeFloor`.

    `turn`: the user's last turn, whose answer is dropped; 0 if the user has another one open, which continues.
    """

    turn: int


FloorCommand = TakeFloor | Hold | GoOn | Interrupt | Yield | Silence
TurnEvent = e.UserStarted | e.UserPaused | e.UserResumed | e.UserEnded | e.UserBackchannel | e.TalkTapped

LISTEN_SECONDS = 0.32
"""How long the user is heard after lost audio before a turn that ended in it is answered. Of the onsets of speech, 98 %
are recognised within 0.3 s."""

_Input = TypeVar("_Input")


class FloorAfterGap:
    """Holds a `TakeFloor` back that follows lost audio, until the user has been heard for `LISTEN_SECONDS`.

    Lost audio is tracked as silence, so it ends a turn, but the user may have continued speaking during it. Further
    gaps don't make the wait longer. A user who speaks meanwhile keeps the floor: it has not been given to anybody.
    """

    def __init__(self) -> None:
        self._left = 0.0
        self._held: TakeFloor | None = None

    def pass_on(self, inputs: Iterable[_Input], seconds: float, *, lost: bool) -> list[_Input | TakeFloor]:
        """Returns which of a frame's inputs the front-end gets now. The frame has `seconds`, `lost` or heard."""
        if not lost:
            self._left = max(0.0, self._left - seconds)
        elif self._held is None:
            self._left = LISTEN_SECONDS
        out = list[_Input | TakeFloor]()
        for item in inputs:
            if isinstance(item, TakeFloor | Interrupt | Yield | Silence):
                self._held = None
            if isinstance(item, TakeFloor) and not item.explicit and self._left > 1e-9:
                self._held = item
            else:
                out.append(item)
        if self._held is not None and self._left <= 1e-9:
            out.append(self._held)
            self._held = None
        return out
