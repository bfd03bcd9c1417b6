"""The oracle's text to tokens and the model's own tokens to words, both while they grow.

Knows SentencePiece and nothing of models: `pieces` is anything with its `encode`, `decode` and `id_to_piece`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

SPACE = "▁"
"""SentencePiece's mark for the space before a word."""


class Pieces(Protocol):
    """What is used of `sentencepiece.SentencePieceProcessor`."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int]) -> str: ...

    def id_to_piece(self, id: int) -> str: ...


class OracleTokenizer:
    """Tokens for one oracle revision, from a stream of deltas cut anywhere.

    What `push` and `finish` return, joined, is `pieces.encode` of the whole text, and nothing that was
    returned is ever changed: a word is encoded once the next one has begun, since no piece reaches over a
    space. (KAME was trained on whole sentences, encoded at once.)
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._text = ""
        self._sent: list[int] = []

    @property
    def sent(self) -> Sequence[int]:
        """All tokens returned so far."""
        return self._sent

    def push(self, delta: str, *, whole_words: bool = False) -> list[int]:
        """Takes a delta; returns the tokens that are certain now.

        `whole_words` tells that the text ends where a word does, so that the last one need not wait.
        """
        self._text += delta
        if whole_words:
            return self._encode(self._text)
        # Only the characters that every tokenizer of this kind takes for a space.
        cut = max(self._text.rfind(" "), self._text.rfind("\n"), 0)
        return self._encode(self._text[:cut].rstrip(" \n"))

    def finish(self) -> list[int]:
        """The rest, at the revision's end."""
        return self._encode(self._text)

    def _encode(self, text: str) -> list[int]:
        new = self._pieces.encode(text)[len(self._sent) :]
        self._sent += new
        return new


class InnerText:
    """The model's inner monologue, from a token a frame to words.

    A word is given out as soon as it is known to be whole: at the padding behind it, or when the next one
    begins. A piece that comes later and belongs to it (a comma) is given out without a space before it.
    """

    def __init__(self, pieces: Pieces, *, silent: frozenset[int]) -> None:
        self._pieces = pieces
        self._silent = silent
        self._word: list[int] = []

    def push(self, token: int) -> str:
        """Takes a frame's token; returns the words that are whole now, or nothing.

        A word that stands alone comes with a space before it; one that goes on the word before it without.
        """
        if token in self._silent:
            return self.flush()
        begins = self._pieces.id_to_piece(token).startswith(SPACE)
        done = self.flush() if begins else ""
        self._word.append(token)
        return done

    def flush(self) -> str:
        """What is left."""
        if not self._word:
            return ""
        ids, self._word = self._word, []
        text = self._pieces.decode(ids).strip()
        begins = self._pieces.id_to_piece(ids[0]).startswith(SPACE)
        return (" " if begins and text else "") + text
