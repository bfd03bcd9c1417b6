"""The protocols of speech recognition: voice activity detection, decoding, endpointing and streaming transcription.

A transcriber's methods are called on the event loop's thread and must not block; it does its work on other threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.frame import Frame
from app.conversation.turns.voice import VoiceWindow

RATE = 16_000
"""Sample rate in Hz of the audio passed to recognisers and endpointing models."""


@dataclass(frozen=True, slots=True)
class TranscriptUpdate:
    """The words recognised in a turn so far, covering its audio up to the session time `heard_until`.

    - `stable`: words that only the pass at a pause may still correct.
    - `unstable`: the words after them, which any further pass may change.
    - `settled`: whether the words cover all audio up to a pause.
    - `final`: whether this is the result of `Transcriber.end`, the turn's last update unless the turn is resumed.
    - `language`: a two-letter code, empty until the language is detected.
    """

    turn: int
    stable: str
    unstable: str
    heard_until: float
    settled: bool = False
    final: bool = False
    language: str = "en"


class TranscriberError(Exception):
    """A speech recognition error; `str(error)` is a user-facing message."""


class VoiceActivity(Protocol):
    """Detects voice activity. Runs on the frame thread, so it must take well under a millisecond per frame."""

    def hear(self, frame: Frame) -> Sequence[VoiceWindow]:
        """Returns the windows completed by this audio (zero to three), oldest first.

        A frame may arrive in parts: `Frame`s that share its index and `at` but have fewer samples. An implementation
        that supports this must count samples instead of relying on `at`.
        """
        ...


class EndOfTurn(Protocol):
    """Estimates from the audio whether the speaker's turn is finished."""

    def probability(self, samples: np.ndarray) -> float:
        """Returns the probability in [0, 1] that the turn ends here. `samples`: float32, 16 kHz, at most 8 s."""
        ...


@dataclass(frozen=True, slots=True)
class WordOdds:
    """Log-odds of what follows the words.

    `close`: a closing punctuation mark or the end of the turn follows; `over`: the turn ends after that mark.
    """

    close: float
    over: float


class WordsJudge(Protocol):
    """Estimates whether English words form a complete turn."""

    def odds(self, text: str) -> WordOdds | None:
        """Returns the odds for `text`, or None if they can't be computed."""
        ...


class Decoder(Protocol):
    """Transcribes audio. `decode` may be called on two threads in parallel."""

    @property
    def language(self) -> str:
        """The two-letter code of the language of the words; empty until the language is detected."""
        ...

    def decode(self, samples: np.ndarray) -> str:
        """Returns the words in `samples` (float32, 16 kHz)."""
        ...

    def alive(self) -> bool:
        """Returns whether it works. A decoder that doesn't is loaded again."""
        ...

    def close(self) -> None:
        """Frees the decoder's resources; it can't be used afterwards."""
        ...


class Transcriber(Protocol):
    """Streaming speech recognition for one session. A context manager that loads the models and frees them on exit."""

    on_update: Callable[[TranscriptUpdate], None]
    on_finished: Callable[[int, float, float], None]
    """Called with (turn, probability that it is finished, speech_end) at each pause and when the estimate changes."""
    on_failure: Callable[[str], None]
    on_notice: Callable[[str], None]
    on_broken: Callable[[], None]
    """Called when a pass has failed and the next ones would, too, until the recogniser is loaded again."""

    @property
    def name(self) -> str:
        """The name shown to the user."""
        ...

    @property
    def shed(self) -> int:
        """How many passes over the audio were skipped because the previous one was still running."""
        ...

    @property
    def busy(self) -> bool:
        """Whether results for audio already pushed are still pending."""
        ...

    def push(self, frame: Frame, voiced: bool) -> None:
        """Adds the next frame of the user's audio. `voiced`: whether speech was detected in it."""
        ...

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """Starts a turn in which speech was first detected at session time `at`.

        `silent_since`: when the assistant last stopped speaking; later audio contains only the user.
        """
        ...

    def pause(self, turn: int, speech_end: float) -> None:
        """Called when the user pauses. Finalises the words so far and estimates whether the turn is finished."""
        ...

    def resume(self, turn: int) -> None:
        """Resumes a turn that was ended or discarded."""
        ...

    def end(self, turn: int, speech_end: float) -> None:
        """Ends the turn. Its final words are reported by a later update."""
        ...

    def discard(self, turn: int) -> None:
        """Ends the turn without reporting final words."""
        ...

    def __enter__(self) -> Transcriber: ...

    def __exit__(self, *exc: object) -> None: ...
