"""Text from outside is made harmless once, whole or in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.untrusted.text import HarmlessStream, harmless, one_line

ODD = st.text(
    st.sampled_from("ab\n\t\r\x00\x07\x1b\x1b\x9b\x9c\x9d[]PX_^0;mJ\\\x85\u2028\u202e\u2066\ud83d\ude00\ufffe😀é"),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, é, 😀, \tand a\nline", "plain, é, 😀, \tand a\nline"),
        ("\ud83d\ude00", "😀"),
        ("half \ud83d.", "half \ufffd."),
        ("NUL\x00 and \x08\x7f", "NUL and "),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("vÄ\x9bda", "vÄda"),  # an ě in UTF-8 that was read as Latin-1
        ("\x9d0;a\x9cb", "0;ab"),  # quotation marks in UTF-8 that was read as Latin-1
        ("“yes” she said, “no”".encode().decode("latin-1"), "âyesâ she said, ânoâ"),
        ("\x1b]0;never ended\nnext", "]0;never ended\nnext"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\picture", "picture"),
        ("\x1b]52;c;never ended", "]52;c;never ended"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("\u05e9\u05dc\u05d5\u05dd \u200f\u0661", "\u05e9\u05dc\u05d5\u05dd \u200f\u0661"),
    ],
)
def test_makes_text_harmless(text: str, expected: str) -> None:
    assert harmless(text) == expected


@given(ODD)
def test_harmless_text_is_valid_and_stays_as_it_is(text: str) -> None:
    done = harmless(text)
    done.encode()
    assert all(character in "\n\t" or character.isprintable() or character in "\ufffd" for character in done)
    assert harmless(done) == done


@given(st.lists(ODD, max_size=8))
def test_text_in_pieces_is_harmless_as_a_whole(pieces: list[str]) -> None:
    stream = HarmlessStream()
    done = "".join([*map(stream.push, pieces), stream.flush()])
    assert done == harmless("".join(pieces))


def test_gives_plain_text_on_at_once() -> None:
    stream = HarmlessStream()
    assert stream.push("Hello") == "Hello"
    assert stream.push(" \ud83d") == " "
    assert stream.push("\ude00!") == "😀!"


@given(st.text(st.characters(exclude_characters="\x1b\x9b\r", exclude_categories=["Cs"]), max_size=30))
def test_text_without_escapes_is_given_on_at_once(text: str) -> None:
    assert HarmlessStream().push(text) == harmless(text)


def test_does_not_hold_an_endless_sequence() -> None:
    stream = HarmlessStream()
    assert sum(len(stream.push("x" * 1000 if i else "\x1b]0;")) for i in range(20)) > 15_000


def test_a_title_is_one_short_line() -> None:
    assert one_line("a\n b\x00\t c" + "d" * 99, 8) == "a b cddd"
