"""If the talk button is pressed a moment after the first sound, the first word is still recognised."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from app.audio.io.base import EndOfAudio
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.evaluation.recordings import VOICE_FLOOR
from app.evaluation.word_errors import word_distance
from app.frontend.cascade import CascadeFrontEnd
from app.session.mailbox import TalkButton
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.stt import make_transcriber
from app.stt.silero import SileroVoiceActivity
from app.tts.scripted import ScriptedVoice
from tests.support import sounds
from tests.support.talks import LoopSpeaker

QUESTION = "Can you explain why the above question is interesting?"
LEAD_SECONDS = 1.0


class HeldSource:
    """A question asked with the button down from `pressed` to its end, in seconds of the sound."""

    name = "service"
    overruns = backlog = 0

    def __init__(self, samples: np.ndarray, pressed: float) -> None:
        self._frames = list(np.pad(samples, (0, -len(samples) % FRAME_SAMPLES)).reshape(-1, FRAME_SAMPLES))
        self._press, self._release = round(pressed / FRAME_SECONDS), len(self._frames) - 5
        self._given = 0
        self.session: Session | None = None

    def read_frame(self, timeout: float) -> np.ndarray | None:
        if self._given == len(self._frames):
            raise EndOfAudio
        assert self.session is not None
        if self._given in (self._press, self._release):
            self.session.mailbox.post(TalkButton(self._given == self._press))
        self._given += 1
        return self._frames[self._given - 1].copy()

    def drop_to_newest(self) -> int:
        return 0

    def __enter__(self) -> HeldSource:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


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
    parts = SessionParts(
        frontend=CascadeFrontEnd(ScriptedVoice(), "thinking"),
        transcriber=make_transcriber("whisper-tiny.en", "en", loop.call_soon_threadsafe),
        voice_activity=SileroVoiceActivity(),
        backend=ScriptedBackend(lambda request: answer("Yes.")),
        source=source,
        sink=LoopSpeaker(),
    )
    finals: list[str] = []
    session = Session(parts, SessionConfig(duplex=False, pace="fast"))
    source.session = session
    async with session:
        session.add_listener(lambda event: finals.append(event.text) if isinstance(event, e.TranscriptFinal) else None)
        await session.ended()
    [text] = finals
    return text


@pytest.mark.parametrize("late", [0.0, 0.3])
async def test_the_first_syllable_is_heard_though_the_button_came_late(late: float) -> None:
    text = await heard(late)
    assert fold(text)[:3] == fold(QUESTION)[:3], text
    assert word_distance(fold(QUESTION), fold(text)) <= 1


async def test_without_what_came_before_the_press_it_would_be_lost() -> None:
    assert fold(await heard(0.3, deaf_before=True))[:3] != fold(QUESTION)[:3]
