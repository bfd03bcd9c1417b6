"""The figures of `bench recognisers`, on words whose times are known."""

from __future__ import annotations

import pytest

from app.models.catalogue import find_model
from app.research.benches.recognition import (
    LEAD_SECONDS,
    Listened,
    RecogniserResult,
    RecognisersResult,
    _lags,
    words_wrong,
)

pytestmark = pytest.mark.slow


def test_a_word_lags_until_it_stands_in_a_partial_and_stays() -> None:
    told = [
        (0.5, 1, ("call",)),
        (1.0, 1, ("call", "be")),
        (1.5, 1, ("tall", "me")),
        (2.0, 1, ("call", "me")),
        (4.0, 2, ("now",)),
    ]
    told = [(at + LEAD_SECONDS, turn, words) for at, turn, words in told]
    ends = [("call", 0.3), ("her", 0.6), ("me", 0.9), ("now", 3.5)]
    assert [round(lag, 2) for lag in _lags(told, ends)] == [1.7, 0.6, 0.5]


def test_the_table_has_a_row_for_each_recogniser() -> None:
    some = [Listened("Call me at twenty-five past.", "call me at 25 fast", (0.2, 0.4), 1.0, 4.0)]
    assert words_wrong(some) == 0.2
    found = RecogniserResult(find_model("whisper-base"), 1.25, 250_000_000, {"people": some})
    row = RecognisersResult("en", {"people": 1}, [found]).table().splitlines()[-1]
    assert row == "| whisper-base | 20.0 % | 0.30 s | 0.25 | 250 MB | 1.2 s |"
