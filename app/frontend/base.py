"""What a front-end is: one frame in, one frame out, every 80 ms, and never a wait.

The GPU model (`kame`), the CPU cascade (`cascade`) and the tests' script (`scripted`) all are one.
Plain data crosses this line in both directions, so that a child process may stand behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from app.conversation.events import AnswerMode
from app.conversation.frame import Frame
from app.conversation.turn import FloorCommand
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class OracleAsked:
    """Revision `revision` is on its way for `turn`, asked for on `words` of the user's; `complete` tells that these
    were all of the turn's.

    The newest revision is the one for which this came last. Numbers only identify: a revision keeps its number when
    it is handed over in mid-answer, so a smaller number may be the newer one, and no front-end may compare numbers.
    If this comes again for a number that is known, that revision becomes the newest one and keeps the text it has.

    `wanted`: the user has chosen this back-end while another one's answer is being spoken, and waits to hear it.
    `paused`: the user was silent then, so that the words may be all. `expected`: seconds until its first clause, as
    this back-end's earlier answers took; 0: not known. `language`: of the words, by its two letters.
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

    `posted_at` is the session time at which they left the back-end's side.
    """

    revision: int
    turn: int
    text: str
    posted_at: float


@dataclass(frozen=True, slots=True)
class OracleCompleted:
    """A revision asked for on a partial transcript has turned out to know the complete turn."""

    revision: int


@dataclass(frozen=True, slots=True)
class OracleDone:
    """No more words of this revision will come. `failed`: its stream broke."""

    revision: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SetAnswerMode:
    """Answer in this manner from now on."""

    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class SetOpenings:
    """Whether a wait for the answer is filled with a short opening, from now on."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetDials:
    """Two delays, in frames of 80 ms, from now on.

    `delay`: how long the front-end is silent after each turn of the user before it may answer. `lead`: how much
    later than the transcriber it hears the user, so that the oracle is ahead of it.
    """

    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SetVoice:
    """Speak with this voice, which is entered, from the next clause on. The front-end leaves it in the end; the one
    before is its sender's again once the step is over. With the voice that speaks already: its rate or its volume has
    changed.
    """

    voice: Voice


OracleInput = OracleAsked | OracleWords | OracleCompleted | OracleDone
FrontEndInput = OracleInput | FloorCommand | SetAnswerMode | SetOpenings | SetDials | SetVoice


@dataclass(frozen=True, slots=True)
class Said:
    """Words whose sound ends at sample `end` of this step's frame (1 to 1920), of revision `revision`; 0: of none.
    `glued`: see `AssistantSaid`.
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
    """A change of what the assistant does, at this step. `opened`: it fills the wait with words that are no part of the
    answer. `how` belongs to `mended`.
    """

    what: MarkKind
    turn: int
    revision: int = 0
    how: CorrectionKind = "continued"


@dataclass(frozen=True, slots=True)
class OraclePosition:
    """How far a revision has been taken in: tokens taken so far, tokens that wait for their frame."""

    revision: int
    taken: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ContextGauge:
    """Frames that the front-end remembers, of those that it can.

    `began_anew` tells that at this step a fresh stream has begun; `primed` frames of the talk were told to it.
    """

    frames: int
    capacity: int
    began_anew: bool = False
    primed: int = 0


@dataclass(frozen=True, slots=True)
class FrontEndStep:
    """What one step gives: sound, the words whose sound ends in it, and what changed.

    `samples`: float32, shape (1920,), 24 kHz. `flush` asks that what was given out before and not yet
    been played is thrown away: the assistant falls silent now. `problem`: a sentence for the user about
    what could not be said, or empty. `oracle` and `context`: of front-ends that have them.
    """

    samples: np.ndarray
    said: tuple[Said, ...] = ()
    marks: tuple[Mark, ...] = ()
    flush: bool = False
    problem: str = ""
    oracle: OraclePosition | None = None
    context: ContextGauge | None = None


class FrontEndError(Exception):
    """A front-end can't be had, or can't go on; `str(error)` is a sentence for the user."""


class FrontEnd(Protocol):
    """One step every 80 ms, all on one thread. A context manager: entering loads, leaving frees.

    `hears_oracle` tells whether it makes anything of what a back-end says. `voice`: what it speaks with, None where
    that is a part of it. `needs`: what it will take of a graphics card, in a sentence; empty for one that runs on the
    processor. `step` raises FrontEndError when it can't go on; what it was given is then for the front-end that takes
    its place.
    """

    name: str
    hears_oracle: bool
    needs: str

    @property
    def voice(self) -> Voice | None:
        """What it speaks with; None where that is a part of it."""
        ...

    @property
    def speaking(self) -> bool:
        """Whether it has something to say right now: sound is going out, or is held back."""
        ...

    @property
    def busy(self) -> bool:
        """Whether work for a later step is under way elsewhere (speech being synthesised)."""
        ...

    @property
    def idle(self) -> bool:
        """Whether it has nothing to say and waits for nothing but the user."""
        ...

    def ready(self, heard: str) -> bool:
        """Whether it could answer at once if the user's turn ended with the words `heard`, which are empty while the
        last of them are not known. Also True where waiting would bring an answer no nearer.
        """
        ...

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """Takes what arrived since the last step, in order, and the user's frame; never waits."""
        ...

    def unheard(self, samples: int, words: int) -> None:
        """After a `flush`: the last `samples` samples and `words` words given out were never heard."""
        ...

    def __enter__(self) -> FrontEnd: ...

    def __exit__(self, *exc: object) -> None: ...
