"""The model's own speech: texts spoken by the voice, as codes and words frame by frame."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from app.frontend.kame.codec.voice_codec import LATENTS, VoiceCodec
from app.research.corpus.streams import TimedWord
from app.research.training.kame.batches import NONE

Speak = Callable[[str, float], tuple[np.ndarray, list[tuple[int, int]]]]
"""Gives the latents of a text, `[N, 192]`, and the first latent of each word and the one after it."""
_KEPT = 40_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as speech. `codes`: `[frames, books]`; `words`: with their first frames; `ends`: the frame after each."""

    codes: np.ndarray
    words: tuple[TimedWord, ...]
    ends: tuple[int, ...]


class Bank(Protocol):
    """What speaks texts."""

    def speak(self, text: str) -> Spoken: ...


class UnspokenBank:
    """Times texts as speech would, without any: for training the text alone.

    `pace`: frames a letter; slow speech has about 0.8. `books`: of the codes, of which there are none.
    """

    def __init__(self, pace: float, books: int) -> None:
        self._pace, self._books = pace, books

    def speak(self, text: str) -> Spoken:
        """Returns the times of a text's words, with `NONE` for codes."""
        frames = [max(1, round(len(word) * self._pace)) for word in text.split()]
        ends = np.cumsum(frames)
        words = [TimedWord(int(end) - count, word) for word, count, end in zip(text.split(), frames, ends, strict=True)]
        return Spoken(np.full((int(ends[-1]), self._books), NONE, np.int16), tuple(words), tuple(map(int, ends)))


class SpeechBank:
    """Speaks texts, and keeps what was spoken last."""

    def __init__(self, speak: Speak, codec: VoiceCodec) -> None:
        self._speak, self._codec = speak, codec
        self._kept: OrderedDict[str, Spoken] = OrderedDict()

    def speak(self, text: str) -> Spoken:
        """Returns the speech of a text."""
        if text not in self._kept:
            self._kept[text] = self._make(text)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(text)
        return self._kept[text]

    @torch.no_grad()
    def _make(self, text: str) -> Spoken:
        latents, spans = in_whole_frames(*self._speak(text, 1.0))
        padded = np.pad(latents, ((0, -len(latents) % LATENTS), (0, 0)))
        codes = self._codec.own.encode(torch.from_numpy(padded.reshape(-1, padded.shape[1] * LATENTS)))
        frames = [(start // LATENTS, -(-end // LATENTS)) for start, end in spans]
        words = tuple(TimedWord(start, word) for word, (start, _) in zip(text.split(), frames, strict=True))
        return Spoken(codes.numpy().astype(np.int16), words, tuple(min(end, len(codes)) for _, end in frames))


def in_whole_frames(latents: np.ndarray, spans: Sequence[tuple[int, int]]) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Stretches speech so that each word begins with a frame: a word's codes then differ less from time to time.

    `latents`: `[N, 192]`; `spans`: of the words, as a voice gives them. From its start to that of the next one, each
    word takes the nearest number of frames, one at least.
    """
    if not spans:
        return latents, []
    starts = [start for start, _ in spans]
    parts = [_stretched(latents[: starts[0]], LATENTS * round(starts[0] / LATENTS))]
    moved, at = [], len(parts[0])
    for (start, end), after in zip(spans, [*starts[1:], len(latents)], strict=True):
        length = LATENTS * max(1, round((after - start) / LATENTS)) if after > start else 0
        parts.append(_stretched(latents[start:after], length))
        moved.append((at, at + round((end - start) * length / max(1, after - start))))
        at += length
    return np.concatenate(parts), moved


def _stretched(latents: np.ndarray, length: int) -> np.ndarray:
    """The latents at `length` places, between which they are interpolated."""
    if not length:
        return latents[:0]
    at = np.clip((np.arange(length) + 0.5) * len(latents) / length - 0.5, 0, len(latents) - 1)
    low = at.astype(int)
    high, share = np.minimum(low + 1, len(latents) - 1), (at - low)[:, None]
    return (latents[low] * (1 - share) + latents[high] * share).astype(np.float32)
