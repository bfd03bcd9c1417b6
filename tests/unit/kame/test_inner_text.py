"""Words from the model's own tokens, and tokens of an oracle that grows by words."""

import functools
from typing import Any

import pytest
import sentencepiece

from app.frontend.kame.spoken_words import InnerText
from tests.support.tiny_kame import pieces_model

pytestmark = pytest.mark.slow


@functools.cache
def pieces(kind: str) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=pieces_model(400, kind))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_whole_words_keep_their_tokens_when_more_words_follow(kind: str) -> None:
    """This is what lets the oracle be fed word by word."""
    words = "The Fitzwilliam Museum, it's 5,895 metres from naïve cafés.".split(" ")
    encode = pieces(kind).encode
    for count in range(1, len(words)):
        assert encode(" ".join(words))[: len(encode(" ".join(words[:count])))] == encode(" ".join(words[:count]))


def words(text: str, gaps: dict[int, int] | None = None) -> list[str]:
    """What the decoder gives for the pieces of `text`, with padding behind some of them."""
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    out = []
    for place, token in enumerate(pieces("unigram").encode(text)):
        out.append(inner.push(token))
        out += [inner.push(3) for _ in range((gaps or {}).get(place, 0))]
    out.append(inner.flush())
    return [word for word in out if word]


def test_pieces_become_words() -> None:
    text = "The Fitzwilliam Museum, it's 5,895 metres: naïve cafés."
    assert words(text) == [" " + word for word in text.split()]
    ids = pieces("unigram").encode("Museum, it")
    comma = [pieces("unigram").id_to_piece(i) for i in ids].index(",")
    assert words("Museum, it", {comma - 1: 3}) == [" Museum", ",", " it"]
    assert "".join(words("Museum, it", {comma - 1: 3})) == " Museum, it"
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    space = next(token for token in range(400) if pieces("unigram").id_to_piece(token) == "▁")
    word = next(token for token in range(400) if pieces("unigram").id_to_piece(token).isalpha())
    said = [inner.push(token) for token in (space, 3, 3, word, 3)]
    assert said == ["", "", "", "", " " + pieces("unigram").id_to_piece(word)]
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    ids = pieces("unigram").encode("漢")
    assert len(ids) > 2
    assert [inner.push(i) for i in ids[:-1]] == [""] * (len(ids) - 1)
    inner.push(ids[-1])
    assert inner.push(3).strip() == "漢"
