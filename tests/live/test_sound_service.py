"""Sound tests on a real sound server: speech comes back as words and as sound, and the voice is understood."""

import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.conversation.words import same_words
from app.services.sound_service import SENTENCE
from tests.support.child import SAY, Child
from tests.support.matching import best_match
from tests.support.patience import in_real_time
from tests.support.read_back import transcribe
from tests.support.sounds import question
from tests.support.virtual_audio import RATE, virtual_audio

pytestmark = [pytest.mark.alone, pytest.mark.slow]
TRY = (
    SAY
    + """
import asyncio, threading
from app.audio.devices import portaudio_library
from app.session.control import UserError
from app.services.sound_service import SoundTestService

service = SoundTestService()

async def hear():
    told = []
    opened = asyncio.Event()
    def report(level, clipped):
        told.append(level)
        opened.set()
    test = asyncio.create_task(service.test_microphone("kame_mic", 8.0, report))
    await opened.wait()
    return test, told

async def main():
    dropped, _ = await hear()
    dropped.cancel()
    await asyncio.wait([dropped])
    say(cancelled=dropped.cancelled(), streams=portaudio_library.open_streams())
    test, told = await hear()
    say(open=True)
    found = await test
    say(name=found.name, verdict=found.verdict, words=found.words, peak=found.peak_dbfs, noise=found.noise_dbfs,
        highest=max(told))
    await asyncio.to_thread(sys.stdin.readline)
    await service.play_back("kame_speaker")
    say(streams=portaudio_library.open_streams())
    await asyncio.to_thread(sys.stdin.readline)
    await service.test_loudspeaker("")
    say(streams=portaudio_library.open_streams())
    try:
        await service.test_loudspeaker("no such loudspeaker")
    except UserError as error:
        say(refused=str(error))

asyncio.run(main())
say(threads=[thread.name for thread in threading.enumerate() if thread is not threading.main_thread()])
"""
)


@in_real_time
def test_a_question_comes_back_and_the_voice_is_understood(tmp_path: Path) -> None:
    said = question()[: round(2.55 * RATE)]  # its first sentence
    with (
        virtual_audio() as audio,
        audio.record_loudspeaker(tmp_path / "heard.wav") as recording,
        Child(TRY, env=audio.env) as child,
    ):
        assert child.hears() == {"cancelled": True, "streams": 0}
        assert child.hears() == {"open": True}
        audio.play_into_microphone(said)
        found = child.hears()
        print(found)
        assert "mic" in found["name"].lower() and found["verdict"] == "good"
        assert same_words(found["words"], "What assumptions have you made in your response?")
        assert found["peak"] == pytest.approx(float(20 * np.log10(np.abs(said).max())), abs=0.2)
        assert found["highest"] == pytest.approx(found["peak"], abs=0.2) and found["noise"] < -70
        assert not recording.samples.any()  # it makes no sound of its own while it listens
        child.tell()
        assert child.hears() == {"streams": 0}
        time.sleep(0.2)
        until = recording.samples.size
        child.tell()
        assert child.hears() == {"streams": 0}
        assert "no loudspeaker named “no such loudspeaker”" in child.hears()["refused"]
        assert child.hears() == {"threads": []}
        assert not child.end()
        time.sleep(0.2)
    heard = soundfile.read(tmp_path / "heard.wav", dtype="float32")[0]
    correlation, difference = best_match(heard[:until], said)
    print(f"correlation {correlation:.6f}, largest difference {difference:.6f}")
    assert difference < 1e-4
    assert same_words(transcribe(heard[until:]), SENTENCE)
