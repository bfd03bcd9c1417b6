"""Follows the words of a model that speaks by itself: text tokens to words, which turn it answers, when it is done."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import Mark, Said

SPACE = "▁"
"""SentencePiece's mark for the space before a word."""


class Pieces(Protocol):
    """The part of `sentencepiece.SentencePieceProcessor` that is used here."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...

    def id_to_piece(self, id: int) -> str: ...


class Vocabulary(Pieces, Protocol):
    """Pieces whose number is known."""

    def vocab_size(self) -> int: ...


class InnerText:
    """The words of the model's inner monologue; tokens in `silent` are no text.

    A word is given out as soon as it is known to be whole: at the padding after it, or when the next one starts. A
    piece that belongs to it and comes later (a comma) is given out without a space before it.
    """

    def __init__(self, pieces: Pieces, *, silent: frozenset[int]) -> None:
        self._pieces = pieces
        self._silent = silent
        self._word: list[int] = []

    def push(self, token: int) -> str:
        """Takes a frame's token; returns the words that are whole now, or nothing.

        A word that stands alone has a space before it, one that continues the word before has none.
        """
        if token in self._silent:
            # The space before a word may be a token of its own.
            return "" if self._is_space() else self.flush()
        starts = self._pieces.id_to_piece(token).startswith(SPACE)
        done = self.flush() if starts else ""
        self._word.append(token)
        return done

    def _is_space(self) -> bool:
        return len(self._word) == 1 and self._pieces.id_to_piece(self._word[0]) == SPACE

    def flush(self) -> str:
        """Returns and forgets what is left."""
        if not self._word:
            return ""
        ids, self._word = self._word, []
        text = self._pieces.decode(ids).strip()
        starts = self._pieces.id_to_piece(ids[0]).startswith(SPACE)
        return (" " if starts and text else "") + text


END_FRAMES = 12
"""Frames without a word (1 s) after which an answer is over, if it is quiet too."""
LOUD = 0.01
"""RMS above which a frame sounds, about -40 dBFS."""
LINGER_FRAMES = 25
"""Frames (2 s) that a model is given to start an answer before nothing more is expected of it."""


class SpokenWords:
    """Follows one stream. `silent`: the text tokens that are no words."""

    def __init__(self, pieces: Pieces, silent: frozenset[int], vocabulary: int) -> None:
        self.answering: tuple[int, int] | None = None
        """Turn and revision of the answer that is being spoken."""
        self.floor_turn = 0
        """The newest turn that the floor was given for."""
        self.wordless_frames = 0
        """Frames since the last text token."""
        self.idle_frames = LINGER_FRAMES
        """Frames in which nothing was said and nothing could be expected."""
        self._inner = InnerText(pieces, silent=silent)
        self._silent = silent
        self._vocabulary = vocabulary
        self._quiet_frames = 0

    @property
    def idle(self) -> bool:
        """Whether nothing sounds, and the model has had its time to start."""
        return self.answering is None and self.idle_frames >= LINGER_FRAMES

    def follow(self, token: int, samples: np.ndarray, asked_turn: int, revision: int) -> tuple[list[Said], list[Mark]]:
        """Takes a frame's text token and sound; returns the words that ended, and what changed.

        `asked_turn`: the newest turn that a revision was requested for. `revision`: the one that is fed.
        """
        if token >= self._vocabulary:
            token = min(self._silent)  # the model's vocabulary may be rounded up
        text = self._inner.push(token)
        self._count(token in self._silent, samples)
        marks: list[Mark] = []
        if not text:
            if self.answering is not None and self._seems_over:
                marks.append(Mark("ended", *self.answering))
                self.answering = None
            return [], marks
        # A newer request is no newer answer: the turn changes when the floor is given for it.
        if self.answering is None or self.floor_turn > self.answering[0]:
            if self.answering is not None:
                marks.append(Mark("ended", *self.answering))
            self.answering = (max(asked_turn, self.floor_turn), revision)
            marks.append(Mark("started", *self.answering))
        glued = not text.startswith(" ")
        return [Said(text.strip(), FRAME_SAMPLES, self.answering[0], revision, glued)], marks

    def stop(self) -> list[Mark]:
        """Interrupts the answer; returns the mark of that, none if nothing was spoken."""
        if self.answering is None:
            return []
        marks = [Mark("interrupted", *self.answering)]
        self.answering = None
        self._inner.flush()  # a word that was cut off was not said
        return marks

    def _count(self, wordless: bool, samples: np.ndarray) -> None:
        self.wordless_frames = self.wordless_frames + 1 if wordless else 0
        self.idle_frames = self.idle_frames + 1 if wordless else 0
        loud = float(np.sqrt(np.mean(samples * samples))) > LOUD
        self._quiet_frames = 0 if loud else self._quiet_frames + 1

    @property
    def _seems_over(self) -> bool:
        """No word for a second and no sound either, or no word for three."""
        quiet = self._quiet_frames >= END_FRAMES
        return self.wordless_frames >= (END_FRAMES if quiet else 3 * END_FRAMES)
