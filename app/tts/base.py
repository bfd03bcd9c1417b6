"""What a voice is: text in, a clip of sound out, later. Knows nothing of who plays it or when."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.frame import SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of a clip, from sample `start` up to sample `end`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Speech: `samples` float32 mono 24 kHz, and where its words lie."""

    samples: np.ndarray
    words: tuple[SpokenWord, ...]


class VoiceError(Exception):
    """The voice failed; `str(error)` is a sentence for the user."""


class Voice(Protocol):
    """Speaks. A context manager; entering loads it."""

    name: str

    def synthesize(self, text: str) -> Future[Clip]:
        """Starts to speak `text` elsewhere and returns at once.

        Clips come in the order asked for; one not yet begun can be cancelled. The future raises
        VoiceError.
        """
        ...

    def __enter__(self) -> Voice: ...

    def __exit__(self, *exc: object) -> None: ...


_LEAD_SECONDS = 0.01
_TAIL_SECONDS = {".": 0.22, "!": 0.22, "?": 0.22, ",": 0.09, ";": 0.12, ":": 0.12, "—": 0.1}
"""The pause behind a clause, by its last mark. Without one it is only a breath: the sentence goes on."""
_BREATH_SECONDS = 0.02


def make_clip(samples: np.ndarray, text: str) -> Clip:
    """Trims a voice's own silence to the pause that `text` ends with, and places its words.

    The words' places are estimated: each takes a share of the sound in proportion to its letters, with
    punctuation counted as the pause that it makes. Good to about a tenth of a second.
    """
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    if not len(loud):
        return Clip(np.zeros(0, np.float32), ())
    first = max(0, int(loud[0]) - int(_LEAD_SECONDS * SAMPLE_RATE))
    voiced = samples[first : int(loud[-1]) + 1]
    pause = _TAIL_SECONDS.get(text.rstrip("\"'”’)")[-1:], _BREATH_SECONDS)
    tail = np.zeros(int(pause * SAMPLE_RATE), np.float32)
    rest = samples[int(loud[-1]) + 1 :][: len(tail)]
    tail[: len(rest)] = rest
    out = np.concatenate([voiced, tail]).astype(np.float32)
    return Clip(out, place_words(text, len(voiced)))


def place_words(text: str, samples: int) -> tuple[SpokenWord, ...]:
    """Spreads the words of `text` over `samples` samples by their length."""
    words = text.split()
    weights = [_weight(word) for word in words]
    # The pause behind the last word has been trimmed away.
    if weights:
        weights[-1] = _weight(words[-1].rstrip(".,;:!?…"))
    total = sum(weights)
    placed, position = [], 0.0
    for word, weight in zip(words, weights, strict=True):
        start = position
        position += weight / total * samples
        placed.append(SpokenWord(word, round(start), round(position)))
    return tuple(placed)


def _weight(word: str) -> float:
    letters = sum(3 if char.isdigit() else 1 for char in word if char.isalnum())
    pause = 4 if word[-1:] in ".!?" else 2 if word[-1:] in ",;:…" else 0
    return letters + 1 + pause
