"""The talk button is only tapped: no turn comes of it, anywhere, and the window is told."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.record.transcript import Transcript
from app.history.base import Setup
from app.history.recordings import Replay
from app.session.recorder import USER_FILE
from app.session.session import Session
from tests.session.test_silence import words_after
from tests.support.history import kept
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, calling, simulate

FRANCE = ScriptedTurn(1.0, 3.0, "What is the capital of France?")
ANSWER = "This is an answer that goes on and on. " * 3


def held(*spans: tuple[float, float]) -> Callable[[Session], None]:
    """Holds the button between these times."""
    return calling(*(call for down, up in spans for call in ((down, Session.press), (up, Session.release))))


def pressing(*spans: tuple[float, float], script: tuple[ScriptedTurn, ...] = (), record: Path | None = None) -> Talk:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer(ANSWER)

    return simulate(
        list(script), reply, seconds=10, duplex=False, answer_mode="after", during=held(*spans), record=record
    )


@pytest.mark.parametrize("seconds", [0.001, 0.1, 0.22])
def test_a_tap_leaves_no_turn_in_transcript_recording_and_history(tmp_path: Path, seconds: float) -> None:
    talk = pressing((2.0, 2.0 + seconds), record=tmp_path / "recorded")
    [tapped] = talk.of(e.TalkTapped)
    assert 2.0 <= tapped.at <= 2.0 + seconds + 0.24
    turn_events = (e.UserStarted, e.UserEnded, e.TranscriptFinal, e.UserBackchannel, e.AssistantEnded)
    assert not talk.of(*turn_events) and not talk.transcript.turns and not talk.backend.requests
    replay = Replay(tmp_path / "recorded")
    told, transcript = list(replay.events()), Transcript()
    for event in told:
        transcript.apply(event)
    assert tapped in told and not transcript.turns and (tmp_path / "recorded" / USER_FILE).exists()

    async def turns_in_history() -> list[int]:
        async with kept(tmp_path) as history:
            log = history.begin("one", Setup())
            for event in talk.events:
                log.put(event)
            log.end()
            return [view.turns for view in await history.conversations()]

    assert sum(asyncio.run(turns_in_history())) == 0


def test_after_a_tap_and_while_the_button_is_held_turns_are_as_usual() -> None:
    talk = pressing((0.4, 0.5), (0.9, 3.12), script=(FRANCE,))
    assert [started.turn for started in talk.of(e.UserStarted)] == [1]
    assert [turn.text for turn in talk.transcript.turns] == [FRANCE.words, ANSWER.strip()]
    talk = pressing((2.0, 2.6))
    assert not talk.of(e.TalkTapped) and [turn.text for turn in talk.transcript.turns] == [""]
    talk = pressing((0.95, 1.22), script=(ScriptedTurn(1.0, 1.2, "No."),))
    assert not talk.of(e.TalkTapped) and talk.transcript.turns[0].text == "No."


def test_a_tap_silences_what_is_spoken() -> None:
    talk = pressing((0.9, 3.12), (6.0, 6.1), script=(FRANCE,))
    [ended] = talk.of(e.AssistantEnded)
    assert ended.interrupted and 6.0 <= ended.at <= 6.2 and not talk.speaker.sounding(6.2, 10.0)
    assert len(talk.of(e.TalkTapped)) == 1 and len(talk.transcript.turns) == 2


def test_a_tap_drops_what_is_being_worked_out() -> None:
    def slow(request: ChatRequest) -> ScriptedAnswer:
        return answer(ANSWER, first=3.0)

    spans = held((0.9, 3.12), (4.0, 4.1))
    talk = simulate([FRANCE], slow, seconds=10, duplex=False, answer_mode="after", during=spans)
    [dropped] = talk.of(e.AssistantEnded)
    assert dropped.interrupted and not talk.of(e.AssistantStarted)
    assert [over.at for over in talk.of(e.OracleEnded)] == [pytest.approx(4.1, abs=0.2)]
    words = words_after(talk)
    assert words[-2:] == ["listening"] * 2 and "thinking" in words
