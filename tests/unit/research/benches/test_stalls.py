"""How the bench of stalls judges a conversation, and when it lets a stall happen."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches import stalls
from app.research.benches.recordings import Turn, clean
from app.research.benches.stalls import (
    BACK_SECONDS,
    MEASURED_WRITES,
    Asked,
    NotingListener,
    StallingAsker,
    StallsResult,
    plan_stalls,
)

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


def test_stalls_are_of_all_lengths_and_apart_from_each_other() -> None:
    plan = plan_stalls(20, 15, seed=1)
    assert sorted(length for _, length in plan)[::14] == pytest.approx([0.2, 6.0])
    assert all(b - a - length > BACK_SECONDS for (a, length), (b, _) in itertools.pairwise(plan))


def test_a_stall_waits_until_the_delay_after_the_one_before_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now, known = [100.0], [False]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    asker = StallingAsker([(1.0, 0.5), (2.0, 0.7)], lambda end: known[0])
    with asker:
        while now[0] < 110.0:
            asker.read_frame(0.2)
        assert [length for _, length in asker.made] == [0.5] and not asker.done and not asker.held_up
        known[0] = True
        asker.read_frame(0.2)
        assert [length for _, length in asker.made] == [0.5, 0.7] and asker.done
        now[0] += 1.0
        asker.read_frame(0.2)
        assert asker.held_up == [pytest.approx(1.0)]


def test_a_delay_is_known_from_a_second_of_voice_20_s_after_the_stall() -> None:
    now = [0.0]
    listener = NotingListener()
    listener._now = lambda: now[0]
    for number in range(MEASURED_WRITES + 1):
        assert not listener.measured(100.0)
        now[0] = 100.0 + BACK_SECONDS + 0.08 * (number - 1)
        listener.write(np.zeros(FRAME_SAMPLES, np.float32))
    assert listener.measured(100.0) and not listener.measured(101.0)


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


def test_an_answer_may_begin_in_a_pause_or_right_after_a_gap_but_not_over_the_voice() -> None:
    def over(at: float, *events: e.Event) -> int:
        return asked(*events, e.AssistantStarted(BEGIN + at, 1, 1)).over_the_user

    assert (over(1.0), over(2.9), over(3.5)) == (1, 0, 1)
    gap = e.SoundLost(BEGIN + 1.08, 6)
    assert (over(1.1, gap), over(1.4, gap)) == (0, 1)


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


def test_a_machine_that_is_busy_by_itself_is_named() -> None:
    one = result(HEARD)
    assert "itself" not in one.table()
    one.held_up = [0.4, 2.0]
    assert "held the app up 2 times, for up to 2.0 s" in one.table() and one.ok
