"""Turns the model's text tokens, one a frame, into words as they come."""

from __future__ import annotations

from typing import Protocol

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
