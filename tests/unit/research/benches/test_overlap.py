"""`bench overlap` tells whole questions, those without a beginning and those that vanished apart."""

from __future__ import annotations

import numpy as np
import pytest

from app.conversation.words import fold
from app.research.benches.overlap import Outcome, OverlapResult, Place
from app.research.benches.recordings import Recording

pytestmark = pytest.mark.slow

TEXT = "I would like to become a voyager next year."


def _over(heard: str) -> Outcome:
    asked = Recording("one", TEXT, np.zeros(0, np.float32))
    return Outcome(Place("loudspeaker, first conversation", {}), asked, 3.0, fold(heard), fold(TEXT), True, 0)


@pytest.mark.parametrize(
    ("heard", "whole", "beginning_lost", "vanished"),
    [
        ("I would like to become a voyager next year", True, False, False),
        ("Eye would like to become the voyager next year", True, False, False),
        ("like to become a voyager next year", False, True, False),
        ("I would like", False, False, False),
        ("", False, False, True),
        ("wow", False, False, True),
    ],
)
def test_what_became_of_a_question(heard: str, whole: bool, beginning_lost: bool, vanished: bool) -> None:
    one = _over(heard)
    assert (one.whole, one.beginning_lost, one.vanished) == (whole, beginning_lost, vanished)
    assert one.sound_whole


def test_the_table_counts_them_by_place() -> None:
    result = OverlapResult([_over("I would like to become a voyager next year"), _over("wow")], [0, 1])
    [figures] = result.figures().values()
    assert (figures["questions"], figures["whole"], figures["vanished"]) == (2, 1, 1)
    assert "| loudspeaker, first conversation | 2 | 2 | 1 | 0 | 1 |" in result.table()
    assert "interrupted itself 1 times in 2 talks" in result.table()
    assert [one["heard"] for one in result.document()["not_whole"]] == ["wow"]
