"""The protocols of speech recognition: voice activity, decoder, endpointing, and the streaming transcriber.

A transcriber's methods are called on the event loop's thread and don't block; the work happens on its own threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.frame import Frame
from app.conversation.voice import VoiceWindow

RATE = 16_000
"""Sample rate, in Hz, of the audio for recognisers and endpointing."""


@dataclass(frozen=True, slots=True)
class TranscriptUpdate:
    """The words recognised in a turn so far, covering its audio up to the session time `heard_until`.

    - `stable`, `unstable`: the words that only a pause may still correct, and the ones that follow them.
    - `settled`: the update includes everything up to a pause.
    - `final`: the result of `Transcriber.end`, and the turn's last update unless it is resumed.
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
    """Speech recognition failed; `str(error)` is a user-facing message."""


class VoiceActivity(Protocol):
    """Detects voice activity. Runs on the frame thread, so it must take well under a millisecond per frame."""

    def hear(self, frame: Frame) -> Sequence[VoiceWindow]:
        """Returns the windows completed by this audio (zero to three), oldest first.

        A frame may arrive in parts: `Frame`s that share its index and `at` but have fewer samples. An implementation
        that supports this must count samples instead of relying on `at`.
        """
        ...


class EndOfTurn(Protocol):
    """Estimates from the audio whether a speaker has finished."""

    def probability(self, samples: np.ndarray) -> float:
        """Returns the probability in [0, 1] that the turn ends here. `samples`: float32, 16 kHz, at most 8 s."""
        ...


@dataclass(frozen=True, slots=True)
class WordOdds:
    """Log-odds that a closing mark or the end follows the words (`close`), and that the turn ends after it (`over`)."""

    close: float
    over: float


class WordsJudge(Protocol):
    """Estimates whether English words form a complete turn."""

    def odds(self, text: str) -> WordOdds | None:
        """Returns the odds for `text`, or None if they can't be computed."""
        ...


class Decoder(Protocol):
    """Transcribes audio."""

    @property
    def language(self) -> str:
        """The language of the words as a two-letter code, empty until it is detected."""
        ...

    def decode(self, samples: np.ndarray) -> str:
        """Returns the words in `samples` (float32, 16 kHz)."""
        ...

    def close(self) -> None:
        """Frees the decoder's resources; it can't be used afterwards."""
        ...


class Transcriber(Protocol):
    """Streaming speech recognition for one session. A context manager that loads the models and frees them on exit."""

    on_update: Callable[[TranscriptUpdate], None]
    on_finished: Callable[[int, float, float], None]
    """Called with (turn, probability that it is finished, speech_end) for each pause, and when the estimate changes."""
    on_failure: Callable[[str], None]

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
        """Adds the next frame of the user's audio. `voiced`: whether voice was detected in it."""
        ...

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """Starts a turn in which voice was first detected at session time `at`.

        `silent_since`: when the assistant last stopped speaking; audio after that is the user's alone.
        """
        ...

    def pause(self, turn: int, speech_end: float) -> None:
        """Finalizes the words so far, since the user has paused, and estimates whether the turn is finished."""
        ...

    def resume(self, turn: int) -> None:
        """Continues a turn that was ended or discarded."""
        ...

    def end(self, turn: int, speech_end: float) -> None:
        """Ends the turn. A later update reports its final words."""
        ...

    def discard(self, turn: int) -> None:
        """Ends the turn without reporting final words."""
        ...

    def __enter__(self) -> Transcriber: ...

    def __exit__(self, *exc: object) -> None: ...
