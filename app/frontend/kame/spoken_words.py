"""Tracks a model that decides on its own when to speak: its words, the turn it answers, and when its answer ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.conversation.speaking.spoken_answer import Said
from app.frontend.base import AnswerTracker, Mark
from app.models.catalogue import ModelError

SPACE = "▁"
"""SentencePiece's mark for the space before a word."""


class Pieces(Protocol):
    """The part of the `sentencepiece.SentencePieceProcessor` interface used here."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...

    def id_to_piece(self, id: int) -> str: ...

    def vocab_size(self) -> int: ...


def read_pieces(path: Path) -> Any:
    """Returns the text vocabulary in a SentencePiece file. Raises ModelError."""
    import sentencepiece

    try:
        return sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    except (RuntimeError, OSError) as error:
        raise ModelError(f"{path.name} is damaged: it is no SentencePiece model. Download it again.") from error


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


class SpokenWords(AnswerTracker):
    """Tracks the speech in one stream. `silent`: the text tokens that aren't words."""

    def __init__(self, pieces: Pieces, silent: frozenset[int]) -> None:
        super().__init__()
        self.floor_turn = 0
        """The newest turn for which the model was given the floor."""
        self._inner = InnerText(pieces, silent=silent)
        self._silent = silent
        self._vocabulary = pieces.vocab_size()

    def follow(self, token: int, samples: np.ndarray, asked_turn: int, revision: int) -> tuple[list[Said], list[Mark]]:
        """Processes a frame's text token and audio. Returns the words completed by the frame, and any marks.

        `asked_turn`: the newest turn for which a revision was requested; `revision`: the one being fed.
        """
        if token >= self._vocabulary:
            token = min(self._silent)  # the model's vocabulary may be rounded up
        text = self._inner.push(token)
        self._count(token not in self._silent, samples)
        if not text:
            return [], self._close("ended") if self._seems_over else []
        # A newer request doesn't mean a newer answer: the turn changes when the floor is given for it.
        marks: list[Mark] = []
        if self.answering is None or self.floor_turn > self.answering[0]:
            marks = self._begin(max(asked_turn, self.floor_turn), revision)
        assert self.answering is not None
        glued = not text.startswith(" ")
        return [Said(text.strip(), FRAME_SAMPLES, self.answering[0], revision, glued)], marks

    def stop(self) -> list[Mark]:
        if self.answering is not None:
            self._inner.flush()  # a word that was cut off doesn't count
        return super().stop()
