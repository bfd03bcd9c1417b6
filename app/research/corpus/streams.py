"""The token rows of a dialogue: one token a frame of 80 ms for the oracle, and one for the model's own text.

Both follow what a session does: the newest revision that has words is fed from its start, one token a frame, and words
that have not arrived are not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.frontend.kame.inner_text import SPACE, Pieces


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The special tokens of a model: `padding` where nothing is said, `start` where an oracle begins."""

    padding: int
    start: int


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word and the frame in which it arrives, or is spoken."""

    frame: int
    word: str


@dataclass(frozen=True, slots=True)
class TimedRevision:
    """An oracle revision: its words as they arrive. Revisions are ordered by the time they were requested."""

    words: tuple[TimedWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.word for word in self.words)


@dataclass(frozen=True, slots=True)
class OracleRow:
    """The oracle's tokens. `fed`: for each revision the frame in which each word had been fed whole (-1: never)."""

    tokens: np.ndarray
    fed: tuple[tuple[int, ...], ...]


def word_tokens(text: str, pieces: Pieces) -> list[list[int]]:
    """The tokens of each word of `text`, encoded as a whole."""
    words: list[list[int]] = []
    for token in pieces.encode(text):
        if not words or pieces.id_to_piece(token).startswith(SPACE):
            words.append([])
        words[-1].append(token)
    return words


def oracle_row(revisions: Sequence[TimedRevision], pieces: Pieces, vocabulary: Vocabulary, frames: int) -> OracleRow:
    """Feeds the revisions as a session does: first in, first out, and the newest that has words replaces the others."""
    tokens = np.full(frames, vocabulary.padding, np.int64)
    groups = [word_tokens(revision.text, pieces) for revision in revisions]
    arrivals = [[word.frame for word in revision.words] for revision in revisions]
    fed = [[-1] * len(revision.words) for revision in revisions]
    current, next_word = -1, 0
    queue: list[tuple[int, int]] = []  # tokens, each with the word that it completes, or -1
    for frame in range(frames):
        newest = max((n for n, times in enumerate(arrivals) if times and times[0] <= frame), default=-1)
        if newest > current:
            current, next_word, queue = newest, 0, [(vocabulary.start, -1)]
        if current < 0:
            continue
        while next_word < len(arrivals[current]) and arrivals[current][next_word] <= frame:
            group = groups[current][next_word] if next_word < len(groups[current]) else []
            queue += [
                (token, next_word if token_place == len(group) - 1 else -1) for token_place, token in enumerate(group)
            ]
            next_word += 1
        if queue:
            tokens[frame], whole = queue.pop(0)
            if whole >= 0:
                fed[current][whole] = frame
    return OracleRow(tokens, tuple(tuple(row) for row in fed))


def text_row(
    words: Sequence[TimedWord],
    pieces: Pieces,
    vocabulary: Vocabulary,
    frames: int,
    ends: Sequence[int] | None = None,
) -> np.ndarray:
    """The tokens of the words, each word from its frame on, one token a frame; late where words are crowded.

    `ends`: the frame after each word, over which its tokens are spread by their letters; None: they follow each other.
    """
    tokens = np.full(frames, vocabulary.padding, np.int64)
    groups = word_tokens(" ".join(word.word for word in words), pieces)
    at = 0
    for number, (word, group) in enumerate(zip(words, groups, strict=True)):
        wait = [0] * len(group) if ends is None else _spread(group, pieces, ends[number] - word.frame)
        for token, later in zip(group, wait, strict=True):
            at = max(at, word.frame + later)
            if at < frames:
                tokens[at] = token
            at += 1
    return tokens


def _spread(group: Sequence[int], pieces: Pieces, length: int) -> list[int]:
    """The frame of each token within a word of `length` frames, by the share of its letters that come before."""
    letters = [sum(map(str.isalnum, pieces.id_to_piece(token))) for token in group]
    before = np.cumsum([0, *letters[:-1]])
    return [int(length * count / max(1, sum(letters))) for count in before]
