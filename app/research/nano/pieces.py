"""A small model's vocabulary as the package tokenizers reads it, in place of SentencePiece's own package."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Replace, Sequence, Strip
from tokenizers.pre_tokenizers import Metaspace

from app.frontend.kame.inner_text import SPACE
from app.models.errors import ModelError

PIECES_NAME = "pieces.json"
"""The file's name in a folder of weights."""


class TokenizerPieces:
    """What a stream uses of `sentencepiece.SentencePieceProcessor`, with the same tokens for the same words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int]) -> str:
        """The text of tokens."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def id_to_piece(self, id: int) -> str:
        """A token's piece, in which a space is `SPACE`."""
        return str(self._tokenizer.id_to_token(id))

    def vocab_size(self) -> int:
        """How many tokens there are."""
        return int(self._tokenizer.get_vocab_size())


def read_pieces(folder: Path) -> TokenizerPieces:
    """Reads the vocabulary in a folder of weights. Raises ModelError."""
    try:
        return TokenizerPieces(Tokenizer.from_file(str(folder / PIECES_NAME)))
    except Exception as error:  # the package raises no class of its own
        raise ModelError(
            f"{folder} holds no {PIECES_NAME} that can be read ({error}). Write the weights again with “train merge "
            "--compact”."
        ) from error


def unigram(pieces: list[tuple[str, float]], unknown: int) -> Tokenizer:
    """A vocabulary of pieces with their scores, which no space is inside of; other characters become bytes."""
    tokenizer = Tokenizer(Unigram(pieces, unk_id=unknown, byte_fallback=True))
    tokenizer.normalizer = Sequence([NFKC(), Replace(Regex(r"\s+"), " "), Strip()])
    tokenizer.pre_tokenizer = Metaspace(SPACE, prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(SPACE)])
    return tokenizer
