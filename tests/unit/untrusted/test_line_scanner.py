"""What a scanner of lines says of a body does not depend on how the body is cut into blocks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.untrusted.limits import Limits, Refused
from app.untrusted.line_scanner import LineScanner

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


def test_lines_that_end_with_a_return_alone_are_lines() -> None:
    blocks = [b"data: x\r", b"\r"] * 40
    assert scanned(blocks) == b"".join(blocks)


def test_events_are_bounded_one_by_one() -> None:
    body = b"data: [1,1,1,1,1,1]\r\n\r\n" * 30
    assert scanned([body]) == body
