"""Target behaviour: what the model says, frame by frame, given when the words of the oracle arrive.

The model starts speaking just after the question. If no reliable answer has arrived, it says a filler (“Let me see.”),
waits, and then reads the newest revision. If a newer one arrives during the answer, it switches to that at the end of a
word. If none arrives for some seconds, it says that it does not know. Its speech consists of texts synthesized by the
voice, as codes and words by frame.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch

from app.frontend.kame.spoken_words import Pieces
from app.research.corpus.dialogue import OracleRow, TimedRevision, TimedWord, Vocabulary, oracle_row, text_row
from app.research.nano.voice_codec import LATENTS, VoiceCodec
from app.research.training.kame.trainer import NONE

Speak = Callable[[str, float], tuple[np.ndarray, list[tuple[int, int]]]]
"""Returns the latents of a text, `[N, 192]`, and the start and end latent of each word."""
_KEPT = 40_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as speech.

    `codes`: `[frames, books]`; `words`: with their first frames; `ends`: the frame after each word.
    """

    codes: np.ndarray
    words: tuple[TimedWord, ...]
    ends: tuple[int, ...]


class Bank(Protocol):
    """A source of speech for texts."""

    def speak(self, text: str) -> Spoken: ...


class UnspokenBank:
    """Gives texts the timing of speech, without audio, for training the text alone.

    `pace`: frames per letter; slow speech has about 0.8. `books`: number of codebooks, filled with `NONE`.
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
    """Synthesizes texts and caches the most recently used ones."""

    def __init__(self, speak: Speak, codec: VoiceCodec) -> None:
        self._speak, self._codec = speak, codec
        self.speak = lru_cache(_KEPT)(self._make)
        """Returns the speech of a text."""

    @torch.no_grad()
    def _make(self, text: str) -> Spoken:
        latents, spans = in_whole_frames(*self._speak(text, 1.0))
        padded = np.pad(latents, ((0, -len(latents) % LATENTS), (0, 0)))
        codes = self._codec.own.encode(torch.from_numpy(padded.reshape(-1, padded.shape[1] * LATENTS)))
        frames = [(start // LATENTS, -(-end // LATENTS)) for start, end in spans]
        words = tuple(TimedWord(start, word) for word, (start, _) in zip(text.split(), frames, strict=True))
        return Spoken(codes.numpy().astype(np.int16), words, tuple(min(end, len(codes)) for _, end in frames))


def in_whole_frames(latents: np.ndarray, spans: Sequence[tuple[int, int]]) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Stretches speech so that each word starts on a frame boundary, which makes its codes vary less.

    `latents`: `[N, 192]`; `spans`: the words' spans, as returned by a voice. The span from one word's start to the next
    takes the nearest whole number of frames, at least one.
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
    """Resamples latents to `length` by linear interpolation."""
    if not length:
        return latents[:0]
    at = np.clip((np.arange(length) + 0.5) * len(latents) / length - 0.5, 0, len(latents) - 1)
    low = at.astype(int)
    high, share = np.minimum(low + 1, len(latents) - 1), (at - low)[:, None]
    return (latents[low] * (1 - share) + latents[high] * share).astype(np.float32)


FILLERS = ("Well.", "So.", "Okay.", "Right.", "Let me see.", "Let me think.", "One moment.", "I see.")
WAITING = ("One moment please.", "I am still looking.", "Just a moment.")
UNKNOWN = ("Sorry, I don't know.", "I am sorry, I don't know that.", "I can't tell you that.")
CORRECTIONS = ("Sorry.", "No.", "No, sorry.", "Correction.")

GIVE_UP = 45
"""Frames (3.6 s) after the question until the model says that it does not know."""
AGAIN = 16
"""Frames of silence before it repeats that it is waiting."""
TOO_LATE = 20
"""Frames after the answer within which a new revision is still spoken."""
LATE = 0.2
"""Share of answers that start late, as when a session holds back the model's speech."""
TRUST = 1
"""Frames after the end of the question before which no revision can be based on all of it."""


@dataclass(slots=True)
class Answer:
    """An answer as words and speech by frame.

    `word_ends`: the frame after each word; `end`: the frame after all of it.
    """

    words: list[TimedWord] = field(default_factory=list)
    word_ends: list[int] = field(default_factory=list)
    sounds: list[tuple[int, Spoken, int]] = field(default_factory=list)  # start frame, speech, frames of it played
    end: int = 0

    def say(self, spoken: Spoken, at: int, cut: tuple[int, int] | None = None) -> None:
        """Adds speech from frame `at` on. `cut`: the frame at which it stops, and the number of words until then."""
        until, count = cut or (at + len(spoken.codes), len(spoken.words))
        length = until - at
        # A word's text comes a frame before its sound, except for the first.
        self.words += [TimedWord(max(at, at + word.frame - 1), word.word) for word in spoken.words[:count]]
        self.word_ends += [at + end - 1 for end in spoken.ends[:count]]
        self.sounds.append((at, spoken, length))
        self.end = at + length

    def text(self, pieces: Pieces, vocabulary: Vocabulary, frames: int) -> np.ndarray:
        """Returns the text tokens, each about when its letters are spoken, so that the next sounds are always known."""
        return text_row(self.words, pieces, vocabulary, frames, self.word_ends)


class AnswerPlan:
    """Plans one answer. `question_end`: the first frame after the question; `late`: the chance of a late start."""

    def __init__(
        self,
        bank: Bank,
        draw: random.Random,
        question_end: int,
        revisions: Sequence[TimedRevision],
        oracle: OracleRow,
        late: float = LATE,
    ) -> None:
        self._bank, self._draw, self._late = bank, draw, late
        self._question_end = question_end
        self._revisions, self._oracle = revisions, oracle
        self.answer = Answer(end=question_end)

    def plan(self) -> Answer:
        """Returns the answer."""
        start = self._question_end + self._draw.choice((0, 0, 1))
        if self._draw.random() < self._late:
            start += self._draw.randint(2, 14)
        now = self._newest(start)
        if now is None:
            self.answer.say(self._one_of(FILLERS), start)
            now = self._wait()
        if now is None:
            self.answer.say(self._one_of(UNKNOWN), self.answer.end + 2)
            return self.answer
        self._read(now, max(start, self.answer.end if self.answer.sounds else start))
        return self.answer

    def _wait(self) -> int | None:
        """Waits for a revision, filling the time with phrases. Returns None if none arrives."""
        while True:
            if (now := self._newest(self.answer.end)) is not None:
                return now
            arrival = self._next_arrival(self.answer.end)
            if self.answer.end >= self._question_end + GIVE_UP and (arrival is None or arrival > self.answer.end):
                return None
            if arrival is not None and arrival <= self.answer.end + AGAIN:
                self.answer.end = max(self.answer.end, arrival + 1)
                return self._newest(self.answer.end)
            self.answer.say(self._one_of(WAITING), self.answer.end + AGAIN)

    def _read(self, number: int, at: int) -> None:
        """Reads a revision aloud, switching to newer ones."""
        said: list[str] = []  # words of the revision so far
        rest = self._revisions[number].text.split()
        for _ in range(6):
            spoken = self._bank.speak(" ".join(rest))
            at = self._when_fed(number, len(said), spoken, at)
            change = self._next_change(number, at, at + len(spoken.codes) + TOO_LATE)
            if change is None:
                self.answer.say(spoken, at)
                return
            newer, arrival = change
            cut = _cut(spoken, at, arrival + 2)
            self.answer.say(spoken, at, cut)
            said += rest[: cut[1]]
            number, target = newer, self._revisions[newer].text.split()
            at = max(self.answer.end, arrival + 2)
            if target == said:
                return
            if target[: len(said)] == said and len(target) > len(said):
                rest = target[len(said) :]
                continue
            self.answer.say(self._one_of(CORRECTIONS), at)
            said, rest, at = [], target, self.answer.end

    def _when_fed(self, number: int, skipped: int, spoken: Spoken, at: int) -> int:
        """Returns the first frame from `at` on where speech can start so that every word is fed before it is spoken."""
        fed = self._oracle.fed[number][skipped:]
        late = [
            frame + 1 - max(0, word.frame - 1) for word, frame in zip(spoken.words, fed, strict=False) if frame >= 0
        ]
        return max([at, *late])

    def _arrivals(self) -> list[tuple[int, int]]:
        """Returns the revisions that may be based on the whole question, each with the frame of its first fed word."""
        found = []
        for number, fed in enumerate(self._oracle.fed):
            # A revision's start token precedes its first word.
            if fed and fed[0] >= self._question_end + TRUST:
                found.append((number, fed[0]))
        return found

    def _newest(self, frame: int) -> int | None:
        return max((number for number, arrival in self._arrivals() if arrival < frame), default=None)

    def _next_arrival(self, frame: int) -> int | None:
        return min((arrival for _, arrival in self._arrivals() if arrival >= frame), default=None)

    def _next_change(self, number: int, start: int, end: int) -> tuple[int, int] | None:
        """Returns the first newer revision with different words that arrives before `end`, with its arrival frame."""
        text = self._revisions[number].text
        changes = [
            (newer, arrival)
            for newer, arrival in self._arrivals()
            if newer > number and arrival < end and self._revisions[newer].text != text
        ]
        return min(changes, default=None)

    def _one_of(self, texts: Sequence[str]) -> Spoken:
        return self._bank.speak(self._draw.choice(texts))


def _cut(spoken: Spoken, at: int, earliest: int) -> tuple[int, int]:
    """Returns the end of the first word to end at frame `earliest` or later, and the number of words up to it.

    `at`: the frame in which the speech starts. If no word ends that late, returns the end of the speech.
    """
    words = ((at + end, count) for count, end in enumerate(spoken.ends, 1) if at + end >= earliest)
    return next(words, (at + len(spoken.codes), len(spoken.words)))


LENGTH = 384
"""Frames of a dialogue, 30.7 s. A last turn that does not fit is left out."""


class Track:
    """The token rows of a dialogue, to which turns are added. `silence`: the own codes of a silent frame."""

    def __init__(self, pieces: Pieces, vocabulary: Vocabulary, own_books: int, silence: int) -> None:
        self._pieces, self._vocabulary = pieces, vocabulary
        self._text, self._oracle = (np.full(LENGTH, vocabulary.padding, np.int64) for _ in range(2))
        self._own = np.full((own_books, LENGTH), silence, np.int64)

    def add(
        self,
        at: int,
        bank: Bank,
        draw: random.Random,
        question_end: int,
        revisions: Sequence[TimedRevision],
        late: float = LATE,
    ) -> int | None:
        """Adds a turn that begins in frame `at`, with an answer planned by `AnswerPlan`.

        Returns the frame after it; None if it does not fit.
        """
        row = oracle_row(revisions, self._pieces, self._vocabulary, question_end + LENGTH)
        answer = AnswerPlan(bank, draw, question_end, revisions, row, late).plan()
        stop = answer.end + 2
        if stop > LENGTH:
            return None
        self._oracle[at:stop] = row.tokens[at:stop]
        self._text[at:stop] = answer.text(self._pieces, self._vocabulary, stop)[at:]
        for frame, spoken, length in answer.sounds:
            self._own[:, frame : frame + length] = spoken.codes[:length].T
        return stop

    def tokens(self, user: np.ndarray) -> np.ndarray:
        """Returns all rows with the user's codes, int16 `[text + own + user + oracle, frames]`."""
        return np.concatenate([self._text[None], self._own, user, self._oracle[None]]).astype(np.int16)
