"""What one side of the demo hears, thinks and says, followed through events."""

import pytest

from app.conversation import events as e
from app.demo.side import SideState


def following(*events: e.Event, start: float = 1.0, seconds: float = 2.0) -> SideState:
    """A state that follows a question whose sound is known."""
    state = SideState()
    state.ask(start, seconds)
    for event in events:
        state.apply(event)
    return state


def level(at: float) -> e.LevelMeasured:
    return e.LevelMeasured(at, -90.0, -90.0)


def test_who_speaks_before_the_question_is_over_is_heard_at_once() -> None:
    assert following(e.UserStarted(1.0, 1), e.AssistantStarted(2.8, 1, 1)).heard == 0.0


def test_words_into_a_pause_of_the_question_do_not_stop_the_stopwatch() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.UserEnded(1.9, 1, 1.8, "words"),
        e.AssistantStarted(2.0, 1, 1),
        e.UserResumed(2.1, 1),
        level(3.5),
    )
    assert state.heard is None and state.clock(3.5) == pytest.approx(0.5)
    state.apply(e.AssistantStarted(3.6, 1, 2))
    assert state.heard == pytest.approx(0.6)


def test_a_turn_that_was_ended_too_soon_is_asked_about_as_a_whole() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.AssistantStarted(1.8, 1, 1),
        e.AssistantSaid(1.9, 1, "No", 1),
        e.UserStarted(2.0, 2),
        e.AssistantStarted(3.3, 2, 2),
        e.AssistantSaid(3.4, 2, "Yes", 2),
    )
    assert state.heard == pytest.approx(0.3) and state.said_by("assistant") == "Yes"


def test_an_answer_is_over_when_the_voice_has_been_silent_for_a_while() -> None:
    state = following(
        e.UserStarted(1.0, 1),
        e.AssistantStarted(3.2, 1, 1),
        e.AssistantSaid(3.5, 1, "Yes.", 1),
        e.AssistantEnded(3.8, 1, False),
        level(4.0),
    )
    assert not state.over and state.silent_for == pytest.approx(0.2)
    state.apply(level(4.9))
    assert state.over
    state.apply(e.AssistantResumed(5.0, 1))
    assert not state.over and state.silent_for == 0


def test_a_visitors_question_is_followed_by_the_events_alone() -> None:
    state = SideState()
    state.apply(level(10.0))
    state.ask(10.0)
    state.apply(e.UserStarted(11.0, 4))
    state.apply(e.TranscriptPartial(12.0, 4, "What is", "it", 11.9))
    assert state.said_by("user") == "What is it" and state.start == 11.0 and state.end is None
    state.apply(e.UserPaused(12.6, 4, 12.5))
    assert state.clock(12.7) == pytest.approx(0.2)
    state.apply(e.UserResumed(12.8, 4))
    assert state.clock(12.9) is None, "they go on"
    state.apply(e.UserEnded(14.2, 4, 14.0, "button"))
    state.apply(e.TranscriptFinal(14.3, 4, "What is it now?", 14.0))
    state.apply(e.AssistantStarted(14.5, 4, 1))
    assert state.heard == pytest.approx(0.5) and state.said_by("user") == "What is it now?"
    state.apply(e.UserStarted(20.0, 5))
    assert state.heard is None and state.said_by("user") == "" and state.start == 20.0
