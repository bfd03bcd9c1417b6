"""The user silences an answer: the voice stops at once, nothing of it comes later, and the talk goes on."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.frontend.cascade import CascadeFrontEnd
from app.gui.state.talk_state import TalkState
from app.research.benches.room import FADE, Room
from app.session.clock import run_simulated
from app.session.control import BackendChoice, SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from app.stt.silero import SileroVoiceActivity
from tests.session.test_typed import Slow
from tests.support.room_talks import RecordedVoice, frames, onset_of, text_of
from tests.support.scripted import ScriptedTurn
from tests.support.sounds import question
from tests.support.talks import Talk, calling, making, scripted_parts, simulate

FRANCE = ScriptedTurn(1.0, 3.0, "What is the capital of France?")
SPAIN = ScriptedTurn(10.0, 11.5, "And what about Spain?")
LONG = "This is an answer that goes on and on. " * 6


def about(request: ChatRequest) -> ScriptedAnswer:
    asked = request.messages[-1].content
    return answer("It is Madrid." if "Spain" in asked else LONG)


def words_after(talk: Talk) -> list[str]:
    """The words that the window shows at each event."""
    state = TalkState(phase="running", duplex=True)
    words = []
    for event in talk.events:
        state.apply(event)
        words.append(state.word)
    return words


@pytest.mark.parametrize("duplex", [True, False])
def test_a_real_voice_fades_out_within_two_frames_and_the_next_question_is_answered(duplex: bool) -> None:
    place = Room(frames(16.0), attenuation_db=None, by_hops=True, keep=True)
    script = []
    for name, begin in (("151_2", 0.5), ("103_2", 9.0)):
        samples = question(name)
        place.say(samples, begin)
        script.append(ScriptedTurn(begin + onset_of(samples), begin + len(samples) / SAMPLE_RATE, text_of(name)))
    silenced_at = script[0].end + 3.0

    async def run() -> list[e.Event]:
        front, detector = CascadeFrontEnd(RecordedVoice(), "after"), SileroVoiceActivity()
        parts = scripted_parts(script, place.source, LONG, frontend=front, voice_activity=detector, sink=place.sink)
        choice = SessionChoice(answer_mode="after", duplex=duplex)
        events: list[e.Event] = []
        async with Session(parts, SessionConfig(choice, pace="simulated", max_answer_seconds=0.1)) as session:
            session.add_listener(events.append)
            loop = asyncio.get_running_loop()
            for turn in [] if duplex else script:
                loop.call_later(turn.start - 0.2, session.press)
                loop.call_later(turn.end + 0.1, session.release)
            loop.call_later(silenced_at, session.silence)
            await session.ended()
        return events

    events = run_simulated(run())
    first, second = [event for event in events if isinstance(event, e.AssistantStarted)]
    ended = next(event for event in events if isinstance(event, e.AssistantEnded))
    assert (ended.turn, ended.interrupted) == (1, True) and silenced_at <= ended.at <= silenced_at + 3 * FRAME_SECONDS
    assert second.turn == 2 and first.at < silenced_at - 1.0
    played = np.concatenate(place.played)
    before = played[round((first.at + 0.2) * SAMPLE_RATE) : round(silenced_at * SAMPLE_RATE)]
    after = played[round(silenced_at * SAMPLE_RATE) : round(script[1].end * SAMPLE_RATE)]
    sounding = np.flatnonzero(after)
    assert 0 < sounding[-1] <= 2 * FRAME_SAMPLES + FADE, "it stops within two frames, and is silent from then on"
    faded = after[: sounding[-1] + 2]
    assert np.abs(faded[-FADE // 4 :]).max() <= 0.3 * np.abs(before).max()
    assert np.abs(np.diff(faded[-2 * FADE :])).max() <= np.abs(np.diff(before)).max(), "it would click"


def test_an_interrupted_answer_is_read_on_and_said_again_without_asking_a_model() -> None:
    asked: list[str] = []
    story = "The first part is short. The second part is a little longer than that. The third one ends it."

    def tell(request: ChatRequest) -> ScriptedAnswer:
        asked.append(request.messages[-1].content)
        return answer(story)

    def read_on(session: Session) -> None:
        said = session.transcript.last("assistant")
        assert said is not None and said.interrupted
        session.repeat(said.rest, "on")

    steps = (6.0, Session.silence), (9.0, read_on), (20.0, lambda session: session.repeat("That is all.", "again"))
    talk = simulate([FRANCE], tell, answer_mode="after", seconds=26, during=calling(*steps))
    assert asked == [FRANCE.words]
    first, rest = talk.said(1), talk.said(2)
    assert story.startswith(first) and story.endswith(rest) and len(first) + len(rest) >= len(story) - 1
    assert rest.startswith(("The first part", "The second part", "The third one")), "it begins with a whole sentence"
    assert talk.said(3) == "That is all." and not any(end.interrupted for end in talk.of(e.AssistantEnded)[1:])
    turns = [turn.text for turn in talk.transcript.turns if turn.speaker == "user"]
    assert turns == [FRANCE.words, "Please read on.", "Please say that again."]
    assert len(talk.of(e.OracleCounted)) == 1, "what is said again costs nothing"


def test_what_the_model_had_not_finished_is_asked_for() -> None:
    asked: list[str] = []

    def tell(request: ChatRequest) -> ScriptedAnswer:
        asked.append(request.messages[-1].content)
        return ScriptedAnswer(tuple(LONG[n : n + 4] for n in range(0, len(LONG), 4)), 0.1, 0.3)

    def read_on(session: Session) -> None:
        said = session.transcript.last("assistant")
        assert said is not None and said.rest == ""
        session.repeat(said.rest, "on")

    simulate([FRANCE], tell, answer_mode="after", seconds=14, during=calling((6.0, Session.silence), (9.0, read_on)))
    assert asked == [FRANCE.words, "Please read on."]


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
def test_what_was_said_stays_and_the_rest_is_never_said(answer_mode: e.AnswerMode) -> None:
    talk = simulate([FRANCE, SPAIN], about, seconds=20, answer_mode=answer_mode, during=calling((6.0, Session.silence)))
    [cut, whole] = talk.of(e.AssistantEnded)
    assert cut.turn == 1 and cut.interrupted and 6.0 <= cut.at <= 6.17
    assert not talk.speaker.sounding(6.25, 11.5)
    kept = talk.transcript.turns[1]
    assert kept.interrupted and 3 <= len(kept.text.split()) < 20 and LONG.startswith(kept.text)
    assert not [said for said in talk.of(e.AssistantSaid) if said.turn == 1 and said.at > 6.2]
    assert whole.turn == 2 and not whole.interrupted and talk.said(2) == "It is Madrid."
    assert not talk.tasks_left


def test_the_requests_of_the_turn_are_cancelled_those_for_comparison_too() -> None:
    def endless(request: ChatRequest) -> ScriptedAnswer:
        return answer(LONG if "France" in request.messages[-1].content else "It is Madrid.", every=0.5)

    side = ScriptedBackend(endless, name="Side")
    open_streams: list[tuple[int, int]] = []
    driver = ScriptedBackend(endless)
    count = lambda session: open_streams.append((driver.open_streams, side.open_streams))  # noqa: E731
    simulate(
        [FRANCE, SPAIN],
        endless,
        seconds=20,
        backend=driver,
        make_backend=making(lambda _: side),
        secondary=BackendChoice("side"),
        answer_mode="after",
        during=calling((5.9, count), (6.0, Session.silence), (6.2, count)),
    )
    assert open_streams == [(1, 1), (0, 0)]


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
@pytest.mark.parametrize("when", [3.7, 4.4])
def test_an_answer_that_is_still_worked_out_is_dropped(answer_mode: e.AnswerMode, when: float) -> None:
    def slow(request: ChatRequest) -> ScriptedAnswer:
        return answer("It is Madrid.") if "Spain" in request.messages[-1].content else answer(LONG, first=2.0)

    talk = simulate([FRANCE, SPAIN], slow, seconds=20, answer_mode=answer_mode, during=calling((when, Session.silence)))
    [dropped, whole] = talk.of(e.AssistantEnded)
    assert dropped.turn == 1 and dropped.interrupted and when <= dropped.at <= when + 0.17
    assert [started.turn for started in talk.of(e.AssistantStarted)] == [2]
    assert talk.said(1) == "" and talk.said(2) == "It is Madrid." and not whole.interrupted
    assert [turn.number for turn in talk.transcript.turns if turn.speaker == "assistant"] == [2]
    words = words_after(talk)
    assert words[talk.events.index(dropped)] == "listening"
    between = talk.events.index(talk.of(e.UserStarted)[1])
    assert set(words[talk.events.index(dropped) : between]) == {"listening"}, "nothing is thought any more"


def test_a_turn_that_is_still_being_written_down_is_not_asked_about() -> None:
    script = [FRANCE, SPAIN]
    talk = simulate(
        script, about, seconds=20, answer_mode="after", transcriber=Slow(script), during=calling((3.5, Session.silence))
    )
    assert next(final.text for final in talk.of(e.TranscriptFinal)) == FRANCE.words, "what the user said is kept"
    assert {asked.turn for asked in talk.of(e.OracleRequested)} == {2}
    assert talk.said(2) == "It is Madrid."


def test_with_nothing_to_silence_nothing_happens() -> None:
    calls = calling((0.5, Session.silence), (16.0, Session.silence))
    plain, silenced = (simulate([FRANCE], lambda r: answer("Paris."), seconds=20, during=d) for d in (None, calls))
    assert silenced.events == plain.events


def test_a_question_that_failed_is_still_answered_by_another_model() -> None:
    def fails(request: ChatRequest) -> ScriptedAnswer:
        return answer("", error="The server is away.")

    talk = simulate(
        [FRANCE],
        fails,
        seconds=15,
        make_backend=making(lambda _: ScriptedBackend(lambda request: answer("Paris."))),
        during=calling((6.0, Session.silence), (8.0, lambda session: session.change(backend=BackendChoice("other")))),
    )
    assert talk.said(1) == "Paris."


def test_a_user_who_continues_at_once_begins_a_new_turn() -> None:
    """Without the command they would have resumed the turn that has just ended."""
    script = [FRANCE, ScriptedTurn(4.2, 6.0, "And what about Spain?")]
    resumed = simulate(script, about, seconds=15)
    assert len(resumed.of(e.UserStarted)) == 1 and resumed.of(e.UserResumed)
    talk = simulate(script, about, seconds=15, during=calling((3.8, Session.silence)))
    assert len(talk.of(e.UserStarted)) == 2 and not talk.of(e.UserResumed)
    assert talk.said(2) == "It is Madrid."


def test_a_mhm_over_a_silenced_answer_does_not_bring_it_back() -> None:
    script = [FRANCE, ScriptedTurn(5.9, 6.3, "mhm"), SPAIN]
    talk = simulate(script, about, seconds=20, during=calling((6.2, Session.silence)))
    assert talk.of(e.AssistantHeld) and not talk.of(e.AssistantResumed)
    assert not talk.speaker.sounding(6.3, 11.0)
    [cut, whole] = talk.of(e.AssistantEnded)
    assert (cut.turn, cut.interrupted, whole.interrupted) == (1, True, False)
    assert len(talk.of(e.UserBackchannel)) == 1 and talk.said(whole.turn) == "It is Madrid."


def test_a_typed_question_is_silenced_and_another_one_answered() -> None:
    calls = ((1.0, lambda s: s.write("What is the capital of France?")), (4.0, Session.silence))
    talk = simulate([], about, seconds=15, during=calling(*calls, (6.0, lambda s: s.write("And what about Spain?"))))
    assert [(end.turn, end.interrupted) for end in talk.of(e.AssistantEnded)] == [(1, True), (2, False)]
    assert not talk.speaker.sounding(4.2, 6.0) and talk.said(2) == "It is Madrid."


def test_an_answer_that_was_heard_to_its_end_stays_complete() -> None:
    """Only the comparison is still under way then."""
    talk = simulate(
        [FRANCE],
        lambda request: answer("Paris."),
        seconds=15,
        make_backend=making(lambda _: ScriptedBackend(lambda request: answer(LONG, every=0.5), name="Side")),
        secondary=BackendChoice("side"),
        answer_mode="after",
        during=calling((6.0, Session.silence)),
    )
    [ended] = talk.of(e.AssistantEnded)
    assert ended.at < 6.0 and not ended.interrupted
    assert next(over.at for over in talk.of(e.OracleEnded) if over.reason == "superseded") < 6.2


def every(seconds: float, call: Callable[[Session], Any]) -> Callable[[Session], None]:
    return calling(*((0.1 + number * seconds, call) for number in range(round(14 / seconds))))


def test_as_often_as_one_likes() -> None:
    talk = simulate([FRANCE, SPAIN], about, seconds=15, during=every(0.05, Session.silence))
    assert not talk.of(e.AssistantSaid)
    assert [(end.turn, end.interrupted) for end in talk.of(e.AssistantEnded)] == [(1, True), (2, True)]
    assert [turn.text for turn in talk.transcript.turns if turn.text] == [FRANCE.words, SPAIN.words]


def test_who_says_wait_over_an_answer_is_waited_for() -> None:
    talk = simulate([FRANCE, ScriptedTurn(6.0, 6.6, "Wait, one moment."), SPAIN], about, seconds=18)
    assert [turn.text for turn in talk.transcript.turns if turn.speaker == "user"] == [
        FRANCE.words,
        "Wait, one moment.",
        SPAIN.words,
    ]
    assert not [asked for asked in talk.of(e.OracleRequested) if asked.words == "Wait, one moment."]
    assert talk.said(2) == "" and talk.said(3) == "It is Madrid." and not talk.of(e.Failure)
    assert 0 < len(talk.said(1)) < len(LONG) and not talk.speaker.sounding(7.0, 10.0)


def test_who_says_wait_before_an_answer_is_waited_for() -> None:
    talk = simulate([ScriptedTurn(1.0, 1.6, "Wait."), SPAIN], about, seconds=18)
    assert not [asked for asked in talk.of(e.OracleRequested) if asked.turn == 1]
    assert not talk.speaker.sounding(1.6, 10.0) and talk.said(2) == "It is Madrid."


def test_stop_may_be_the_answer_to_a_question_of_the_assistant() -> None:
    def asks(request: ChatRequest) -> ScriptedAnswer:
        stopped = request.messages[-1].content == "Stop."
        return answer("The counting ends here." if stopped else "Shall I go on or stop?")

    talk = simulate([FRANCE, ScriptedTurn(9.0, 9.5, "Stop.")], asks, seconds=18)
    assert talk.said(2) == "The counting ends here."
