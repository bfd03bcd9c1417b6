"""Questions asked aloud into a session, and the sound of turns that is kept to be heard again."""

import asyncio

import numpy as np
import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.session.asked_sound import LEAD_FRAMES
from app.session.session import Session
from app.session.sound_memory import SoundMemory
from app.stt.scripted import ScriptedTurn
from tests.session.test_silence import at
from tests.support.talks import simulate

QUESTION = "What is the capital of Sweden?"
ASKED_AT = 1.0
LEAD = LEAD_FRAMES * FRAME_SECONDS
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
        [SPOKEN], reply, duplex=duplex, during=at((ASKED_AT, ask), (6.0, look)), remember_seconds=60, seconds=15
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
    calls = at((ASKED_AT, ask), (ASKED_AT + 1.2, Session.stop_asking), *button)
    talk = simulate(script, reply, duplex=duplex, during=calls, seconds=20)
    assert not talk.said(1) and [end.turn for end in talk.of(e.UserEnded)] == [1, 2]
    assert not talk.speaker.sounding(ASKED_AT + 1.6, 8.0), "nothing more is heard of it"
    assert "Stockholm" in talk.said(2), "the next turn is the microphone's, and answered"


def test_the_talk_button_takes_over() -> None:
    script = [ScriptedTurn(SPOKEN.start, ASKED_AT + 1.2, "What is the"), ScriptedTurn(3.2, 4.6, "And of Norway?")]
    calls = at((ASKED_AT, ask), (2.9, Session.press), (4.7, Session.release))
    talk = simulate(script, reply, duplex=False, during=calls, seconds=15)
    assert [end.turn for end in talk.of(e.UserEnded)] == [1, 2]
    assert not talk.said(1) and "Stockholm" in talk.said(2)
    assert talk.transcript.turns[-2].text == "And of Norway?"


def test_what_is_typed_ends_it() -> None:
    script = [ScriptedTurn(SPOKEN.start, ASKED_AT + 1.2, "What is the")]
    calls = at((ASKED_AT, ask), (ASKED_AT + 1.2, lambda session: session.write("Where is Oslo?")))
    talk = simulate(script, reply, duplex=False, during=calls, seconds=15)
    assert [end.reason for end in talk.of(e.UserEnded)] == ["button", "typed"]
    assert not talk.said(1) and "Stockholm" in talk.said(2)


def ramp(index: int) -> np.ndarray:
    """A frame whose samples tell where they belong."""
    return (np.arange(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES) % 20_000 / 32768).astype(np.float32)


def sample_at(seconds: float) -> float:
    return (round(seconds * SAMPLE_RATE) % 20_000) / 32768


def test_a_part_is_cut_to_the_sample() -> None:
    memory = SoundMemory(10)
    for n in range(50):
        memory.add(n, ramp(n), -ramp(n))
    part = memory.cut("user", 1.03, 2.51)
    assert part is not None and len(part) == round(1.48 * SAMPLE_RATE)
    assert part[0] == pytest.approx(sample_at(1.03), abs=1e-6)
    theirs = memory.cut("assistant", 1.03, 2.51)
    assert theirs is not None and np.array_equal(theirs, -part)


def test_what_is_too_old_is_forgotten_and_what_is_half_there_is_given_as_far_as_it_is() -> None:
    memory = SoundMemory(1.6)  # 20 frames
    for n in range(50):
        memory.add(n, ramp(n), ramp(n))
    assert memory.cut("user", 0.5, 2.0) is None
    part = memory.cut("user", 2.0, 3.0)
    assert part is not None and part[0] == pytest.approx(sample_at(2.4), abs=1e-6)
    assert len(part) == round(0.6 * SAMPLE_RATE)
    late = memory.cut("user", 3.9, 9.0)
    assert late is not None and len(late) == round(0.1 * SAMPLE_RATE)
    assert memory.cut("user", 4.0, 5.0) is None and memory.cut("user", 3.0, 3.0) is None


def test_dropped_frames_are_silence_and_what_was_never_played_is_not_heard_again() -> None:
    memory = SoundMemory(10)
    memory.add(0, ramp(0), ramp(0))
    memory.add(3, ramp(3), ramp(3))
    gap = memory.cut("user", 0.08, 0.24)
    assert gap is not None and not gap.any()
    memory.add(4, ramp(4), np.zeros(FRAME_SAMPLES, np.float32), flushed=FRAME_SAMPLES // 2)
    kept = memory.cut("assistant", 0.24, 0.32)
    assert kept is not None and kept[: FRAME_SAMPLES // 2].any() and not kept[FRAME_SAMPLES // 2 :].any()
    user = memory.cut("user", 0.24, 0.32)
    assert user is not None and user.all(), "the user did say it"


def test_a_long_gap_costs_nothing() -> None:
    memory = SoundMemory(1.6)
    memory.add(0, ramp(0), ramp(0))
    memory.add(10_000_000, ramp(3), ramp(3))
    part = memory.cut("user", 800_000.0, 800_000.08)
    assert part is not None and part.any()


def test_a_talk_remembers_only_where_somebody_may_ask() -> None:
    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
    kept: list[np.ndarray | None] = []

    def during(session: Session) -> None:
        asyncio.get_running_loop().call_later(8.0, lambda: kept.append(session.sound_of("assistant", 3.0, 6.0)))

    for seconds in (0.0, 60.0):
        simulate(script, lambda _: answer("It is Paris, on the Seine."), during=during, remember_seconds=seconds)
    assert kept[0] is None
    assert kept[1] is not None and len(kept[1]) == 3 * SAMPLE_RATE and np.abs(kept[1]).max() > 0.01
