"""Tests the sound service on stand-in devices with the real recogniser: loud, quiet, clipped and noisy speech."""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
import soundfile

import app.services.sound_service
from app.audio.io.base import DeviceError
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.conversation.words import fold, same_words
from app.models.locations import default_model
from app.services.sound_service import SENTENCE, Clip, SoundTestService, chime
from app.session.control import UserError
from app.session.recorder import ASSISTANT_FILE, USER_FILE
from app.stt.base import TranscriberError
from app.stt.whisper_decoder import WhisperDecoder
from tests.support.raising import raising
from tests.support.scripted import ScriptedVoice
from tests.support.served import until
from tests.support.sounds import question, room
from tests.support.tables import cases

WORDS = "What assumptions have you made in your response? Are they valid?"


class Source:
    """A microphone that gives `sound` as fast as it is read, and then the sound of a quiet room."""

    def __init__(self, sound: np.ndarray, *, error: Exception | None = None) -> None:
        self.name = "Desk microphone"
        self.overruns = self.backlog = 0
        self.sound = np.concatenate([sound, room(20.0)])
        self.read = 0
        self.open = self.dropped = 0
        self.error = error
        self.go, self.may_close = threading.Event(), threading.Event()
        self.go.set()
        self.may_close.set()

    def __enter__(self) -> Source:
        if self.error is not None:
            raise self.error
        self.open += 1
        return self

    def __exit__(self, *exc: object) -> None:
        assert self.may_close.wait(5)
        self.open -= 1

    def read_frame(self, timeout: float) -> np.ndarray | None:
        assert self.open == 1
        if not self.go.wait(timeout):
            return None
        frame = self.sound[self.read * FRAME_SAMPLES : (self.read + 1) * FRAME_SAMPLES]
        self.read += 1
        return frame.astype(np.float32)

    def drop_to_newest(self) -> int:
        self.dropped += 1
        return 0


class Sink:
    """A loudspeaker that plays all at once or, `stuck`, nothing at all."""

    keeps_time = False

    def __init__(self, *, stuck: bool = False, error: Exception | None = None) -> None:
        self.name = "Headphones"
        self.given: list[np.ndarray] = []
        self.open = 0
        self.stuck = stuck
        self.error = error
        self.gone: Exception | None = None

    def __enter__(self) -> Sink:
        if self.error is not None:
            raise self.error
        self.open += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.open -= 1

    @property
    def queued(self) -> int:
        return sum(map(len, self.given)) if self.stuck else 0

    def write(self, samples: np.ndarray) -> None:
        assert self.open == 1
        if self.gone is not None:
            raise self.gone
        if samples.size:
            self.given.append(samples)


@cache
def recogniser() -> WhisperDecoder:
    return WhisperDecoder(default_model("stt"))


class Place:
    """A service with stand-ins for devices; `levels` is what was reported."""

    def __init__(self, sound: np.ndarray | None = None, **changed: Any) -> None:
        self.source = Source(room(1.0) if sound is None else sound)
        self.sink = Sink()
        self.voice = ScriptedVoice()
        self.levels: list[tuple[float, bool]] = []
        self.asked: list[str | None] = []
        made: dict[str, Any] = {"recogniser": recogniser, "voice": lambda: self.voice} | changed
        self.service: SoundTestService = SoundTestService(
            microphone=lambda name: self.asked.append(name) or self.source,  # type: ignore[func-returns-value]
            loudspeaker=lambda name: self.asked.append(name) or self.sink,  # type: ignore[func-returns-value]
            **made,
        )

    async def test(self, seconds: float = 8.0) -> Any:
        return await self.service.test_microphone("", seconds, self.report)

    def report(self, level: float, clipped: bool) -> None:
        self.levels.append((level, clipped))


def spoken(gain_db: float = 0.0, *, noise_dbfs: float = -68.0) -> np.ndarray:
    """A question in a room after one second, with a pause behind it, quantised to 16 bits."""
    said = np.concatenate([np.zeros(SAMPLE_RATE), question(), np.zeros(2 * SAMPLE_RATE)])
    sound = said * 10 ** (gain_db / 20) + room(said.size / SAMPLE_RATE, dbfs=noise_dbfs)
    return (np.rint(np.clip(sound, -1.0, 1.0) * 32_767) / 32_767).astype(np.float32)


async def test_a_question_is_understood_measured_and_ends_the_test_itself() -> None:
    place = Place(spoken())
    found = await place.test()
    assert same_words(found.words, WORDS)
    assert (found.name, found.verdict, found.clipped) == ("Desk microphone", "good", False)
    assert found.peak_dbfs == pytest.approx(-4.2, abs=0.3)
    assert found.speech_dbfs == pytest.approx(-23.5, abs=1.5)
    assert found.noise_dbfs == pytest.approx(-68.0, abs=1.5)
    # It began at 1 s, is 3.8 s long, and its own end is silent: half a second behind its last word.
    assert 4.4 < place.source.read * FRAME_SECONDS < 5.4
    await asyncio.sleep(0)
    assert len(place.levels) == place.source.read
    assert max(level for level, _ in place.levels) == pytest.approx(found.peak_dbfs, abs=0.1)
    assert place.source.open == 0 and place.source.dropped == 1 and place.asked == [None]


@cases(
    "sound, verdict, understood",
    (spoken(-34), "quiet", True),
    (spoken(-56, noise_dbfs=-95), "quiet", True),
    (spoken(14), "clipped", True),
    (spoken(noise_dbfs=-32.4), "noisy", True),
    (np.zeros(4 * SAMPLE_RATE, np.float32), "silent", False),
    (np.full(4 * SAMPLE_RATE, 0.02, np.float32), "silent", False),
    (room(4.0, dbfs=-90), "silent", False),
    (room(4.0, dbfs=-60), "no speech", False),
    (room(4.0, dbfs=-25), "noisy", False),
    ids="quiet,very-quiet,too-loud,in-noise,zeros,constant,muted,empty-room,loud-noise".split(","),
)
async def test_what_is_wrong_is_told(sound: np.ndarray, verdict: str, understood: bool) -> None:
    found = await Place(sound).test(4.0 if not understood else 8.0)
    assert found.verdict == verdict
    assert found.clipped == (verdict == "clipped")
    # In noise a recogniser's arithmetic, which differs between processors, may cost two words of eleven.
    wrong = jiwer.wer(" ".join(fold(WORDS)), " ".join(fold(found.words)))
    assert wrong <= (2 / 11 if verdict == "noisy" else 0) if understood else found.words == ""
    assert (found.speech_dbfs is not None) == understood


async def test_who_talks_on_is_heard_for_no_longer_than_the_time_given() -> None:
    place = Place(np.tile(question()[: 3 * SAMPLE_RATE], 4))
    found = await place.test(2.0)
    assert place.source.read == 25
    assert found.words.lower().startswith("what assumptions have you")


async def test_what_was_heard_is_played_back_as_it_was() -> None:
    sound = spoken()
    place = Place(sound)
    with pytest.raises(UserError, match="Nothing has been recorded yet"):
        await place.service.play_back("Headphones")
    await place.test()
    await place.service.play_back("Headphones")
    assert place.asked == [None, "Headphones"] and place.sink.open == 0
    (played,) = place.sink.given
    assert np.array_equal(played, sound[: place.source.read * FRAME_SAMPLES])


async def test_the_loudspeaker_sounds_and_speaks_with_a_voice_that_is_loaded_once() -> None:
    place = Place()
    await place.service.test_loudspeaker("")
    await place.service.test_loudspeaker("")
    assert place.voice.spoken == [SENTENCE]
    tones, sentence, *again = place.sink.given
    assert np.array_equal(tones, chime())
    whole = place.voice.synthesize(SENTENCE).result().samples
    assert np.array_equal(sentence[-whole.size :], whole)
    assert np.array_equal(np.concatenate(again), np.concatenate([tones, sentence]))


async def test_the_loop_goes_on_while_the_microphone_waits() -> None:
    place = Place(spoken())
    place.source.go.clear()
    test = asyncio.create_task(place.test())
    await until(lambda: place.source.dropped)
    assert place.levels == []
    place.source.go.set()  # it would never come to this if the loop were held up
    assert (await test).verdict == "good"


async def test_stopping_ends_the_hearing_and_what_came_is_judged() -> None:
    place = Place(spoken())
    place.service.stop()  # nothing is under way

    def report(level: float, clipped: bool) -> None:
        place.report(level, clipped)
        if len(place.levels) == 30:
            place.source.go.clear()

    test = asyncio.create_task(place.service.test_microphone("", 60.0, report))
    await until(lambda: len(place.levels) >= 30)
    place.service.stop()
    found = await test
    assert found.verdict == "good" and "assumptions" in found.words
    assert place.source.open == 0


async def test_one_that_still_waits_for_its_turn_can_be_stopped() -> None:
    place = Place(spoken())
    place.source.go.clear()
    first = asyncio.create_task(place.test())
    await until(lambda: place.source.dropped)
    second = asyncio.create_task(place.test())
    await asyncio.sleep(0)
    place.service.stop()
    for test in (first, second):
        with pytest.raises(UserError, match="stopped before anything was heard"):
            await test
    assert place.source.open == 0


async def test_cancelled_it_ends_with_its_microphone_closed_and_says_nothing_more() -> None:
    place = Place(spoken())
    place.source.go.clear()
    test = asyncio.create_task(place.test())
    await until(lambda: place.source.dropped)
    test.cancel()
    place.source.go.set()  # a last frame comes
    with pytest.raises(asyncio.CancelledError):
        await test
    assert place.source.open == 0
    await asyncio.sleep(0)
    assert place.levels == []
    assert (await place.test()).verdict == "good"


async def test_a_second_test_waits_until_the_first_has_closed_its_device() -> None:
    place = Place(spoken())
    place.source.may_close.clear()
    first = asyncio.create_task(place.test())
    await until(lambda: place.levels)
    first.cancel()
    second = asyncio.create_task(place.test())
    await asyncio.sleep(0.1)
    assert place.asked == [None] and not first.done()
    place.source.may_close.set()
    await second
    assert first.cancelled() and place.asked == [None, None] and place.source.open == 0


@pytest.mark.parametrize("how", ["stop", "cancel"])
@pytest.mark.parametrize("what", ["test", "part of a conversation"])
async def test_a_sound_falls_silent_at_once(what: str, how: str) -> None:
    place = Place()
    place.sink.stuck = True
    sound = np.zeros(SAMPLE_RATE, np.float32)
    test = asyncio.create_task(place.service.test_loudspeaker("") if what == "test" else place.service.play(sound, ""))
    await until(lambda: place.sink.given)
    if how == "stop":
        place.service.stop()
        await test
    else:
        test.cancel()
        with pytest.raises(asyncio.CancelledError):
            await test
    assert place.sink.open == 0


async def test_a_microphone_that_refuses_says_so() -> None:
    place = Place()
    place.source.error = DeviceError("The microphone is busy.")
    with pytest.raises(UserError, match="The microphone is busy"):
        await place.test()
    place.source.error = None
    assert (await place.test(1.0)).verdict == "no speech"


async def test_a_loudspeaker_that_refuses_or_goes_says_so() -> None:
    place = Place()
    place.sink.error = DeviceError("No loudspeaker was found.")
    with pytest.raises(UserError, match="No loudspeaker was found"):
        await place.service.test_loudspeaker("")
    place.sink.error, place.sink.stuck = None, True
    test = asyncio.create_task(place.service.test_loudspeaker(""))
    await until(lambda: place.sink.given)
    place.sink.gone = DeviceError("The loudspeaker is gone.")
    with pytest.raises(UserError, match="The loudspeaker is gone"):
        await test
    assert place.sink.open == 0


async def test_a_loudspeaker_that_takes_no_sound_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.services.sound_service, "PATIENCE_SECONDS", -4.0)
    place = Place()
    place.sink.stuck = True
    with pytest.raises(UserError, match="“Headphones” takes no sound"):
        await place.service.test_loudspeaker("")
    assert place.sink.open == 0


async def test_what_fails_says_so_and_closes_the_microphone() -> None:
    place = Place(recogniser=raising(TranscriberError("The speech recognition model is not installed.")))
    with pytest.raises(UserError, match="model is not installed"):
        await place.test()
    assert place.source.open == 0
    place = Place(voice=lambda: ScriptedVoice(fail_on="sound"))
    with pytest.raises(UserError, match="The scripted voice fails"):
        await place.service.test_loudspeaker("")
    assert len(place.sink.given) == 1 and place.sink.open == 0


async def test_a_kept_part_is_read_from_its_sides_file(tmp_path: Path) -> None:
    place = Place()
    seconds = np.arange(3 * SAMPLE_RATE) / SAMPLE_RATE
    for name, sign in ((USER_FILE, 1.0), (ASSISTANT_FILE, -1.0)):
        soundfile.write(tmp_path / name, sign * 0.2 * seconds, SAMPLE_RATE, subtype="PCM_16", format="WAV")
    for speaker, sign in (("user", 1.0), ("assistant", -1.0)):
        await place.service.play(Clip(tmp_path, speaker, 1.0, 1.5), "")  # type: ignore[arg-type]
        (played,) = place.sink.given
        assert len(played) == SAMPLE_RATE // 2
        assert played[0] == pytest.approx(sign * 0.2, abs=1e-3) and played[-1] == pytest.approx(sign * 0.3, abs=1e-3)
        place.sink.given.clear()
    await place.service.play(Clip(tmp_path, "user", 2.9, 9.0), "")
    assert len(place.sink.given[0]) == pytest.approx(SAMPLE_RATE // 10, abs=1), "as much of it as there is"


async def test_a_part_that_is_not_there_says_so_and_opens_no_loudspeaker(tmp_path: Path) -> None:
    place = Place()
    with pytest.raises(UserError, match="can't be read"):
        await place.service.play(Clip(tmp_path, "user", 1.0, 2.0), "")
    soundfile.write(tmp_path / USER_FILE, np.zeros(SAMPLE_RATE), SAMPLE_RATE, subtype="PCM_16", format="WAV")
    with pytest.raises(UserError, match="Nothing of this was kept"):
        await place.service.play(Clip(tmp_path, "user", 5.0, 6.0), "")
    assert place.asked == []
