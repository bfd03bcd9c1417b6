"""The front-end protocol: one frame in and one frame out every 80 ms, without ever waiting.

The GPU model (`kame`) and the CPU cascade (`cascade`) implement it. Only plain data crosses it in both directions, so a
front-end could run in a child process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from app.conversation.events import AnswerMode, Event
from app.conversation.frame import Frame
from app.conversation.turn import FloorCommand
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class OracleAsked:
    """Revision `revision` has been requested for the user's `words` in `turn`; `complete`: these are all of the turn's.

    The newest revision is the one for which this came last. Numbers only identify: a revision keeps its number when
    it is handed over in mid-answer, so a smaller number may be the newer one, and no front-end may compare numbers.
    If this comes again for a number that is known, that revision becomes the newest one and keeps the text it has.

    `wanted`: the user has chosen this back-end while another one's answer is being spoken, and waits for it. `paused`:
    the user was silent then, so the words may be complete. `expected`: seconds until its first clause, as this
    back-end's earlier answers took; 0: not known. `language`: of the words, by its two letters.
    """

    revision: int
    turn: int
    complete: bool
    wanted: bool = False
    words: str = ""
    paused: bool = True
    expected: float = 0.0
    language: str = "en"


@dataclass(frozen=True, slots=True)
class OracleWords:
    """The next whole words of a revision, spacing included. The first ones replace the older oracle.

    `posted_at`: the session time at which the session passed them on.
    """

    revision: int
    turn: int
    text: str
    posted_at: float


@dataclass(frozen=True, slots=True)
class OracleCompleted:
    """A revision requested on a partial transcript has turned out to answer the complete turn."""

    revision: int


@dataclass(frozen=True, slots=True)
class OracleDone:
    """A revision has no more words. `failed`: its stream broke."""

    revision: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SetAnswerMode:
    """Change when answers begin."""

    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class SetOpenings:
    """Switches the short openings that fill a wait for the answer on or off."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetDials:
    """Changes two delays, in frames of 80 ms.

    `delay`: how long the front-end is silent after each turn of the user before it may answer. `lead`: how much
    later than the transcriber it gets the user's sound, so that the oracle is ahead of it.
    """

    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SetVoice:
    """Changes the voice from the next clause on; with the present voice, its rate or volume has changed.

    The voice is entered already. The front-end exits it in the end; the one before belongs to the sender again once
    the step is over.
    """

    voice: Voice


OracleInput = OracleAsked | OracleWords | OracleCompleted | OracleDone
FrontEndInput = OracleInput | FloorCommand | SetAnswerMode | SetOpenings | SetDials | SetVoice


@dataclass(frozen=True, slots=True)
class Said:
    """Words whose sound ends at sample `end` of this step's frame (1 to 1920).

    `revision`: the one they are of; 0: of none. `glued`: they follow the words before without a space.
    """

    text: str
    end: int
    turn: int
    revision: int
    glued: bool = False


MarkKind = Literal["started", "opened", "ended", "interrupted", "held", "went_on", "mended"]
CorrectionKind = Literal["continued", "corrected"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A change of what the assistant does, at this step.

    `opened`: it fills the wait with words that are no part of the answer. `mended`: it goes over to another revision,
    with the transition `how`.
    """

    what: MarkKind
    turn: int
    revision: int = 0
    how: CorrectionKind = "continued"


@dataclass(frozen=True, slots=True)
class OraclePosition:
    """How far a revision has been fed to a model: tokens taken so far, and tokens that wait for their frame."""

    revision: int
    taken: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ContextGauge:
    """Frames that the front-end's context holds, of those that it can hold.

    `restarted`: at this step a fresh stream has started, primed with `primed` frames of the conversation.
    """

    frames: int
    capacity: int
    restarted: bool = False
    primed: int = 0


@dataclass(frozen=True, slots=True)
class FrontEndStep:
    """The result of one step: sound, the words whose sound ends in it, and what changed.

    `samples`: float32, shape (1920,), 24 kHz. `flush`: what was given out before and has not been played is to be
    thrown away, so that the assistant falls silent now. `problem`: a sentence for the user about what could not be
    said, or empty. `oracle` and `context`: of front-ends that have them. `relayed`: events of a session elsewhere that
    hears and speaks for this one, with this session's times and turns.
    """

    samples: np.ndarray
    said: tuple[Said, ...] = ()
    marks: tuple[Mark, ...] = ()
    flush: bool = False
    problem: str = ""
    oracle: OraclePosition | None = None
    context: ContextGauge | None = None
    relayed: tuple[Event, ...] = ()


class FrontEndError(Exception):
    """A front-end can't be loaded, or can't go on; `str(error)` is a sentence for the user."""


class FrontEnd(Protocol):
    """Steps once every 80 ms, all on one thread. A context manager: entering loads, exiting frees.

    `hears_oracle`: whether it uses what a back-end says. `needs`: what it takes of a graphics card, in a sentence;
    empty for one that runs on the processor.
    """

    name: str
    hears_oracle: bool
    needs: str

    @property
    def voice(self) -> Voice | None:
        """The voice that it speaks with; None if speaking is part of its model."""
        ...

    @property
    def speaking(self) -> bool:
        """Whether an answer is being spoken, or is held."""
        ...

    @property
    def busy(self) -> bool:
        """Whether speech for a later step is being synthesised."""
        ...

    @property
    def idle(self) -> bool:
        """Whether it has nothing to say, and waits only for the user."""
        ...

    def ready(self, heard: str) -> bool:
        """Whether it could answer at once if the user's turn ended now with the words `heard` (empty: not known yet).

        Also True where waiting would bring an answer no nearer.
        """
        ...

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """Steps with the user's frame and the inputs since the last step, in order; never waits.

        Raises FrontEndError when it can't go on; the inputs are then for the front-end that takes its place.
        """
        ...

    def unheard(self, samples: int, words: int) -> None:
        """After a `flush`: the last `samples` samples and `words` words given out were never played."""
        ...

    def __enter__(self) -> FrontEnd: ...

    def __exit__(self, *exc: object) -> None: ...
