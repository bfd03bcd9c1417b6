"""The front-end protocol: one frame in and one frame out at a time, without ever blocking.

It is implemented by the GPU model (`kame`) and the CPU cascade (`cascade`), among others. Inputs and results are plain
data, except for voices. `SpeakingByItself` and `AnswerTracker` are the parts shared by front-ends whose model or server
decides on its own when to speak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from app.conversation.events import AnswerMode, Event
from app.conversation.frame import FRAME_SAMPLES, Frame
from app.conversation.speaking.revisions import OracleInput
from app.conversation.speaking.spoken_answer import Said
from app.conversation.turns.floor import FloorCommand
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class SetAnswerMode:
    """Changes when answers start."""

    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class SetOpenings:
    """Turns the short openings that fill the wait for an answer on or off."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetDials:
    """Changes two delays, in frames of 80 ms.

    `delay`: how long the front-end stays silent after each user turn before it may answer. `lead`: how far its copy of
    the user's audio lags behind the transcriber's, so that the oracle arrives first.
    """

    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SetVoice:
    """Changes the voice from the next clause on. Sending the current voice means that its rate or volume has changed.

    The voice must already be entered. The front-end takes ownership and exits it on its own exit; after the step, the
    sender owns the previous voice again.
    """

    voice: Voice


FrontEndInput = OracleInput | FloorCommand | SetAnswerMode | SetOpenings | SetDials | SetVoice


MarkKind = Literal["started", "opened", "ended", "interrupted", "held", "resumed", "corrected"]
CorrectionKind = Literal["continued", "corrected"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A change in the assistant's speech at this step.

    `opened`: the assistant fills the wait with words that aren't part of the answer. `mended`: it switches to another
    revision, with the transition `how`.
    """

    what: MarkKind
    turn: int
    revision: int = 0
    how: CorrectionKind = "continued"


@dataclass(frozen=True, slots=True)
class OraclePosition:
    """How far a revision has been fed to a model: the number of tokens consumed so far, and of those still queued."""

    revision: int
    taken: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ContextGauge:
    """The number of frames in the front-end's context, and its capacity.

    `restarted`: a fresh stream started at this step, primed with `primed` frames of the conversation.
    """

    frames: int
    capacity: int
    restarted: bool = False
    primed: int = 0


@dataclass(frozen=True, slots=True)
class FrontEndStep:
    """The result of one step: audio, the words that end in it, and what changed.

    - `samples`: float32, a frame, 24 kHz
    - `said`, `marks`: the words that end in this frame, and the changes in the assistant's speech
    - `flush`: discard earlier output that hasn't been played, so that the assistant falls silent immediately
    - `problem`: a user-facing message about anything that couldn't be spoken, or empty
    - `notice`: a user-facing message about what has changed by itself, such as a voice that was restarted, or empty
    - `oracle`, `context`: set by front-ends that have an oracle queue or a limited context
    - `late`: the model wasn't ready, so silence stands in for its audio
    - `events`: what else happened in it: what its voice decided, or events of a remote session that runs on behalf of
      this one, with this session's times and turns
    """

    samples: np.ndarray
    said: tuple[Said, ...] = ()
    marks: tuple[Mark, ...] = ()
    flush: bool = False
    problem: str = ""
    notice: str = ""
    oracle: OraclePosition | None = None
    context: ContextGauge | None = None
    late: bool = False
    events: tuple[Event, ...] = ()


class FrontEndError(Exception):
    """Raised if a front-end can't be loaded or can't continue. `str(error)` is a user-facing message."""


class FrontEnd(Protocol):
    """A front-end, stepped once a frame on one thread.

    As a context manager, it loads its models on entry and frees them on exit.

    - `frame_samples`: the samples (24 kHz) in a frame. A session's first front-end decides how long its frames are; one
      that replaces it gets the same.
    - `hears_oracle`: whether it uses the answers of a back-end.
    - `loading`: how far loading has come, as a user-facing message; empty for a front-end that loads quickly.
    """

    name: str
    frame_samples: int
    hears_oracle: bool

    @property
    def loading(self) -> str: ...

    @property
    def voice(self) -> Voice | None:
        """The TTS voice in use, or None if the model itself generates the speech."""
        ...

    @property
    def speaking(self) -> bool:
        """Whether an answer is being spoken or is on hold."""
        ...

    @property
    def busy(self) -> bool:
        """Whether speech for a later step is being synthesised."""
        ...

    @property
    def idle(self) -> bool:
        """Whether it is waiting for the user, with no answer in progress or expected."""
        ...

    @property
    def thinks_along(self) -> bool:
        """Whether an answer may start in the frame in which the turn ends, because it was prepared before."""
        ...

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """Processes the user's frame and the inputs since the last step, in order, without blocking.

        Raises FrontEndError if it can't continue; the inputs then go to the front-end that replaces it.
        """
        ...

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        """Processes oracle inputs between two steps, without blocking. Called only while `thinks_along`."""
        ...

    def unheard(self, samples: int, words: int) -> None:
        """Reports, after a `flush`, that the last `samples` samples and `words` words of output were never played."""
        ...

    def __enter__(self) -> FrontEnd: ...

    def __exit__(self, *exc: object) -> None: ...


FADE_SAMPLES = 240
"""The length of a fade-out: 10 ms. Cutting off a voice without one causes a click."""


def silenced(samples: np.ndarray, *, fade: bool) -> np.ndarray:
    """Returns a frame of silence in place of `samples`, starting with a fade-out of them if `fade` is set."""
    out = np.zeros(FRAME_SAMPLES, np.float32)
    if fade:
        out[:FADE_SAMPLES] = samples[:FADE_SAMPLES] * np.linspace(1, 0, FADE_SAMPLES, dtype=np.float32)
    return out


class SpeakingByItself:
    """Base class of front-ends whose model or server decides on its own when to speak."""

    frame_samples = FRAME_SAMPLES
    voice = None
    busy = thinks_along = False
    """Always False, because nothing is synthesised in advance, and speech starts without being requested."""

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        """Not called, since it doesn't think along."""

    def unheard(self, samples: int, words: int) -> None:
        """No-op, since the flushed words can't be taken back; the speech continues after them."""


END_FRAMES = 12
"""Frames without a word (1 s) after which an answer counts as over if the audio is quiet."""
LOUD = 0.01
"""RMS above which a frame is audible, about -40 dBFS."""
LINGER_FRAMES = 25
"""Frames (2 s) without speech after which an answer is no longer expected to start."""


class AnswerTracker:
    """Tracks which answer such a model or server is speaking, and when it ends, from the words and audio played."""

    def __init__(self) -> None:
        self.answering: tuple[int, int] | None = None
        """Turn and revision of the answer being spoken."""
        self.idle_frames = LINGER_FRAMES
        """Consecutive frames in which nothing was spoken or expected."""
        self.wordless_frames = 0
        """Frames since the last word."""
        self._quiet_frames = 0

    @property
    def idle(self) -> bool:
        """Whether no answer is being spoken or expected."""
        return self.answering is None and self.idle_frames >= LINGER_FRAMES

    def stop(self) -> list[Mark]:
        """Interrupts the answer. Returns its mark, or an empty list if no answer was being spoken."""
        return self._close("interrupted")

    def _begin(self, turn: int, revision: int) -> list[Mark]:
        """Starts an answer, which ends the previous one."""
        marks = self._close("ended")
        self.answering = (turn, revision)
        return [*marks, Mark("started", turn, revision)]

    def _close(self, what: MarkKind) -> list[Mark]:
        marks = [Mark(what, *self.answering)] if self.answering is not None else []
        self.answering = None
        return marks

    def _count(self, has_words: bool, samples: np.ndarray) -> None:
        self.wordless_frames = 0 if has_words else self.wordless_frames + 1
        self.idle_frames = 0 if has_words else self.idle_frames + 1
        loud = float(np.sqrt(np.mean(np.square(samples)))) > LOUD
        self._quiet_frames = 0 if loud else self._quiet_frames + 1

    @property
    def _seems_over(self) -> bool:
        """Whether there was no word and no audio for one second, or no word for three seconds."""
        quiet = self._quiet_frames >= END_FRAMES
        return self.wordless_frames >= (END_FRAMES if quiet else 3 * END_FRAMES)
