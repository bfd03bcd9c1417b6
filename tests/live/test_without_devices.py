"""A session in real time that begins without a microphone and a loudspeaker: one types, reads, and plugs in both."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from app.audio.devices.duplex import DeviceDuplexAudio
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.support.talks import scripted_parts
from tests.unit.audio.audio_rig import HEADSET, SPEAKER, AudioRig
from tests.unit.audio.fake_sounddevice import FakeStream

pytestmark = pytest.mark.alone  # frames are dropped on a busy machine
ANSWER = "It is Paris. It lies on the Seine."


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[AudioRig]:
    rig = AudioRig(monkeypatch)
    rig.plug(default=(-1, -1))
    rig.fake.on_restart()
    yield rig
    rig.stop()


class Talk:
    """A session on the rig's devices, and its events."""

    def __init__(self, text: str) -> None:
        self.events: list[e.Event] = []
        edge = DeviceDuplexAudio(required=False)
        backend = ScriptedBackend(lambda request: answer(text, every=0.0))
        parts = scripted_parts([], edge.source, mode="after", backend=backend, sink=edge.sink, edge=edge)
        self.session = Session(parts, SessionConfig(SessionChoice(answer_mode="after"), end_with_input=False))

    def of(self, *types: type) -> list:
        return [event for event in self.events if isinstance(event, types)]

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(15):
            while not holds():
                await asyncio.sleep(0.02)


@asynccontextmanager
async def talking(text: str = ANSWER) -> AsyncIterator[Talk]:
    talk = Talk(text)
    async with talk.session as session:
        session.add_listener(talk.events.append)
        yield talk


async def test_what_is_typed_is_answered_at_once_in_text_at_the_pace_of_speech(rig: AudioRig) -> None:
    async with talking() as talk:
        talk.session.write("What is the capital of France?")
        await talk.until(lambda: talk.of(e.AssistantEnded))
        [ended], [started] = talk.of(e.AssistantEnded), talk.of(e.AssistantStarted)
        assert started.at < 1.5 and not ended.interrupted
        assert 1.5 <= ended.at - started.at <= 3.5, "34 letters of 60 ms"
        assert [turn.text for turn in talk.session.transcript.turns] == ["What is the capital of France?", ANSWER]
        await talk.until(lambda: len(talk.of(e.DeviceChanged)) == 2)
        told = sorted((event.kind, event.change) for event in talk.of(e.DeviceChanged))
        assert told == [("loudspeaker", "absent"), ("microphone", "absent")] and not talk.of(e.Failure, e.FramesDropped)


async def test_what_nobody_heard_is_spoken_once_there_is_sound(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[np.ndarray] = []
    tick = FakeStream.tick

    def listened(stream: FakeStream, block: np.ndarray | None = None) -> np.ndarray | None:
        played = tick(stream, block)
        if stream.kind == "output" and played is not None:
            heard.append(played.copy())
        return played

    monkeypatch.setattr(FakeStream, "tick", listened)
    async with talking(ANSWER * 3) as talk:
        talk.session.write("What is the capital of France?")
        await talk.until(lambda: talk.of(e.AssistantSaid))
        rig.plug(HEADSET, SPEAKER, default=(0, 1))
        await talk.until(lambda: talk.of(e.AssistantEnded))
        back = [event for event in talk.of(e.DeviceChanged) if event.change == "back"]
        assert sorted(event.name for event in back) == ["Headset", "Speaker"]
        assert talk.session.transcript.turns[1].text == " ".join((ANSWER * 3).split())
    assert np.abs(np.concatenate(heard)).max() > 0.1 and not talk.of(e.Failure)
