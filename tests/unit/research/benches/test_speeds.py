"""The table of `bench speeds`: medians by speed of the model and length of the question."""

from pathlib import Path

import numpy as np

from app.conversation import events as e
from app.models.selection import Speed
from app.research.benches.latency import SpeedsResult
from app.research.benches.recordings import Recording


def test_the_gain_is_that_of_questions_answered_in_both_modes_by_length_and_speed(tmp_path: Path) -> None:
    ends = (1.0, 2.0, 2.5, 7.0, 9.0)
    questions = [Recording(str(end), "What is it?", np.zeros(10, np.float32), end) for end in ends]
    fast, slow = Speed(0.15, 200.0), Speed(2.0, 50.0)
    modes: tuple[e.AnswerMode, ...] = ("after", "thinking")
    seconds: dict[tuple[Speed, e.AnswerMode], list[float | None]] = {
        (fast, "after"): [1.0, 1.2, 1.4, 1.0, 1.2],
        (fast, "thinking"): [0.5, 0.5, None, 0.8, 0.6],
        (slow, "after"): [3.0, 3.2, 3.4, 3.0, None],
        (slow, "thinking"): [2.5, 3.0, 3.3, 1.0, 0.5],
    }
    result = SpeedsResult(questions, seconds, {(speed, mode): 1 for speed in (fast, slow) for mode in modes}, "costs")
    rows = [
        (speed.first, name, count, *(round(value, 2) for value in values))
        for speed, name, count, *values in result.rows()
    ]
    assert rows == [
        (0.15, "under 3 s", 2, 1.1, 0.5, 0.6),
        (0.15, "6 s and more", 2, 1.1, 0.7, 0.4),
        (2.0, "under 3 s", 3, 3.2, 3.0, 0.2),
        (2.0, "6 s and more", 1, 3.0, 1.0, 2.0),
    ]
    assert "| 2 | 50 | 6 s and more | 1 | 3.00 | 1.00 | 2.00 |" in result.table()
    assert "2 answers of the tandem were taken back." in result.table()
    assert [row["gained"] for row in result.document()["rows"]] == [0.6, 0.4, 0.2, 2.0]
    if result.draw(tmp_path / "speeds.svg"):
        assert "<svg" in (tmp_path / "speeds.svg").read_text()
