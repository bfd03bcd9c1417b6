"""Turns that are typed or asked aloud for the user, and talks that go on where an earlier one has ended."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.prompt import ChatMessage
from app.frontend.cascade import CascadeFrontEnd
from app.session.playback import LEAD_SECONDS
from app.session.session import Session
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice
from tests.support.talks import calling, simulate


def _about(request: ChatRequest) -> ScriptedAnswer:
    return answer(f"You asked about this. {request.messages[-1].content.rstrip('?.')} is a fine thing to ask me.")


def writing(*typed: tuple[float, str]) -> Callable[[Session], None]:
    return calling(*((at, lambda session, text=text: session.write(text)) for at, text in typed))


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
@pytest.mark.parametrize("duplex", [True, False])
def test_what_is_typed_is_answered_aloud_without_waiting(answer_mode: e.AnswerMode, duplex: bool) -> None:
    talk = simulate([], _about, answer_mode=answer_mode, duplex=duplex, during=writing((1.0, " Where is \n Paris? ")))
    [final] = talk.of(e.TranscriptFinal)
    assert final.text == "Where is Paris?"
    [ended] = talk.of(e.UserEnded)
    assert ended.reason == "typed" and ended.speech_end == ended.at and 1.0 <= ended.at <= 1.17
    [request] = talk.of(e.OracleRequested)
    assert request.final and request.words == "Where is Paris?"
    [started] = talk.of(e.AssistantStarted)
    assert started.at - ended.at < 0.5
    assert talk.said(1) == "You asked about this. Where is Paris is a fine thing to ask me."
    assert [turn.text for turn in talk.transcript.turns] == ["Where is Paris?", talk.said(1)]
    assert not talk.tasks_left


def test_it_interrupts_an_answer_and_the_conversation_continues_by_voice() -> None:
    france, spain = "What is the capital of France?", "And what about Spain?"
    script = [ScriptedTurn(1.0, 3.0, france), ScriptedTurn(12.0, 13.5, spain)]
    talk = simulate(script, _about, seconds=30, during=writing((4.5, "No, of Italy.")))
    ends = talk.of(e.AssistantEnded)
    assert [(end.turn, end.interrupted) for end in ends] == [(1, True), (2, False), (3, False)]
    assert ends[0].at <= 4.75, "it falls silent at once"
    assert "of Italy" in talk.said(2) and "Spain" in talk.said(3)


def test_it_follows_a_turn_that_is_still_being_spoken() -> None:
    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
    talk = simulate(script, _about, during=writing((3.0, "Or rather, of Italy?")))
    texts = [(turn.speaker, turn.number, turn.text) for turn in talk.transcript.turns if turn.speaker == "user"]
    assert ("user", 2, "Or rather, of Italy?") in texts
    assert texts[0][1] == 1 and texts[0][2].startswith("What is"), "what was said is kept"
    assert "of Italy" in talk.said(2)


def test_an_edited_question_is_answered_without_what_it_replaces() -> None:
    requests: list[list[str]] = []

    def reply(request: ChatRequest) -> ScriptedAnswer:
        requests.append([message.content for message in request.messages[1:]])
        return answer(f"Answer {len(requests)}.")

    def edit(session: Session) -> None:
        first = [ChatMessage("user", "One?"), ChatMessage("assistant", "Answer 1.")]
        session.choose_branch((0, 1), first)
        session.write("Three?")

    steps = (1, "One?"), (5, "Two?"), (13, "Four?")
    typed = ((at, lambda session, text=text: session.write(text)) for at, text in steps)
    talk = simulate([], reply, answer_mode="after", seconds=20, during=calling(*typed, (9.0, edit)))
    assert requests == [
        ["One?"],
        ["One?", "Answer 1.", "Two?"],
        ["One?", "Answer 1.", "Three?"],
        ["One?", "Answer 1.", "Three?", "Answer 3.", "Four?"],
    ]
    assert [turn.after for turn in talk.transcript.turns if turn.speaker == "user"] == [None, None, (0, 1), None]


def test_a_session_begins_on_the_branch_that_was_chosen_before_it() -> None:
    earlier = ChatMessage("user", "One?"), ChatMessage("assistant", "Answer 1.")
    talk = simulate([], _about, seconds=8, during=writing((1.0, "Two?")), branch=(1, 1), earlier=earlier)
    [asked] = [turn for turn in talk.transcript.turns if turn.speaker == "user"]
    assert asked.after == (1, 1)
    assert [message.content for message in talk.backend.requests[0].messages[1:]] == ["One?", "Answer 1.", "Two?"]


class Slow(ScriptedTranscriber):
    """Writes a turn down so many seconds after its end, as a real recogniser does."""

    def end(self, turn: int, speech_end: float) -> None:
        asyncio.get_running_loop().call_later(0.5, super().end, turn, speech_end)


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
@pytest.mark.parametrize("said", ["What is the capital of France?", ""])
def test_what_was_still_being_written_down_is_not_answered_in_its_place(answer_mode: e.AnswerMode, said: str) -> None:
    script = [ScriptedTurn(1.0, 3.0, said)]
    talk = simulate(
        script,
        _about,
        answer_mode=answer_mode,
        transcriber=Slow(script),
        during=writing((3.0, "Or rather, of Italy?")),
        seconds=12,
    )
    finals = [(final.turn, final.text) for final in talk.of(e.TranscriptFinal)]
    assert finals == [(2, "Or rather, of Italy?"), (1, said)], "nothing is lost"
    assert "of Italy" in talk.said(2)
    assert [end.interrupted for end in talk.of(e.AssistantEnded) if end.turn == 2] == [False]


def test_a_voice_that_continues_meanwhile_does_not_take_the_answer_away() -> None:
    """A television, or a neighbour: who types beside it wants to be answered."""
    script = [ScriptedTurn(1.0, 9.0, "and now to the weather for the north and the south of the country and the sea")]
    talk = simulate(script, _about, seconds=20, during=writing((2.6, "Where is Paris?")))
    typed = next(end for end in talk.of(e.UserEnded) if end.reason == "typed")
    assert "Where is Paris" in talk.said(typed.turn)
    assert [end.interrupted for end in talk.of(e.AssistantEnded) if end.turn == typed.turn] == [False]
    times = [event.at for event in talk.of(e.UserStarted, e.UserEnded)]
    assert times == sorted(times)


def test_after_a_silence_the_voice_counts_again() -> None:
    script = [ScriptedTurn(4.5, 6.5, "No, of Italy.")]
    talk = simulate(script, _about, seconds=20, during=writing((3.0, "What is the capital of France and Spain?")))
    assert [(end.turn, end.interrupted) for end in talk.of(e.AssistantEnded)] == [(1, True), (2, False)]


@pytest.mark.parametrize("duplex", [True, False])
def test_the_talk_button_counts_again_after_a_typed_turn(duplex: bool) -> None:
    script = [ScriptedTurn(1.0, 2.0, "What is"), ScriptedTurn(8.0, 9.0, "And what about Spain?")]

    during = calling(
        (0.9, Session.press),
        (2.5, lambda session: session.write("What is the capital of France?")),
        (2.51, Session.release),
        (7.9, Session.press),
        (9.1, Session.release),
    )
    talk = simulate(script, _about, seconds=20, duplex=duplex, during=during)
    assert "France" in talk.said(2) and "Spain" in talk.said(3)


def test_two_that_come_together_are_two_turns_and_nothing_typed_is_none() -> None:
    talk = simulate([], _about, seconds=15, during=writing((1.0, "One."), (1.001, "Two.")))
    assert [final.text for final in talk.of(e.TranscriptFinal)] == ["One.", "Two."]
    assert "Two" in talk.said(2)
    [request] = [r for r in talk.of(e.OracleRequested) if r.turn == 2]
    assert request.words == "Two."
    talk = simulate([], _about, seconds=2, during=writing((0.5, " \n ")))
    assert not talk.of(e.UserStarted)


def test_a_voice_that_only_hears_says_that_it_cannot_read() -> None:
    class Deaf(CascadeFrontEnd):
        name = "Moshi"
        hears_oracle = False

    talk = simulate([], _about, seconds=3, frontend=Deaf(ScriptedVoice(), "thinking"), during=writing((1.0, "Hello?")))
    [failure] = talk.of(e.Failure)
    assert failure.sentence.startswith("Moshi only hears and speaks") and not failure.fatal
    assert not talk.of(e.OracleRequested)
    assert [turn.text for turn in talk.transcript.turns] == ["Hello?"], "nothing is lost"


def test_what_was_said_before_is_sent_and_not_asked_about_again() -> None:
    earlier = (ChatMessage("user", "My name is Ada."), ChatMessage("assistant", "Hello, Ada."))
    seen: list[ChatRequest] = []

    def reply(request: ChatRequest) -> ScriptedAnswer:
        seen.append(request)
        return answer("You are Ada.")

    talk = simulate([], reply, earlier=earlier, during=writing((1.0, "Who am I?")))
    [request] = seen
    assert request.messages[1:] == (*earlier, ChatMessage("user", "Who am I?"))
    assert [turn.text for turn in talk.transcript.turns] == ["Who am I?", "You are Ada."], "its own turns alone"


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
