"""The voice protocol, which converts text to speech clips asynchronously.

`make_clip` trims silence from an engine's output and aligns the words with it; `ClipBuilder` does the same while the
output arrives. `amplified` adjusts the loudness.
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

_LOUD = 0.01
"""Amplitude at which speech begins."""

_FADE_SAMPLES = SAMPLE_RATE // 100
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
    loud = np.flatnonzero(np.abs(samples) > _LOUD)
    if not len(loud):
        return Clip(np.zeros(0, np.float32), ())
    first = _start(int(loud[0]))
    voiced = samples[first : int(loud[-1]) + 1]
    tail = np.zeros(_tail_samples(text), np.float32)
    rest = samples[int(loud[-1]) + 1 :][: len(tail)]
    tail[: len(rest)] = rest
    out = np.concatenate([voiced, tail]).astype(np.float32)
    pauses = find_pauses(voiced)
    if not word_ends or len(word_ends) != len(text.split()):
        return Clip(out, place_words(text, len(voiced), pauses))
    return Clip(out, _words(text, np.asarray(word_ends) - first, len(voiced), pauses))


def _start(first_loud: int) -> int:
    return max(0, first_loud - int(_LEAD_SECONDS * SAMPLE_RATE))


def _tail_samples(text: str) -> int:
    pause = _TAIL_SECONDS.get(text.rstrip("\"'”’“‘»«›‹)")[-1:], _BREATH_SECONDS)
    return int(pause * SAMPLE_RATE)


def _words(
    text: str, word_ends: np.ndarray, samples: int, pauses: Sequence[tuple[int, int]] = ()
) -> tuple[SpokenWord, ...]:
    """Returns the words of `text` in a clip whose speech has `samples` samples."""
    ends = np.maximum.accumulate(np.clip(word_ends, 0, samples)).tolist()
    # A phoneme's duration includes part of the pause after it, but the word ends where the silence starts.
    long = [(start, end) for start, end in pauses if end - start > _LONG_PAUSE_SECONDS * SAMPLE_RATE]
    ends = [next((start for start, end in long if start < place <= end), place) for place in ends]
    ends[-1] = samples
    return tuple(map(SpokenWord, text.split(), [0, *ends[:-1]], ends))


class ClipBuilder:
    """Builds a clip while the engine's output arrives, so that it can be played before it is complete.

    - `text`, `word_ends`: as for `make_clip`; `samples`: the length of the whole output.
    - `gain`, `volume`: as for `amplified`.

    Once the output is complete, the clip is the one that `make_clip` would have created.
    """

    def __init__(
        self, text: str, samples: int, word_ends: Sequence[int] | None, gain: float = 0.0, volume: float = 1.0
    ) -> None:
        self.clip: Clip | None = None
        """The clip, from the part on in which it begins to sound."""
        self._text, self._length = text, samples
        known = word_ends is not None and len(word_ends) == len(text.split()) > 0
        self._word_ends = list(word_ends) if known and word_ends is not None else None
        self._gain, self._volume = gain, volume
        self._parts: list[np.ndarray] = []
        self._first = 0

    def add(self, samples: np.ndarray) -> None:
        """Adds the next part of the output (float32, 24 kHz)."""
        self._parts.append(samples)
        received = np.concatenate(self._parts)
        if self.clip is None:
            loud = np.flatnonzero(np.abs(received) > _LOUD)
            if not len(loud):
                return
            self._first = _start(int(loud[0]))
            length = max(self._length, len(received)) - self._first
            if self._word_ends is not None:
                words = _words(self._text, np.asarray(self._word_ends) - self._first, length)
            else:
                words = place_words(self._text, length)
            self.clip = Clip(np.zeros(length + _tail_samples(self._text), np.float32), words, filled=0)
        ready = received[self._first + self.clip.filled :][: len(self.clip.samples) - self.clip.filled]
        until = self.clip.filled + len(ready)
        self.clip.samples[self.clip.filled : until] = amplified(ready, self._gain, self._volume)
        self.clip.filled = until

    def finish(self) -> Clip:
        """Completes the clip and returns it."""
        whole = make_clip(np.concatenate([np.zeros(0, np.float32), *self._parts]), self._text, self._word_ends)
        whole.samples = amplified(whole.samples, self._gain, self._volume)
        if self.clip is None:
            self.clip = whole
        else:
            self.clip.samples, self.clip.words, self.clip.filled = whole.samples, whole.words, whole.filled
        return self.clip

    def break_off(self, sentence: str) -> None:
        """Ends the clip where it is, since no more output comes. `sentence` tells the user why."""
        if self.clip is not None:
            ended = [word for word in self.clip.words if word.end <= self.clip.filled]
            self.clip.samples = self.clip.samples[: self.clip.filled].copy()
            fade = min(len(self.clip.samples), _FADE_SAMPLES)
            self.clip.samples[len(self.clip.samples) - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
            self.clip.words, self.clip.problem = tuple(ended), sentence


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


@dataclass(slots=True, eq=False)
class Clip:
    """Synthesised speech: `samples` (float32, mono, 24 kHz) and the position of each word.

    - `notice`: what the user should know about the voice although it has spoken, as a sentence.
    - `filled`: how many of the samples are there. While it is less than all, the voice's thread changes the clip: more
      samples follow, then the exact length and positions of the words.
    - `unwanted`: set by the player if no more samples are needed.
    - `problem`: why the clip breaks off, as a sentence.
    """

    samples: np.ndarray
    words: tuple[SpokenWord, ...]
    notice: str = ""
    filled: int = -1
    unwanted: bool = False
    problem: str = ""

    def __post_init__(self) -> None:
        if self.filled < 0:
            self.filled = len(self.samples)

    @property
    def complete(self) -> bool:
        """Whether all samples are there."""
        return self.filled >= len(self.samples)


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

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        """Starts synthesising `text` in the background and returns immediately.

        Clips complete in call order, and pending ones can be cancelled. On failure, the future raises VoiceError.
        `growing`: the clip may be returned as soon as its first part is there.
        """
        ...

    def __enter__(self) -> Voice: ...

    def __exit__(self, *exc: object) -> None: ...
