"""How the bench of stalls judges a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches import stalls
from app.research.benches.recordings import Turn, clean
from app.research.benches.stalls import Asked, StallsResult

BEGIN = 10.0
VOICE = np.full(SAMPLE_RATE, 0.2, np.float32)
QUESTION = clean("q", "one two three four five six", np.concatenate([VOICE, VOICE, 0 * VOICE, VOICE]))
"""Two seconds of voice, a pause of a second, and another second of voice."""
HEARD = Asked("q", lost=0.0, gaps=0, wrong=0, words=10, over_the_user=0, answered=True)


def asked(*events: e.Event, words: str = QUESTION.text) -> Asked:
    """Returns how a question fared that began at `BEGIN`."""
    end = BEGIN + QUESTION.end
    usual = (e.TranscriptFinal(end + 0.5, 1, words, end), e.AssistantSaid(end + 2, 1, "yes", 1))
    return stalls._figures(QUESTION, Turn((*events, *usual), end))


def result(*questions: Asked, planned: int = 1, delays: Sequence[float | None] = (0.1,)) -> StallsResult:
    return StallsResult(1.0, planned, list(questions), [1.0] * len(delays), 0.1, list(delays))


def test_what_a_gap_took_may_be_missing_and_no_more() -> None:
    gap = e.FramesDropped(BEGIN + 1.08, 6)  # from 0.52 to 1.0 s
    one = asked(gap, words="one four five six")
    assert (one.lost, one.gaps, one.wrong) == (pytest.approx(0.48), 1, 2) and one.heard
    assert not asked(words="one four five six").heard
    assert not asked(gap, words="").heard
    nothing = Turn((gap, e.TranscriptFinal(BEGIN + 4.5, 1, "", BEGIN + 4)), BEGIN + 4)
    assert stalls._figures(QUESTION, nothing).answered, "nothing was understood that could be answered"
    assert not stalls._figures(QUESTION, replace(nothing, events=nothing.events[1:])).answered
    assert asked(e.FramesDropped(BEGIN - 1.0, 6)).gaps == 0, "before the question"


def test_everything_must_hold_and_be_known() -> None:
    assert result(HEARD).ok and "Everything held" in result(HEARD).table()
    for bad in (
        result(),
        result(replace(HEARD, wrong=3)),
        result(replace(HEARD, over_the_user=1)),
        result(replace(HEARD, answered=False)),
        result(HEARD, delays=[0.3]),
        result(HEARD, delays=[None]),
        result(HEARD, planned=2),
    ):
        assert not bad.ok and "NOT everything held: " in bad.table() and not bad.document()["ok"]
