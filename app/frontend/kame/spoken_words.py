"""Tracks a model that decides on its own when to speak: its words, the turn it answers, and when its answer ends."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.conversation.speaking.what_to_say import Said
from app.frontend.base import Mark

SPACE = "▁"
"""SentencePiece's mark for the space before a word."""


class Pieces(Protocol):
    """The part of the `sentencepiece.SentencePieceProcessor` interface used here."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...

    def id_to_piece(self, id: int) -> str: ...


class Vocabulary(Pieces, Protocol):
    """`Pieces` with a known vocabulary size."""

    def vocab_size(self) -> int: ...


class InnerText:
    """Assembles the words of the model's inner monologue. Tokens in `silent` aren't text.

    A word is returned as soon as it is known to be complete: at the padding after it, or when the next one starts. A
    piece that belongs to the word but arrives later, such as a comma, is returned without a leading space.
    """

    def __init__(self, pieces: Pieces, *, silent: frozenset[int]) -> None:
        self._pieces = pieces
        self._silent = silent
        self._word: list[int] = []

    def push(self, token: int) -> str:
        """Adds a frame's token and returns any text that is complete now.

        The text has a leading space unless it continues the previous word.
        """
        if token in self._silent:
            # The space before a word may be a separate token.
            return "" if [*map(self._pieces.id_to_piece, self._word)] == [SPACE] else self.flush()
        starts = self._pieces.id_to_piece(token).startswith(SPACE)
        done = self.flush() if starts else ""
        self._word.append(token)
        return done

    def flush(self) -> str:
        """Returns and clears the remaining text."""
        if not self._word:
            return ""
        ids, self._word = self._word, []
        text = self._pieces.decode(ids).strip()
        starts = self._pieces.id_to_piece(ids[0]).startswith(SPACE)
        return (" " if starts and text else "") + text


END_FRAMES = 12
"""Frames without a word (1 s) after which an answer counts as over if the audio is quiet."""
LOUD = 0.01
"""RMS above which a frame is audible, about -40 dBFS."""
LINGER_FRAMES = 25
"""Frames (2 s) without a word after which the model is no longer expected to start an answer."""


class SpokenWords:
    """Tracks the speech in one stream. `silent`: the text tokens that aren't words."""

    def __init__(self, pieces: Pieces, silent: frozenset[int], vocabulary: int) -> None:
        self.answering: tuple[int, int] | None = None
        """Turn and revision of the answer being spoken."""
        self.floor_turn = 0
        """The newest turn for which the model was given the floor."""
        self.wordless_frames = 0
        """Frames since the last text token."""
        self.idle_frames = LINGER_FRAMES
        """Consecutive frames in which no word was spoken or expected."""
        self._inner = InnerText(pieces, silent=silent)
        self._silent = silent
        self._vocabulary = vocabulary
        self._quiet_frames = 0

    @property
    def idle(self) -> bool:
        """Whether no answer is being spoken or expected."""
        return self.answering is None and self.idle_frames >= LINGER_FRAMES

    def follow(self, token: int, samples: np.ndarray, asked_turn: int, revision: int) -> tuple[list[Said], list[Mark]]:
        """Processes a frame's text token and audio. Returns the words completed by the frame, and any marks.

        `asked_turn`: the newest turn for which a revision was requested; `revision`: the one being fed.
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
        # A newer request doesn't mean a newer answer: the turn changes when the floor is given for it.
        if self.answering is None or self.floor_turn > self.answering[0]:
            if self.answering is not None:
                marks.append(Mark("ended", *self.answering))
            self.answering = (max(asked_turn, self.floor_turn), revision)
            marks.append(Mark("started", *self.answering))
        glued = not text.startswith(" ")
        return [Said(text.strip(), FRAME_SAMPLES, self.answering[0], revision, glued)], marks

    def stop(self) -> list[Mark]:
        """Interrupts the answer. Returns its mark, or an empty list if no answer was being spoken."""
        if self.answering is None:
            return []
        marks = [Mark("interrupted", *self.answering)]
        self.answering = None
        self._inner.flush()  # a word that was cut off doesn't count
        return marks

    def _count(self, wordless: bool, samples: np.ndarray) -> None:
        self.wordless_frames = self.wordless_frames + 1 if wordless else 0
        self.idle_frames = self.idle_frames + 1 if wordless else 0
        loud = float(np.sqrt(np.mean(samples * samples))) > LOUD
        self._quiet_frames = 0 if loud else self._quiet_frames + 1

    @property
    def _seems_over(self) -> bool:
        """Whether there was no word and no audio for one second, or no word for three seconds."""
        quiet = self._quiet_frames >= END_FRAMES
        return self.wordless_frames >= (END_FRAMES if quiet else 3 * END_FRAMES)
