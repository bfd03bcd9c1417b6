"""Commands of the turn tracker to the front-end: who holds the floor from now on."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e


@dataclass(frozen=True, slots=True)
class TakeFloor:
    """The user has finished turn `turn`: the assistant may speak.

    `speech_end`: when the voice ended, None for a typed turn. `heard`: the turn's words if those known so far reach up
    to the voice's end, else empty. `told`: the user ended the turn with the talk button or by typing; otherwise its end
    was detected.
    """

    turn: int
    speech_end: float | None = None
    heard: str = ""
    told: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """The user speaks: be silent, but keep the rest of the answer."""

    turn: int


@dataclass(frozen=True, slots=True)
class GoOn:
    """It was no interruption: say the rest of the answer."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Discard the rest of the answer. `user_speaks`: the user has taken the floor; otherwise it was only noise.

    `turn`: the turn that the user has begun with it, or 0.
    """

    user_speaks: bool = True
    turn: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Yield:
    """The user goes on with turn `turn`, which was ended too early: be silent and answer it again."""

    turn: int


@dataclass(frozen=True, slots=True)
class Silence:
    """The user has silenced the assistant: discard the answer, also one that has not begun, and say nothing until the
    floor is given again.

    `turn`: the user's last turn, whose answer is dropped; 0 while the user has another one open, which goes on.
    """

    turn: int


FloorCommand = TakeFloor | Hold | GoOn | Interrupt | Yield | Silence
TurnEvent = e.UserStarted | e.UserPaused | e.UserResumed | e.UserEnded | e.UserBackchannel | e.TalkTapped
