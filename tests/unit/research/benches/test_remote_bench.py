"""The result of `bench remote`."""

from __future__ import annotations

import pytest

from app.research.benches.latency import Measured, RemoteResult

pytestmark = pytest.mark.slow


def test_both_ways_stand_side_by_side() -> None:
    here_figures = Measured([0.9, 1.1, 1.0], word_errors=1, words=40)
    result = RemoteResult(here_figures, Measured([1.0, 1.2], word_errors=2, words=40, unanswered=1))
    assert "| here | 3 | 1.00 | 1.10 | 1 | 40 | 0 |" in result.table()
    assert "| by a server | 3 | 1.10 | 1.20 | 2 | 40 | 1 |" in result.table()
    here, there = result.document()["ways"]
    assert here["first_sound_p50"] == 1.0 and there["unanswered"] == 1
