"""The oracle's cards show no markers, and every letter stays where it is."""

from __future__ import annotations

import pytest

from app.gui.oracle.card import NOTHING, readable


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("It is **so**, *really*.", "It is so, really."),
        ("Use `ls -l`:\n```sh\nls\n```", "Use ls -l:\nsh\nls\n"),
        ("# A head\n- one\n- two", "A head\n• one\n• two"),
        ("See [the docs](http://a.b/c_d).", "See the docs."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "│ a │ b │\n┼───┼───┼\n│ 1 │ 2 │"),
        ("> quoted ~~not~~", "│ quoted not"),
        ("Plain: 3 * 4, snake_case, a-b and $5.", "Plain: 3 * 4, snake_case, a-b and $5."),
    ],
)
def test_markers_disappear_and_letters_keep_their_places(text: str, seen: str) -> None:
    for end in range(len(text) + 1):
        assert len(readable(text[:end])) == end, "also while it grows"
    assert readable(text).replace(NOTHING, "") == seen
