"""The oracle's tokens against the whole sentence's, and words from the model's own tokens."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from app.frontend.kame.oracle_text import InnerText, OracleTokenizer
from tests.support.tiny_kame import pieces_model


@functools.cache
def pieces(kind: str) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=pieces_model(400, kind))


LETTERS = "abc dé  Fi,.'’-漢ﬁ\n\t´\u0301\u00a0\u3000½…59 \u200b\x1c"
CUTS = st.lists(st.text(alphabet=LETTERS, max_size=6), max_size=20)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@settings(max_examples=300)
@given(deltas=CUTS)
def test_a_stream_gives_the_whole_sentences_tokens_and_takes_none_back(kind: str, deltas: list[str]) -> None:
    tokenizer = OracleTokenizer(pieces(kind))
    given_out: list[int] = []
    for delta in deltas:
        given_out += tokenizer.push(delta)
        assert list(tokenizer.sent) == given_out
    given_out += tokenizer.finish()
    assert given_out == pieces(kind).encode("".join(deltas))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_whole_words_are_encoded_at_once_and_as_in_the_sentence(kind: str) -> None:
    text = "The Fitzwilliam Museum, it's 5,895 metres from naïve cafés."
    tokenizer = OracleTokenizer(pieces(kind))
    words = text.split(" ")
    for count, word in enumerate(words, 1):
        tokenizer.push((" " if count > 1 else "") + word, whole_words=True)
        assert list(tokenizer.sent) == pieces(kind).encode(" ".join(words[:count]))
    assert tokenizer.finish() == []


def test_a_word_waits_for_its_end_however_it_is_cut() -> None:
    tokenizer = OracleTokenizer(pieces("unigram"))
    assert tokenizer.push("Fitz") == [] and tokenizer.push("will") == [] and tokenizer.push("iam") == []
    assert tokenizer.push(" M") == pieces("unigram").encode("Fitzwilliam")


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


def test_padding_ends_a_word_and_a_late_piece_goes_on_with_it() -> None:
    ids = pieces("unigram").encode("Museum, it")
    comma = [pieces("unigram").id_to_piece(i) for i in ids].index(",")
    assert words("Museum, it", {comma - 1: 3}) == [" Museum", ",", " it"]
    assert "".join(words("Museum, it", {comma - 1: 3})) == " Museum, it"


def test_a_letter_of_several_bytes_waits_for_all_of_them() -> None:
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    ids = pieces("unigram").encode("漢")
    assert len(ids) > 2
    assert [inner.push(i) for i in ids[:-1]] == [""] * (len(ids) - 1)
    inner.push(ids[-1])
    assert inner.push(3).strip() == "漢"
