"""The voice protocol, which converts text to speech clips asynchronously.

`make_clip` trims silence from an engine's output and aligns the words with it; `amplified` adjusts the loudness.
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
"""Length of the pause after a clause, keyed by its final punctuation mark; `_BREATH_SECONDS` if there is no mark."""
_BREATH_SECONDS = 0.02

_KNEE = 0.8
"""Amplitude above which samples are soft-limited to keep them below 1."""

_LEVEL_SAMPLES = SAMPLE_RATE // 100
_PAUSE_LEVEL = 0.02
_PAUSE_SECONDS = 0.05
"""Maximum level, relative to the loudest sample, and minimum length of a pause within a clause. Tuned on 60 sentences
synthesised by Pico in three languages."""
_LONG_PAUSE_SECONDS = 0.1
"""Minimum length of a pause that marks the end of a word; the closure of a stop consonant such as /t/ is shorter."""


def make_clip(samples: np.ndarray, text: str, word_ends: Sequence[int] | None = None) -> Clip:
    """Creates a clip from an engine's output, trimmed at both ends. The length of the final pause depends on `text`.

    `word_ends`: the end of each word as a sample offset in `samples`; estimated if the engine doesn't provide it.
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
    # A phoneme's duration includes part of the pause after it, but the word ends where the silence starts.
    long = [(start, end) for start, end in pauses if end - start > _LONG_PAUSE_SECONDS * SAMPLE_RATE]
    ends = [next((start for start, end in long if start < place <= end), place) for place in ends]
    ends[-1] = len(voiced)
    return Clip(out, tuple(map(SpokenWord, words, [0, *ends[:-1]], ends)))


def place_words(text: str, samples: int, pauses: Sequence[tuple[int, int]] = ()) -> tuple[SpokenWord, ...]:
    """Distributes the words of `text` over `samples` samples in proportion to their number of letters.

    `pauses`: the silent spans within the audio. Punctuation marks inside the text are matched to the longest ones; if
    there are fewer pauses than marks, each mark counts as a few letters instead.
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
    """Returns the pauses within speech as (start, end) sample offsets, excluding leading and trailing silence."""
    power = np.convolve(np.square(samples), np.ones(_LEVEL_SAMPLES) / _LEVEL_SAMPLES, "same")
    quiet = np.sqrt(np.maximum(power, 0)) < _PAUSE_LEVEL * np.abs(samples).max()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]]).astype(np.int8))).reshape(-1, 2)
    least = int(_PAUSE_SECONDS * SAMPLE_RATE)
    return [(int(a), int(b)) for a, b in edges if b - a >= least and a > 0 and b < len(samples)]


def _spread(words: Sequence[str], start: int, end: int) -> list[int]:
    """Returns the sample offset at which each word ends if `words` fill the range from `start` to `end`."""
    weights = [_weight(word) for word in words]
    # The pause after the last word lies outside this range.
    if weights:
        weights[-1] = _weight(words[-1].rstrip(".,;:!?…"))
    return [round(place) for place in start + np.cumsum(weights) / max(1, sum(weights)) * (end - start)]


def _weight(word: str) -> float:
    letters = sum(3 if char.isdigit() else 1 for char in word if char.isalnum())
    pause = 4 if word[-1:] in ".!?" else 2 if word[-1:] in ",;:…" else 0
    return letters + 1 + pause


def amplified(samples: np.ndarray, gain: float, volume: float = 1.0) -> np.ndarray:
    """Returns `samples` scaled by `gain` (in dB) and `volume` (a factor), as float32 with soft limiting."""
    factor = 10 ** (gain / 20) * volume
    out = (samples * factor).astype(np.float32)
    loud = np.abs(out) > _KNEE
    over = (np.abs(out[loud]) - _KNEE) / (1 - _KNEE)
    out[loud] = np.sign(out[loud]) * (_KNEE + (1 - _KNEE) * np.tanh(over))
    return out


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of a clip, from sample `start` (inclusive) to `end` (exclusive), including any pause before the word."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Synthesised speech: `samples` (float32, mono, 24 kHz) and the position of each word.

    `notice`: what the user should know about the voice although it has spoken, as a sentence.
    """

    samples: np.ndarray
    words: tuple[SpokenWord, ...]
    notice: str = ""


class VoiceError(Exception):
    """A speech synthesis error; `str(error)` is a user-facing message."""


class Voice(Protocol):
    """Synthesises speech. A context manager that loads the voice on entry.

    `rate` (1 is the voice's normal rate) and `volume` (a factor) may be changed at any time and take effect with the
    next text.
    """

    name: str
    rate: float
    volume: float

    def synthesize(self, text: str) -> Future[Clip]:
        """Starts synthesising `text` in the background and returns immediately.

        Clips complete in call order, and pending ones can be cancelled. On failure, the future raises VoiceError.
        """
        ...

    def __enter__(self) -> Voice: ...

    def __exit__(self, *exc: object) -> None: ...
