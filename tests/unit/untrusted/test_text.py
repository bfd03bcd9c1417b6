"""Text from outside is made harmless once, and scanned by lines, whole or in pieces."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.untrusted.limits import Limits, Refused
from app.untrusted.line_scanner import LineScanner
from app.untrusted.text import HarmlessStream, harmless, one_line
from tests.support.tables import cases

ODD = st.text(
    st.sampled_from("ab\n\t\r\x00\x07\x1b\x1b\x9b\x9c\x9d[]PX_^0;mJ\\\x85\u2028\u202e\u2066\ud83d\ude00\ufffe😀é"),
    max_size=40,
)


@cases(
    "text, expected",
    ("plain, é, 😀, \tand a\nline", "plain, é, 😀, \tand a\nline"),
    ("\ud83d\ude00", "😀"),
    ("half \ud83d.", "half \ufffd."),
    ("\x1b[31mred\x1b[0m", "red"),
    ("vÄ\x9bda", "vÄda"),  # an ě in UTF-8 that was read as Latin-1
    ("\x9d0;a\x9cb", "0;ab"),  # quotation marks in UTF-8 that was read as Latin-1
    ("“yes” she said, “no”".encode().decode("latin-1"), "âyesâ she said, ânoâ"),
    ("\x1b]0;never ended\nnext", "]0;never ended\nnext"),
    ("\x1b]0;title\x07text", "text"),
    ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1bPq#0\x1b\\picture", "picture"),
    ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
    ("abc\u202egpj.exe", "abcgpj.exe"),
    ("\u05e9\u05dc\u05d5\u05dd \u200f\u0661", "\u05e9\u05dc\u05d5\u05dd \u200f\u0661"),
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
@example(["\ud83d\x1b", "\ude00"])
@example(["\ud83d\x1b[31m", "\ude00"])
@example(["\r", "\x1b\\", "\n"])
@example(["\x1b]0;\r", "\x07"])
def test_text_in_pieces_is_harmless_as_a_whole(pieces: list[str]) -> None:
    stream = HarmlessStream()
    done = "".join([*map(stream.push, pieces), stream.flush()])
    assert done == harmless("".join(pieces))


def test_gives_plain_text_on_at_once_and_holds_no_endless_sequence() -> None:
    stream = HarmlessStream()
    assert stream.push("Hello") == "Hello"
    assert stream.push(" \ud83d") == " "
    assert stream.push("\ude00!") == "😀!"
    stream = HarmlessStream()
    assert sum(len(stream.push("x" * 1000 if i else "\x1b]0;")) for i in range(20)) > 15_000


def test_a_title_is_one_short_line() -> None:
    assert one_line("a\n b\x00\t c" + "d" * 99, 8) == "a b cddd"


WHOLE, LINE = Limits(10_000, depth=6, items=40), Limits(60, depth=6, items=20)
PIECES = st.sampled_from(
    ["data: ", "[", "]", "{", "}", ",", '"a"', '"[[[["', "1", "\r\n", "\r\n", "\r", "\n", "\r\n\r\n", ": x"]
)
BODIES = st.lists(PIECES, max_size=40).map(lambda parts: "".join(parts).encode())


def scanned(blocks: list[bytes], line: Limits = LINE) -> bytes | None:
    """What is given on of a body, None where it is refused."""
    scanner = LineScanner(WHOLE, line)
    try:
        given_on = [lines for block in blocks for lines in scanner.push(block)]
        return b"".join([*given_on, *scanner.flush()])
    except Refused:
        return None


@given(BODIES, st.lists(st.integers(0, 200), max_size=6), st.sampled_from([LINE, WHOLE]))
def test_the_cuts_between_blocks_change_nothing(body: bytes, cuts: list[int], line: Limits) -> None:
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    blocks = [body[begin:end] for begin, end in pairwise(places)]
    whole = scanned([body], line)
    assert scanned(blocks, line) == whole
    assert whole in (None, body)


@pytest.mark.parametrize(
    "event",
    [[b"data: [1,1,1,1,1,1\r\n"] * 5, [b"data: [[[[\r\n"] * 2, [b"data: x\r\n"] * 9],
    ids=["values", "depth", "bytes"],
)
def test_an_event_of_many_lines_is_bounded_as_one(event: list[bytes]) -> None:
    body = b"".join(event)
    assert scanned([body]) is None
    assert all(scanned([body[:cut], body[cut:]]) is None for cut in range(len(body)))


def test_lines_may_end_with_a_return_and_events_are_bounded_one_by_one() -> None:
    blocks = [b"data: x\r", b"\r"] * 40
    assert scanned(blocks) == b"".join(blocks)
    body = b"data: [1,1,1,1,1,1]\r\n\r\n" * 30
    assert scanned([body]) == body
