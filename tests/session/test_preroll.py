"""If the talk button is pressed a moment after the first sound, the first word is still recognised."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold
from app.frontend.cascade import CascadeFrontEnd
from app.research.benches.recordings import VOICE_FLOOR, word_distance
from app.session.mailbox import TalkButton
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from app.stt import make_transcriber
from app.stt.silero import SileroVoiceActivity
from tests.support import sounds
from tests.support.scripted import ScriptedVoice
from tests.support.talks import LoopSpeaker

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
    parts = SessionParts(
        frontend=CascadeFrontEnd(ScriptedVoice(), "thinking"),
        transcriber=make_transcriber("whisper-tiny.en", "en", loop.call_soon_threadsafe),
        voice_activity=SileroVoiceActivity(),
        backend=ScriptedBackend(lambda request: answer("Yes.")),
        source=source,
        sink=LoopSpeaker(),
    )
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
