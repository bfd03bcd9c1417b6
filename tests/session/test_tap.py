"""The talk button: a tap is no turn, anywhere, and who presses it late is heard from the first word on."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.conversation.record.transcript import Transcript
from app.conversation.words import fold
from app.history.base import Setup
from app.history.recordings import Replay
from app.research.benches.recordings import VOICE_FLOOR, word_distance
from app.session.mailbox import TalkButton
from app.session.parts import SessionConfig
from app.session.recorder import USER_FILE
from app.session.session import Session
from app.stt import make_transcriber
from app.stt.silero import SileroVoiceActivity
from tests.session.test_silence import words_after
from tests.support import sounds
from tests.support.history import kept
from tests.support.scripted import ScriptedTurn
from tests.support.talks import Talk, calling, scripted_parts, simulate

FRANCE = ScriptedTurn(1.0, 3.0, "What is the capital of France?")
ANSWER = "This is an answer that goes on and on. " * 3


def held(*spans: tuple[float, float]) -> Callable[[Session], None]:
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


QUESTION = "Can you explain why the above question is interesting?"
LEAD_SECONDS = 1.0


class HeldSource(sounds.SoundSource):
    """A question asked with the talk button down from second `pressed` to its end."""

    def __init__(self, samples: np.ndarray, pressed: float) -> None:
        super().__init__(np.pad(samples, (0, -len(samples) % FRAME_SAMPLES)))
        self._buttons = {round(pressed / FRAME_SECONDS): True, len(samples) // FRAME_SAMPLES - 4: False}
        self._given = 0
        self.session: Session | None = None

    def read_frame(self, timeout: float) -> np.ndarray | None:
        assert self.session is not None
        if self._given in self._buttons:
            self.session.mailbox.post(TalkButton(self._buttons[self._given]))
        self._given += 1
        return super().read_frame(timeout)


async def heard(late: float, *, deaf_before: bool = False) -> str:
    """The words recognised of a question when the button goes down `late` seconds after its first sound."""
    question = sounds.question("103_2")
    question = question[np.flatnonzero(np.abs(question) > VOICE_FLOOR)[0] :]
    sound = np.concatenate([sounds.room(LEAD_SECONDS), question, sounds.room(1.0)])
    if deaf_before:
        cut = round((LEAD_SECONDS + late) * SAMPLE_RATE)
        sound[:cut] = sounds.room(cut / SAMPLE_RATE)[:cut]
    source = HeldSource(sound, LEAD_SECONDS + late)
    loop = asyncio.get_running_loop()
    hears = make_transcriber("whisper-tiny.en", "en", loop.call_soon_threadsafe)
    parts = scripted_parts([], source, "Yes.", transcriber=hears, voice_activity=SileroVoiceActivity())
    finals: list[str] = []
    session = Session(parts, SessionConfig(pace="fast"))
    source.session = session
    async with session:
        session.add_listener(lambda event: finals.append(event.text) if isinstance(event, e.TranscriptFinal) else None)
        await session.ended()
    [text] = finals
    return text


@pytest.mark.slow
@pytest.mark.parametrize("late", [pytest.param(0.0, marks=pytest.mark.slow), 0.3])
async def test_the_first_syllable_is_heard_though_the_button_came_late(late: float) -> None:
    text = await heard(late)
    assert fold(text)[:3] == fold(QUESTION)[:3], text
    assert word_distance(fold(QUESTION), fold(text)) <= 1


@pytest.mark.slow
async def test_without_what_came_before_the_press_it_would_be_lost() -> None:
    assert fold(await heard(0.3, deaf_before=True))[:3] != fold(QUESTION)[:3]
