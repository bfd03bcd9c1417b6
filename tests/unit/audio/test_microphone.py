"""The microphone, over a stand-in for PortAudio, and muting at the end of the processing."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from app.audio.devices import microphone, portaudio_library, portaudio_stream
from app.audio.devices.duplex import MutedSource, MutedTalk
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.devices.microphone import Microphone
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.io.base import AudioSource, DeviceError
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import HOP, Room
from tests.support.room_talks import frames
from tests.support.sounds import question
from tests.support.tables import cases
from tests.unit.audio.fake_sounddevice import BLOCK, INVALID_RATE, FakeSoundDevice, PortAudioError, accept_only, ramp
from tests.unit.audio.signals import app_speech

ONES = np.ones((BLOCK, 1), np.float32)


def test_frames_from_blocks(fake: FakeSoundDevice) -> None:
    mic: AudioSource = Microphone()
    with mic:
        assert mic.name == "Mic" and fake.attempts == [(SAMPLE_RATE, 1)]
        device = fake.streams[0]
        for index in range(9):
            device.tick(ramp(index * BLOCK, BLOCK)[:, None])
        assert mic.backlog == 2
        first, second = mic.read_frame(0.0), mic.read_frame(0.0)
        assert (np.concatenate([first, second]) == ramp(0, 2 * FRAME_SAMPLES)).all()
        assert mic.read_frame(0.0) is None
        assert mic.overruns == mic.backlog == 0
    assert device.calls == ["start", "abort", "close"]


def test_reading_waits_for_the_missing_block(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        before = time.perf_counter()
        assert mic.read_frame(0.05) is None
        assert 0.045 < time.perf_counter() - before < 0.5
        for _ in range(3):
            fake.streams[0].tick(0 * ONES)
        late = threading.Timer(0.03, fake.streams[0].tick, [ONES])
        late.start()
        frame = mic.read_frame(2.0)
        late.join()
        assert frame[-1] == 1.0 and frame[0] == 0.0


def test_mute(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        device = fake.streams[0]
        device.tick(ONES)
        mic.muted = True
        for _ in range(3):
            device.tick(ONES)
        assert not mic.read_frame(0.0).any()  # what waited, and what came since
        mic.muted = False
        for _ in range(4):
            device.tick(ONES)
        assert mic.read_frame(0.0).all()


def test_talking_while_muted_is_counted_and_said_once(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        device = fake.streams[0]
        device.tick(ONES)
        mic.muted = True
        for block in (ONES, 0.01 * ONES, ONES):
            device.tick(block)
        assert mic.loud_blocks == 2 and not mic.read_frame(0.0).any()
    talk = MutedTalk()
    quiet = [talk.heard(True, 2 * frame) for frame in range(100)]  # a noisy room: 2 of 8 blocks are loud
    assert not any(quiet)
    assert not any(talk.heard(False, 1_000 + 8 * frame) for frame in range(30))
    for _ in range(2):
        assert sum(talk.heard(True, 2_000 + 7 * frame) for frame in range(60)) == 1
        talk.heard(False, 0)


def test_drop_to_newest(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        for index in range(13):  # three frames and a block
            fake.streams[0].tick(ramp(index * BLOCK, BLOCK)[:, None])
        assert mic.drop_to_newest() == 2
        assert mic.backlog == 1 and mic.overruns == 0
        assert (mic.read_frame(0.0) == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES)).all()
        assert mic.drop_to_newest() == 0


@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_ahead_shows_the_beginning_of_the_next_frame(fake: FakeSoundDevice, rate: int) -> None:
    fake.refuse = accept_only(rate, 1)
    tone = (0.5 * np.sin(np.arange(rate) * 2 * np.pi * 440 / rate)).astype(np.float32)

    def captured(ahead: bool) -> np.ndarray:
        out, longest = [], 0
        with Microphone() as mic:
            for start in range(0, rate, rate // 50):
                fake.streams[-1].tick(tone[start : start + rate // 50, None])
                waiting, early = mic.waiting, mic.ahead() if ahead else tone[:0]
                assert mic.waiting == waiting or rate != SAMPLE_RATE
                longest = max(longest, len(early))
                if (frame := mic.read_frame(0.0)) is not None:
                    assert len(early) < FRAME_SAMPLES and (frame[: len(early)] == early).all()
                    out.append(frame)
        assert not ahead or longest >= 3 * BLOCK
        return np.concatenate(out)

    assert (captured(True) == captured(False)).all()


def test_samples_shown_by_ahead_are_muted_and_dropped(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        device = fake.streams[0]
        device.tick(ONES)
        assert mic.ahead().all()
        mic.muted = True
        device.tick(ONES)
        assert mic.ahead().size == 2 * BLOCK and not mic.ahead().any()
        mic.muted = False
        device.tick(ONES)
        assert not mic.ahead()[: 2 * BLOCK].any() and mic.ahead()[2 * BLOCK :].all()
        device.tick(ONES)
        frame = mic.read_frame(0.0)
        assert not frame[: 2 * BLOCK].any() and frame[2 * BLOCK :].all()
        for index in range(13):
            device.tick(ramp(index * BLOCK, BLOCK)[:, None])
            mic.ahead()
        assert mic.drop_to_newest() == 2 and mic.overruns == 0
        assert (mic.ahead() == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES - 1)).all()  # less than a frame
        assert (mic.read_frame(0.0) == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES)).all()


def test_overruns_are_counted_and_the_newest_samples_kept(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        for index in range(int(microphone.CAPTURE_SECONDS * 50) + 3):
            fake.streams[0].tick(ramp(index * BLOCK, BLOCK)[:, None])
        assert mic.overruns == 3 * BLOCK
        assert (mic.read_frame(0.0) == ramp(3 * BLOCK, FRAME_SAMPLES)).all()
        assert mic.overruns == 3 * BLOCK


@pytest.mark.parametrize(("rate", "channels"), [(24_000, 2), (48_000, 1), (48_000, 2)])
def test_other_formats_are_converted(fake: FakeSoundDevice, rate: int, channels: int) -> None:
    fake.refuse = accept_only(rate, channels)
    tone = (0.5 * np.sin(np.arange(rate) * 2 * np.pi * 1_000 / rate)).astype(np.float32)
    frames = []
    with Microphone() as mic:
        block = rate // 50
        for start in range(0, rate, block):
            part = np.column_stack([tone[start : start + block] * (1, 0.5)[c] for c in range(channels)])
            fake.streams[0].tick(part)
            if (frame := mic.read_frame(0.0)) is not None:
                frames.append(frame)
        assert mic.overruns == 0
    assert len(frames) >= 11
    level = 0.5 if channels == 1 else 0.375
    ideal = level * np.sin(np.arange(SAMPLE_RATE) * 2 * np.pi * 1_000 / SAMPLE_RATE)
    out = np.concatenate(frames)
    assert np.abs(out[1_000:] - ideal[1_000 : out.size]).max() < 1e-3


def test_device_that_vanishes(fake: FakeSoundDevice) -> None:
    with Microphone() as mic:
        for _ in range(4):
            fake.streams[0].tick(ONES)
        fake.streams[0].vanish()
        assert mic.read_frame(0.0) is not None  # what came before is still delivered
        with pytest.raises(DeviceError, match="The microphone “Mic” is gone"):
            mic.read_frame(1.0)


def test_device_that_stalls(fake: FakeSoundDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microphone, "STALLED_SECONDS", 0.05)
    with Microphone() as mic, pytest.raises(DeviceError, match="is gone"):
        for _ in range(100):
            mic.read_frame(0.01)


@cases(
    "code, words, attempts",
    (portaudio_library.UNAVAILABLE, "in use by another program", [(24_000, 1)]),
    (INVALID_RATE, r"couldn't be opened \(refused\)", [(24_000, 1), (24_000, 2), (48_000, 1), (48_000, 2)]),
)
def test_device_that_refuses(fake: FakeSoundDevice, code: int, words: str, attempts: list) -> None:
    fake.refuse = lambda options: PortAudioError("refused", code)
    with pytest.raises(DeviceError, match=words):
        Microphone().__enter__()
    assert fake.attempts == attempts


def test_device_plugged_in_after_the_start(fake: FakeSoundDevice) -> None:
    fake.on_restart = lambda: fake.set_devices(("Late", "ALSA", 1, 0))
    with Microphone("late") as mic:
        assert mic.name == "Late"


def test_wasapi_options(fake: FakeSoundDevice) -> None:
    fake.set_devices(("Mic", "Windows WASAPI", 1, 0), ("Speaker", "Windows WASAPI", 0, 2), default=(0, 1))
    with Microphone(), Loudspeaker():
        # A large buffer for a microphone's sound while Python is busy; and Windows may convert the rate.
        assert [one.options["latency"] for one in fake.streams] == [portaudio_stream.WASAPI_BUFFER_SECONDS, "low"]
        assert all(one.options["extra_settings"] == ("wasapi", True) for one in fake.streams)


def test_windows_timers_are_fine_while_a_stream_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    winmm = SimpleNamespace(
        timeBeginPeriod=lambda ms: calls.append(f"begin {ms}"), timeEndPeriod=lambda ms: calls.append(f"end {ms}")
    )
    monkeypatch.setattr(portaudio_library.ctypes, "windll", SimpleNamespace(winmm=winmm), raising=False)
    assert portaudio_library.open_streams() == 0
    for change in (+1, +1, -1):
        portaudio_library.count_stream(change)
    assert calls == ["begin 1"]
    portaudio_library.count_stream(-1)
    assert calls == ["begin 1", "end 1"]


def test_driver_that_hangs_on_closing(fake: FakeSoundDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portaudio_stream, "CLOSE_SECONDS", 0.05)
    released = threading.Event()
    before = time.perf_counter()
    with Microphone():
        fake.streams[0].abort = released.wait
    assert time.perf_counter() - before < 1.0
    assert not portaudio_library.restart()  # it still uses PortAudio
    released.set()
    for _ in range(100):
        if portaudio_library.restart():
            break
        time.sleep(0.01)
    assert portaudio_library.restart()


def test_mute_in_the_middle_of_words_is_immediate_and_complete() -> None:
    place, speech, levels, muted = Room(frames(7.4)), app_speech(7.4), [], False
    for at in (0.5, 4.2):
        place.say(question("103_2"), at)
    clean = EchoCancelledSource(place.source, place.tap, Processing(noise=True, gain=True))
    with MutedSource(clean, lambda: muted) as source:
        for n in range(frames(7.4)):
            muted = 60 <= n < 72
            levels.append(np.abs(source.read_frame(0.0)).max())
            place.sink.write(speech[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES])
    assert max(levels[50:60]) > 0.001 < max(levels[73:]) and not any(levels[60:72])


def test_early_hops_are_muted() -> None:
    place = Room(frames(2), attenuation_db=None, by_hops=True)
    parts: list[np.ndarray] = []
    muted = False
    with MutedSource(EchoCancelledSource(place.source, place.tap, Processing(echo=False)), lambda: muted) as source:
        for n in range(frames(2)):
            muted = n >= 10
            source.on_early_samples = parts.append
            del parts[:]
            frame = source.read_frame(1.0)
            assert np.array_equal(frame[: 3 * HOP], np.concatenate(parts)) if n else not parts
            assert frame.any() == (not muted)
        source.on_early_samples = None
        assert source.on_early_samples is None
