"""The voice protocol: text in, a clip of speech out, later."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of a clip, from sample `start` to before sample `end`. A pause before it belongs to it."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Speech: `samples` float32 mono 24 kHz, and the places of its words."""

    samples: np.ndarray
    words: tuple[SpokenWord, ...]


class VoiceError(Exception):
    """The voice failed; `str(error)` is a sentence for the user."""


class Voice(Protocol):
    """Synthesises speech. A context manager: entering loads it.

    `rate` (1 is its own) and `volume` (a factor) may be changed at any time, and apply from the next text on.
    """

    name: str
    rate: float
    volume: float

    def synthesize(self, text: str) -> Future[Clip]:
        """Starts to synthesise `text` elsewhere, and returns at once.

        Clips are done in the order of the calls; one that is not started yet can be cancelled. The future raises
        VoiceError.
        """
        ...

    def __enter__(self) -> Voice: ...

    def __exit__(self, *exc: object) -> None: ...
