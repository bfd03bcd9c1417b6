"""The protocols of speech recognition: voice activity, decoder, endpointing, and the streaming transcriber.

A transcriber's calls are made on the event loop's thread and return at once; it works on threads of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.frame import Frame
from app.conversation.voice import VoiceWindow

RATE = 16_000
"""Samples a second of the sound that recognisers and judges take."""


@dataclass(frozen=True, slots=True)
class TranscriptUpdate:
    """The words of a turn so far, which account for its sound up to `heard_until`; the `stable` ones don't change.

    `settled`: the user was silent at its end. `final`: the result of `Transcriber.end`; nothing more of this turn comes
    unless it is resumed. `language`: its two letters; empty while it is not detected yet.
    """

    turn: int
    stable: str
    unstable: str
    heard_until: float
    settled: bool = False
    final: bool = False
    language: str = "en"


class TranscriberError(Exception):
    """Speech recognition failed; `str(error)` is a sentence for the user."""


class VoiceActivity(Protocol):
    """Detects voice, on the frame thread, in well under a millisecond a frame."""

    def hear(self, frame: Frame) -> Sequence[VoiceWindow]:
        """The windows that this sound completes (none to three), oldest first.

        A frame may come in parts, each as a `Frame` of its index with fewer samples, whose `at` is still the whole
        frame's: an implementation that supports parts counts samples.
        """
        ...


class EndOfTurn(Protocol):
    """Judges from the sound whether a speaker has finished."""

    def probability(self, samples: np.ndarray) -> float:
        """Probability in [0, 1] that the turn ends here. `samples`: float32, 16 kHz, at most 8 s."""
        ...


@dataclass(frozen=True, slots=True)
class WordOdds:
    """Log-odds: `close` of a closing mark or the end after the words, `over` of the turn's end after that mark."""

    close: float
    over: float


class WordsJudge(Protocol):
    """Judges from English words whether they make a whole turn."""

    def odds(self, text: str) -> WordOdds | None:
        """What it makes of `text`; None if it can't tell."""
        ...


class Decoder(Protocol):
    """Turns sound into words."""

    @property
    def language(self) -> str:
        """Of the words, by its two letters; empty while it is not detected yet."""
        ...

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32 at 16 kHz."""
        ...

    def close(self) -> None:
        """Frees what it holds; nothing is decoded afterwards."""
        ...


class Transcriber(Protocol):
    """Streaming speech recognition of one session. A context manager: entering loads, leaving frees."""

    on_update: Callable[[TranscriptUpdate], None]
    on_finished: Callable[[int, float, float], None]
    """Called with (turn, probability that it is finished, speech_end) once a pause is judged, and when that changes."""
    on_failure: Callable[[str], None]

    @property
    def name(self) -> str:
        """The name that the user is shown."""
        ...

    @property
    def shed(self) -> int:
        """How many passes over the sound were skipped because the last one was still running."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a result for what was pushed so far is still to come."""
        ...

    def push(self, frame: Frame, voiced: bool) -> None:
        """Takes the next frame of the user's sound; `voiced`: voice was detected in it."""
        ...

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """Starts a turn, whose voice was first detected at session time `at`.

        `silent_since`: since when the assistant's own voice was silent, so that the sound since then is the user's.
        """
        ...

    def pause(self, turn: int, speech_end: float) -> None:
        """The user paused: settles the words so far, and judges whether the turn is finished."""
        ...

    def resume(self, turn: int) -> None:
        """Continues a turn that was ended or discarded."""
        ...

    def end(self, turn: int, speech_end: float) -> None:
        """Ends the turn; its final words follow as an update."""
        ...

    def discard(self, turn: int) -> None:
        """Ends the turn without its words."""
        ...

    def __enter__(self) -> Transcriber: ...

    def __exit__(self, *exc: object) -> None: ...
