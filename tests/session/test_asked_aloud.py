"""A question is asked aloud into a session: it makes the user's turn in the microphone's place, and is heard."""

from __future__ import annotations

import numpy as np
import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.session.playback import LEAD_SECONDS
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import calling, simulate

QUESTION = "What is the capital of Sweden?"
ASKED_AT = 1.0
LEAD = LEAD_SECONDS
SOUND = (0.3 * np.sin(2 * np.pi * 150 * np.arange(round(2.1 * SAMPLE_RATE)) / SAMPLE_RATE)).astype(np.float32)
SPOKEN = ScriptedTurn(ASKED_AT + LEAD + 0.1, ASKED_AT + LEAD + 2.0, QUESTION)
"""The sound, as a recogniser hears it."""


def reply(request: ChatRequest) -> ScriptedAnswer:
    return answer("It is Stockholm, which lies on fourteen islands. " * 2)


def ask(session: Session) -> None:
    session.ask_aloud(SOUND)


@pytest.mark.parametrize("duplex", [True, False])
def test_it_is_the_users_turn_with_partials_and_an_answer_and_is_heard(duplex: bool) -> None:
    remembered: list[np.ndarray | None] = []

    def look(session: Session) -> None:
        remembered.append(session.sound_of("user", 0.0, 5.0))

    talk = simulate(
        [SPOKEN], reply, duplex=duplex, during=calling((ASKED_AT, ask), (6.0, look)), remember_seconds=60, seconds=15
    )
    [started], [ended], [final] = talk.of(e.UserStarted), talk.of(e.UserEnded), talk.of(e.TranscriptFinal)
    assert final.text == QUESTION and ended.reason == ("words" if duplex else "button")
    partials = talk.of(e.TranscriptPartial)
    assert len(partials) > 3 and started.at < partials[0].at < SPOKEN.end, "its words appear while it is asked"
    assert any(request.at < SPOKEN.end for request in talk.of(e.OracleRequested)), "the oracle thinks meanwhile"
    assert "Stockholm" in talk.said(1) and [turn.speaker for turn in talk.transcript.turns] == ["user", "assistant"]
    [heard] = remembered
    assert heard is not None
    first = int(np.argmax(np.abs(heard) > 0.01))
    assert abs(first / SAMPLE_RATE - ASKED_AT - LEAD) < 0.2
    part = heard[first : first + 40_000]
    assert np.abs(np.abs(part).max() - 0.3) < 0.01, "the session hears exactly that"
    assert talk.speaker.sounding(ASKED_AT + LEAD + 0.3, ASKED_AT + LEAD + 1.8), "and so does the user"
    assert not talk.tasks_left


@pytest.mark.parametrize("duplex", [True, False])
def test_it_can_be_stopped_and_is_not_answered_then(duplex: bool) -> None:
    script = [ScriptedTurn(SPOKEN.start, ASKED_AT + 1.2, "What is the"), ScriptedTurn(8.0, 9.5, "And of Norway?")]
    button = [] if duplex else [(7.9, Session.press), (9.6, Session.release)]
    calls = calling((ASKED_AT, ask), (ASKED_AT + 1.2, Session.stop_asking), *button)
    talk = simulate(script, reply, duplex=duplex, during=calls, seconds=20)
    assert not talk.said(1) and [end.turn for end in talk.of(e.UserEnded)] == [1, 2]
    assert not talk.speaker.sounding(ASKED_AT + 1.6, 8.0), "nothing more is heard of it"
    assert "Stockholm" in talk.said(2), "the next turn is the microphone's, and answered"


def test_the_talk_button_takes_over() -> None:
    script = [ScriptedTurn(SPOKEN.start, ASKED_AT + 1.2, "What is the"), ScriptedTurn(3.2, 4.6, "And of Norway?")]
    calls = calling((ASKED_AT, ask), (2.9, Session.press), (4.7, Session.release))
    talk = simulate(script, reply, duplex=False, during=calls, seconds=15)
    assert [end.turn for end in talk.of(e.UserEnded)] == [1, 2]
    assert not talk.said(1) and "Stockholm" in talk.said(2)
    assert talk.transcript.turns[-2].text == "And of Norway?"


def test_what_is_typed_ends_it() -> None:
    script = [ScriptedTurn(SPOKEN.start, ASKED_AT + 1.2, "What is the")]
    calls = calling((ASKED_AT, ask), (ASKED_AT + 1.2, lambda session: session.write("Where is Oslo?")))
    talk = simulate(script, reply, duplex=False, during=calls, seconds=15)
    assert [end.reason for end in talk.of(e.UserEnded)] == ["typed", "button"]
    assert not talk.said(1) and "Stockholm" in talk.said(2)
