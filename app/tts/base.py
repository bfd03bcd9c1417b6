"""The voice protocol: text in, a clip of speech out, later.

A clip is made of what an engine gives: its silence is trimmed, its words are placed, and its loudness is set.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.conversation.frame import SAMPLE_RATE

_LEAD_SECONDS = 0.01
_TAIL_SECONDS = {".": 0.22, "!": 0.22, "?": 0.22, ",": 0.09, ";": 0.12, ":": 0.12, "—": 0.1}
"""The pause after a clause, by its last mark. Without one it is only a breath: the sentence goes on."""
_BREATH_SECONDS = 0.02

_KNEE = 0.8
"""Samples up to here stay as they are; louder ones are bent towards 1, which none reaches."""

_LEVEL_SAMPLES = SAMPLE_RATE // 100
_PAUSE_LEVEL = 0.02
_PAUSE_SECONDS = 0.05
"""Of a pause within a clause: its level against the loudest sample, and its least length. Chosen on 60 sentences of
Pico in three languages."""
_LONG_PAUSE_SECONDS = 0.1
"""Longer than the silence in a consonant such as t."""


def make_clip(samples: np.ndarray, text: str, word_ends: Sequence[int] | None = None) -> Clip:
    """Trims an engine's silence to the pause that `text` ends with, and places its words.

    `word_ends`: the sample of `samples` after each word; estimated if the engine doesn't give them.
    """
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    if not len(loud):
        return Clip(np.zeros(0, np.float32), ())
    first = max(0, int(loud[0]) - int(_LEAD_SECONDS * SAMPLE_RATE))
    voiced = samples[first : int(loud[-1]) + 1]
    pause = _TAIL_SECONDS.get(text.rstrip("\"'”’“‘»«›‹)")[-1:], _BREATH_SECONDS)
    tail = np.zeros(int(pause * SAMPLE_RATE), np.float32)
    rest = samples[int(loud[-1]) + 1 :][: len(tail)]
    tail[: len(rest)] = rest
    out = np.concatenate([voiced, tail]).astype(np.float32)
    words, pauses = text.split(), find_pauses(voiced)
    if not word_ends or len(word_ends) != len(words):
        return Clip(out, place_words(text, len(voiced), pauses))
    ends = np.maximum.accumulate(np.clip(np.asarray(word_ends) - first, 0, len(voiced))).tolist()
    # A phoneme's length includes some of the pause after it, and a word has ended where it falls silent.
    long = [(start, end) for start, end in pauses if end - start > _LONG_PAUSE_SECONDS * SAMPLE_RATE]
    ends = [next((start for start, end in long if start < place <= end), place) for place in ends]
    ends[-1] = len(voiced)
    return Clip(out, tuple(map(SpokenWord, words, [0, *ends[:-1]], ends)))


def place_words(text: str, samples: int, pauses: Sequence[tuple[int, int]] = ()) -> tuple[SpokenWord, ...]:
    """Spreads the words of `text` over `samples` samples by their letters.

    `pauses`: where the sound is silent within. Each mark of the text (commas and the like) is placed at one of the
    longest of them; where there are too few, a mark counts as some letters.
    """
    words = text.split()
    marked = [number for number, word in enumerate(words[:-1], 1) if word[-1] in _TAIL_SECONDS]
    if len(pauses) < len(marked):
        marked = []
    longest = sorted(sorted(pauses, key=lambda pause: pause[0] - pause[1])[: len(marked)])
    placed: list[SpokenWord] = []
    start = previous = 0
    for number, (stop, resume) in zip([*marked, len(words)], [*longest, (samples, samples)], strict=True):
        ends = _spread(words[len(placed) : number], start, stop)
        for word, end in zip(words[len(placed) : number], ends, strict=True):
            placed.append(SpokenWord(word, previous, end))
            previous = end
        start = resume
    return tuple(placed)


def find_pauses(samples: np.ndarray) -> list[tuple[int, int]]:
    """The pauses within speech, from sample to sample, without the silence at its start and end."""
    power = np.convolve(np.square(samples), np.ones(_LEVEL_SAMPLES) / _LEVEL_SAMPLES, "same")
    quiet = np.sqrt(np.maximum(power, 0)) < _PAUSE_LEVEL * np.abs(samples).max()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]]).astype(np.int8))).reshape(-1, 2)
    least = int(_PAUSE_SECONDS * SAMPLE_RATE)
    return [(int(a), int(b)) for a, b in edges if b - a >= least and a > 0 and b < len(samples)]


def _spread(words: Sequence[str], start: int, end: int) -> list[int]:
    """Where each word ends between two samples."""
    weights = [_weight(word) for word in words]
    # The pause after the last word is not part of the stretch.
    if weights:
        weights[-1] = _weight(words[-1].rstrip(".,;:!?…"))
    return [round(place) for place in start + np.cumsum(weights) / max(1, sum(weights)) * (end - start)]


def _weight(word: str) -> float:
    letters = sum(3 if char.isdigit() else 1 for char in word if char.isalnum())
    pause = 4 if word[-1:] in ".!?" else 2 if word[-1:] in ",;:…" else 0
    return letters + 1 + pause


def amplified(samples: np.ndarray, gain: float, volume: float = 1.0) -> np.ndarray:
    """Float32 samples made louder by `gain` decibels and by the factor `volume`, with soft limiting."""
    factor = 10 ** (gain / 20) * volume
    out = (samples * factor).astype(np.float32)
    loud = np.abs(out) > _KNEE
    over = (np.abs(out[loud]) - _KNEE) / (1 - _KNEE)
    out[loud] = np.sign(out[loud]) * (_KNEE + (1 - _KNEE) * np.tanh(over))
    return out


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
