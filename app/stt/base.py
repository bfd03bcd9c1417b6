"""What the ears are: they hear frames and turns, and tell the words. Knows nothing of who asks why.

A transcriber lives on the event loop's thread and works on its own; all its calls return at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.conversation.frame import Frame
from app.conversation.voice import VoiceWindow


@dataclass(frozen=True, slots=True)
class TranscriptUpdate:
    """The words of a turn so far; see `TranscriptPartial`. `settled`: the user was silent at its end.

    `final`: the answer to `Transcriber.end`; nothing more of this turn comes unless it is resumed. `language`: its two
    letters; empty while it is to be found out and not heard yet.
    """

    turn: int
    stable: str
    unstable: str
    heard_until: float
    settled: bool = False
    final: bool = False
    language: str = "en"


class TranscriberError(Exception):
    """The ears failed; `str(error)` is a sentence for the user."""


class VoiceActivity(Protocol):
    """Tells voice from silence, on the frame thread, in well under a millisecond a frame."""

    def hear(self, frame: Frame) -> Sequence[VoiceWindow]:
        """The windows that this sound completes (none to three), oldest first.

        A frame may come in parts, each as a `Frame` of its index with fewer samples, whose `at` is still the whole
        frame's: who is to hear parts goes by the samples.
        """
        ...


class EndOfTurn(Protocol):
    """Judges from the sound whether a speaker has finished."""

    def probability(self, samples: object) -> float:
        """Probability in [0, 1] that the turn ends here. `samples`: float32, 16 kHz, at most 8 s."""
        ...


class Transcriber(Protocol):
    """Streaming speech recognition of one session. A context manager: entering loads, leaving frees."""

    name: str
    on_update: Callable[[TranscriptUpdate], None]
    on_finished: Callable[[int, float, float], None]
    """Called with (turn, probability that it is finished, speech_end) once a pause has been judged."""
    on_failure: Callable[[str], None]
    shed: int
    """How many looks at the sound were skipped because the last one was still going on."""

    @property
    def busy(self) -> bool:
        """Whether an answer to what was pushed so far is still to come."""
        ...

    def push(self, frame: Frame, voiced: bool) -> None:
        """The next frame of the user's sound; `voiced`: somebody spoke in it."""
        ...

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """A turn was begun; its voice was first noticed at session time `at`. `silent_since`: when the assistant's own
        voice had last died away, so that the sound since then is the user's.
        """
        ...

    def pause(self, turn: int, speech_end: float) -> None:
        """The user fell silent: settle the words so far, and judge whether the turn sounds finished."""
        ...

    def resume(self, turn: int) -> None:
        """The turn that was ended, or discarded, goes on."""
        ...

    def end(self, turn: int, speech_end: float) -> None:
        """The turn is over: its final words are wanted."""
        ...

    def discard(self, turn: int) -> None:
        """The turn is over and its words are not wanted any more."""
        ...

    def __enter__(self) -> Transcriber: ...

    def __exit__(self, *exc: object) -> None: ...
