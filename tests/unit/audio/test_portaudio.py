"""Microphone and Loudspeaker over a stand-in whose callbacks the test calls."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from app.audio.devices import loudspeaker, microphone, portaudio_library, portaudio_stream
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.devices.microphone import Microphone
from app.audio.io.base import AudioSink, AudioSource
from app.audio.io.errors import DeviceError
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, PortAudioError

BLOCK = 480


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSoundDevice:
    fake = FakeSoundDevice(("Mic", "ALSA", 2, 0, 48_000), ("Box", "ALSA", 0, 2, 44_100), default=(0, 1))
    monkeypatch.setattr(portaudio_library, "load", lambda: fake)
    # Blocks of a quarter of a frame, two to a cushion, whatever the measurements say is best.
    monkeypatch.setattr(portaudio_stream, "BLOCK_SECONDS", 0.02)
    monkeypatch.setattr(loudspeaker, "CUSHION_SECONDS", 0.04)
    monkeypatch.setattr(loudspeaker, "_prebuffer_seconds", {})
    return fake


def ramp(start: int, count: int) -> np.ndarray:
    """Distinct samples in [-1, 1]."""
    return (np.arange(start, start + count) % 30_000 / 32_768).astype(np.float32)


def only(rate: int, channels: int):
    """A device that accepts one shape."""

    def refuse(options: dict) -> Exception | None:
        if options["samplerate"] != rate:
            return PortAudioError("Invalid sample rate", portaudio_library.INVALID_RATE)
        if options["channels"] != channels:
            return PortAudioError("Invalid number of channels", portaudio_library.INVALID_CHANNELS)
        return None

    return refuse


class TestMicrophone:
    def test_frames_from_blocks(self, fake: FakeSoundDevice) -> None:
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

    def test_waits_for_the_missing_block(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            for _ in range(3):
                fake.streams[0].tick(np.zeros((BLOCK, 1), np.float32))
            late = threading.Timer(0.03, fake.streams[0].tick, [np.ones((BLOCK, 1), np.float32)])
            late.start()
            frame = mic.read_frame(2.0)
            late.join()
            assert frame[-1] == 1.0 and frame[0] == 0.0

    def test_muted(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            device = fake.streams[0]
            device.tick(np.ones((BLOCK, 1), np.float32))
            mic.muted = True
            for _ in range(3):
                device.tick(np.ones((BLOCK, 1), np.float32))
            assert not mic.read_frame(0.0).any()  # what waited, and what came since
            mic.muted = False
            for _ in range(4):
                device.tick(np.ones((BLOCK, 1), np.float32))
            assert mic.read_frame(0.0).all()

    def test_timeout(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            before = time.perf_counter()
            assert mic.read_frame(0.05) is None
            assert 0.045 < time.perf_counter() - before < 0.5

    def test_drop_to_newest(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            for index in range(13):  # three frames and a block
                fake.streams[0].tick(ramp(index * BLOCK, BLOCK)[:, None])
            assert mic.drop_to_newest() == 2
            assert mic.backlog == 1 and mic.overruns == 0
            assert (mic.read_frame(0.0) == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES)).all()
            assert mic.drop_to_newest() == 0

    @pytest.mark.parametrize("rate", [24_000, 48_000])
    def test_the_frame_under_way_can_be_looked_at_and_comes_all_the_same(
        self, fake: FakeSoundDevice, rate: int
    ) -> None:
        fake.refuse = only(rate, 1)
        tone = (0.5 * np.sin(np.arange(rate) * 2 * np.pi * 440 / rate)).astype(np.float32)

        def heard(look: bool) -> np.ndarray:
            out, seen = [], 0
            with Microphone() as mic:
                for start in range(0, rate, rate // 50):
                    fake.streams[-1].tick(tone[start : start + rate // 50, None])
                    waiting, begun = mic.waiting, mic.ahead() if look else tone[:0]
                    assert mic.waiting == waiting or rate != SAMPLE_RATE
                    seen = max(seen, len(begun))
                    if (frame := mic.read_frame(0.0)) is not None:
                        assert len(begun) < FRAME_SAMPLES and (frame[: len(begun)] == begun).all()
                        out.append(frame)
            assert not look or seen >= 3 * BLOCK
            return np.concatenate(out)

        assert (heard(True) == heard(False)).all()

    def test_what_was_looked_at_is_muted_and_dropped_like_the_rest(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            device = fake.streams[0]
            device.tick(np.ones((BLOCK, 1), np.float32))
            assert mic.ahead().all()
            mic.muted = True
            device.tick(np.ones((BLOCK, 1), np.float32))
            assert mic.ahead().size == 2 * BLOCK and not mic.ahead().any()
            mic.muted = False
            device.tick(np.ones((BLOCK, 1), np.float32))
            assert not mic.ahead()[: 2 * BLOCK].any() and mic.ahead()[2 * BLOCK :].all()
            device.tick(np.ones((BLOCK, 1), np.float32))
            frame = mic.read_frame(0.0)
            assert not frame[: 2 * BLOCK].any() and frame[2 * BLOCK :].all()
            for index in range(13):
                device.tick(ramp(index * BLOCK, BLOCK)[:, None])
                mic.ahead()
            assert mic.drop_to_newest() == 2 and mic.overruns == 0
            assert (mic.ahead() == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES - 1)).all()  # less than a frame
            assert (mic.read_frame(0.0) == ramp(2 * FRAME_SAMPLES, FRAME_SAMPLES)).all()

    def test_overruns_are_counted_and_the_newest_are_kept(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            blocks = int(microphone.CAPTURE_SECONDS * 50) + 3
            for index in range(blocks):
                fake.streams[0].tick(ramp(index * BLOCK, BLOCK)[:, None])
            assert mic.overruns == 3 * BLOCK
            assert (mic.read_frame(0.0) == ramp(3 * BLOCK, FRAME_SAMPLES)).all()
            assert mic.overruns == 3 * BLOCK

    @pytest.mark.parametrize(("rate", "channels"), [(24_000, 2), (48_000, 1), (48_000, 2)])
    def test_a_device_with_a_shape_of_its_own(self, fake: FakeSoundDevice, rate: int, channels: int) -> None:
        fake.refuse = only(rate, channels)
        tone = (0.5 * np.sin(np.arange(rate) * 2 * np.pi * 1_000 / rate)).astype(np.float32)
        heard = []
        with Microphone() as mic:
            block = rate // 50
            for start in range(0, rate, block):
                part = np.column_stack([tone[start : start + block] * (1, 0.5)[c] for c in range(channels)])
                fake.streams[0].tick(part)
                if (frame := mic.read_frame(0.0)) is not None:
                    heard.append(frame)
            assert mic.overruns == 0
        assert len(heard) >= 11
        level = 0.5 if channels == 1 else 0.375
        ideal = level * np.sin(np.arange(SAMPLE_RATE) * 2 * np.pi * 1_000 / SAMPLE_RATE)
        out = np.concatenate(heard)
        assert np.abs(out[1_000:] - ideal[1_000 : out.size]).max() < 1e-3

    def test_dropping_where_samples_are_converted(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(48_000, 2)
        with Microphone() as mic:
            for index in range(50):
                fake.streams[0].tick(np.full((960, 2), index / 50, np.float32))
            assert mic.backlog == 12
            assert mic.drop_to_newest() == 11
            assert mic.backlog == 1
            assert mic.read_frame(0.0)[-1000:].min() > 0.85
            assert mic.overruns == 0

    def test_vanishing(self, fake: FakeSoundDevice) -> None:
        with Microphone() as mic:
            for _ in range(4):
                fake.streams[0].tick(np.zeros((BLOCK, 1), np.float32))
            fake.streams[0].vanish()
            assert mic.read_frame(0.0) is not None  # what came before is still heard
            with pytest.raises(DeviceError, match="The microphone “Mic” is gone"):
                mic.read_frame(1.0)

    def test_a_device_that_goes_silent_without_a_word(
        self, fake: FakeSoundDevice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(microphone, "STALLED_SECONDS", 0.05)
        with Microphone() as mic, pytest.raises(DeviceError, match="is gone"):
            for _ in range(100):
                mic.read_frame(0.01)

    def test_busy_stops_at_once(self, fake: FakeSoundDevice) -> None:
        fake.refuse = lambda options: PortAudioError("Device unavailable", portaudio_library.UNAVAILABLE)
        with pytest.raises(DeviceError, match="in use by another program"):
            Microphone().__enter__()
        assert len(fake.attempts) == 1

    def test_a_device_that_accepts_nothing(self, fake: FakeSoundDevice) -> None:
        fake.refuse = lambda options: PortAudioError("Invalid sample rate", portaudio_library.INVALID_RATE)
        with pytest.raises(DeviceError, match=r"couldn't be opened \(Invalid sample rate\)"):
            Microphone().__enter__()
        assert fake.attempts == [(24_000, 1), (24_000, 2), (48_000, 1), (48_000, 2)]

    def test_plugged_in_since_the_start(self, fake: FakeSoundDevice) -> None:
        fake.on_restart = lambda: fake.set_devices(("Late", "ALSA", 1, 0))
        with Microphone("late") as mic:
            assert mic.name == "Late"

    def test_unknown_name(self, fake: FakeSoundDevice) -> None:
        with pytest.raises(DeviceError, match="no microphone named “Nothing”"):
            Microphone("Nothing").__enter__()

    def test_wasapi_may_convert(self, fake: FakeSoundDevice) -> None:
        fake.set_devices(("Mic", "Windows WASAPI", 1, 0), default=(0, -1))
        with Microphone():
            assert fake.streams[0].options["extra_settings"] == ("wasapi", True)

    def test_windows_keeps_a_microphones_sound_while_python_is_busy(self, fake: FakeSoundDevice) -> None:
        fake.set_devices(("Mic", "Windows WASAPI", 1, 0), ("Speaker", "Windows WASAPI", 0, 2), default=(0, 1))
        with Microphone(), Loudspeaker():
            assert [one.options["latency"] for one in fake.streams] == [portaudio_stream.WASAPI_BUFFER_SECONDS, "low"]

    def test_windows_has_fine_timers_while_there_is_sound(
        self, fake: FakeSoundDevice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[str] = []
        winmm = SimpleNamespace(
            timeBeginPeriod=lambda ms: told.append(f"begin {ms}"), timeEndPeriod=lambda ms: told.append(f"end {ms}")
        )
        monkeypatch.setattr(portaudio_library.ctypes, "windll", SimpleNamespace(winmm=winmm), raising=False)
        assert portaudio_library.open_streams() == 0
        portaudio_library.count_stream(+1)
        portaudio_library.count_stream(+1)
        portaudio_library.count_stream(-1)
        assert told == ["begin 1"]
        portaudio_library.count_stream(-1)
        assert told == ["begin 1", "end 1"]

    def test_a_driver_that_hangs_on_closing(self, fake: FakeSoundDevice, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(portaudio_stream, "CLOSE_SECONDS", 0.05)
        released = threading.Event()
        before = time.perf_counter()
        with Microphone():
            fake.streams[0].abort = released.wait
        assert time.perf_counter() - before < 1.0
        assert not portaudio_library.restart()  # it still holds PortAudio
        released.set()
        for _ in range(100):
            if portaudio_library.restart():
                break
            time.sleep(0.01)
        assert portaudio_library.restart()

    def test_only_inside_its_with(self) -> None:
        with pytest.raises(ValueError, match="inside its `with`"):
            Microphone().read_frame(0.0)


@pytest.mark.parametrize("end", [Microphone, Loudspeaker])
def test_a_device_that_is_taken_away_between_two_looks(end: type) -> None:
    class Vanishing(end):
        """The stream is there at the first look only."""

        looks = 0

        @property
        def _stream(self):
            self.looks += 1
            return SimpleNamespace(finished=False, tag="tag", latency=1.0) if self.looks == 1 else None

        @_stream.setter
        def _stream(self, stream) -> None:
            self.looks = 0

    for name, there in (("finished", False), ("tag", "tag"), ("latency", 1.0)):
        assert getattr(Vanishing(), name) == there


class TestLoudspeaker:
    def accounted(self, box: Loudspeaker) -> bool:
        return box.written == box.played + box.queued + box.flushed + box.overruns

    def test_plays_what_is_written_after_the_cushion(self, fake: FakeSoundDevice) -> None:
        box: AudioSink = Loudspeaker()
        with box:
            device = fake.streams[0]
            assert box.name == "Box" and not device.tick().any()
            box.write(ramp(1, FRAME_SAMPLES))
            assert not device.tick().any() and not device.tick().any()  # 40 ms
            played = np.concatenate([device.tick()[:, 0] for _ in range(4)])
            assert (played == ramp(1, FRAME_SAMPLES)).all()
            assert box.played == FRAME_SAMPLES and box.queued == 0 and self.accounted(box)
        assert device.calls == ["start", "stop", "close"]

    def test_a_long_text_starts_at_once(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            box.write(ramp(1, SAMPLE_RATE))
            assert (fake.streams[0].tick()[:, 0] == ramp(1, BLOCK)).all()

    def test_a_word_shorter_than_the_cushion_is_played(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            box.write(ramp(1, 100))
            out = np.concatenate([fake.streams[0].tick()[:, 0] for _ in range(4)])
            assert (out[2 * BLOCK : 2 * BLOCK + 100] == ramp(1, 100)).all()
            assert not out[2 * BLOCK + 100 :].any()
            assert self.accounted(box)

    def test_every_channel_gets_the_same(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(24_000, 2)
        with Loudspeaker() as box:
            box.write(ramp(1, SAMPLE_RATE))
            block = fake.streams[0].tick()
            assert (block[:, 0] == ramp(1, BLOCK)).all() and (block[:, 1] == block[:, 0]).all()

    def test_running_dry_in_talk_is_an_underrun(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            box.write(ramp(0, FRAME_SAMPLES))
            for _ in range(10):
                device.tick()
            assert box.underruns == 0  # it may be the end of the talk
            box.write(ramp(0, FRAME_SAMPLES))
            device.tick()
            assert box.underruns == 1

    def test_the_cushion_grows_where_it_was_too_short(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            assert box.cushion_seconds == 0.04
            for pause, cushion in ((1, 0.05), (20, 0.05), (1, 0.06)):  # 0.4 s: no cushion would have bridged that
                box.write(ramp(0, FRAME_SAMPLES))
                while box.queued:
                    device.tick()
                for _ in range(pause + 1):
                    device.tick()
                box.write(ramp(0, FRAME_SAMPLES))
                device.tick()
                box.write(ramp(0, 0))
                assert box.cushion_seconds == cushion
                while box.queued:
                    device.tick()
                for _ in range(60):
                    device.tick()
        with Loudspeaker() as box:
            assert box.cushion_seconds == 0.06  # remembered for the device

    def test_the_tap_has_all_that_was_played(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(24_000, 2)
        with Loudspeaker() as box:
            device = fake.streams[0]
            device.tick()
            box.write(ramp(1, SAMPLE_RATE))
            played = [device.tick()[:, 0] for _ in range(3)]
            heard = np.empty(4 * BLOCK, np.float32)
            assert box.tap.read_into(heard) == heard.size
            assert not heard[:BLOCK].any() and (heard[BLOCK:] == np.concatenate(played)).all()

    def test_a_pause_between_talks_is_none(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            for _ in range(3):
                box.write(ramp(0, FRAME_SAMPLES))
                for _ in range(40):
                    fake.streams[0].tick()
            assert box.underruns == 0

    def test_silence_after_a_flush_is_none(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            for _ in range(2):
                box.write(ramp(0, SAMPLE_RATE))
                device.tick()
                box.flush()
                for _ in range(3):
                    assert not device.tick().any()
            assert box.underruns == 0
            box.write(ramp(0, FRAME_SAMPLES))
            for _ in range(8):
                device.tick()
            box.write(ramp(0, FRAME_SAMPLES))
            device.tick()
            assert box.underruns == 1  # a later one counts again

    def test_flush(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            box.write(ramp(0, SAMPLE_RATE))
            device.tick()
            assert box.flush() == SAMPLE_RATE - BLOCK
            assert (box.played, box.queued, box.flushed) == (BLOCK, 0, SAMPLE_RATE - BLOCK)
            assert box.flush() == 0
            box.write(ramp(7, SAMPLE_RATE))
            assert self.accounted(box)
            assert (device.tick()[:, 0] == ramp(7, BLOCK)).all()
            assert self.accounted(box)

    @pytest.mark.parametrize("shape", [(24_000, 1), (44_100, 2)])
    def test_a_hush_keeps_what_is_queued(self, fake: FakeSoundDevice, shape: tuple[int, int]) -> None:
        """Nothing is lost or said twice: but for two fades of 5 ms it is as if time had stood still."""
        fake.refuse = only(*shape)
        said = ramp(1, SAMPLE_RATE)

        def played(hush: bool) -> np.ndarray:
            with Loudspeaker() as box:
                device = fake.streams[-1]
                box.write(said)
                box.write(said[:0])
                blocks = [device.tick() for _ in range(5)]
                if hush:
                    box.hush()
                    falling, *silent = [device.tick() for _ in range(9)]
                    waiting = box.queued
                    fade = round(0.005 * shape[0])
                    assert falling[:fade].any() and not falling[fade:].any() and not np.any(silent)
                    assert (falling[:, 0] == falling[:, -1]).all()
                    box.unhush()
                    rising = device.tick()
                    assert waiting > box.queued and self.accounted(box)
                    blocks += [falling[:fade], rising]
                while box.queued:
                    blocks.append(device.tick())
                for _ in range(3):
                    device.tick()
                assert box.played == box.written == SAMPLE_RATE and box.underruns == 0 and self.accounted(box)
            return np.concatenate([block[:, 0] for block in blocks])

        plain, hushed = played(False), played(True)
        block, fade = shape[0] // 50, round(0.005 * shape[0])
        count = np.flatnonzero(plain)[-1]
        fades = slice(5 * block, 5 * block + 2 * fade)
        assert (np.abs(hushed[:count]) <= np.abs(plain[:count])).all() and hushed[fades].any()
        same = np.delete(np.arange(count), np.r_[fades])
        assert (hushed[same] == plain[same]).all()

    def test_a_flush_ends_a_hush_and_counts_what_it_kept_back(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            box.write(ramp(1, SAMPLE_RATE))
            device.tick()
            box.hush()
            device.tick()
            played = box.played
            assert played == BLOCK + 120  # the fade
            device.tick()
            assert box.flush() == SAMPLE_RATE - played
            assert (box.played, box.queued, box.flushed) == (played, 0, SAMPLE_RATE - played)
            assert not device.tick().any()
            box.write(ramp(7, SAMPLE_RATE))
            assert (device.tick()[:, 0] == ramp(7, BLOCK)).all()
            assert box.underruns == 0 and self.accounted(box)

    def test_a_hush_is_no_underrun_and_the_tap_hears_it(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            device = fake.streams[0]
            box.hush()  # before anything sounds: what is written then waits
            box.write(ramp(1, 100))
            out = [device.tick() for _ in range(4)]
            assert not np.any(out) and box.queued == 100
            box.unhush()
            out += [device.tick() for _ in range(4)]
            box.write(ramp(1, SAMPLE_RATE))
            box.hush()
            device.options["callback"](last := np.full((BLOCK, 1), np.nan, np.float32), BLOCK, None, "underflow")
            assert box.xruns == 0
            heard = np.empty(9 * BLOCK, np.float32)
            assert box.tap.read_into(heard) == heard.size
            assert (heard == np.concatenate([*out, last])[:, 0]).all() and self.accounted(box)

    def test_more_than_fits(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            room = int(loudspeaker.PLAYBACK_SECONDS * SAMPLE_RATE)
            box.write(ramp(0, room + 1_000))
            assert box.overruns == 1_000 and self.accounted(box)
            assert (fake.streams[0].tick()[:, 0] == ramp(1_000, BLOCK)).all()

    def test_a_rate_of_its_own(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(44_100, 2)
        tone = (0.5 * np.sin(np.arange(SAMPLE_RATE) * 2 * np.pi * 1_000 / SAMPLE_RATE)).astype(np.float32)
        with Loudspeaker() as box:
            device = fake.streams[0]
            out = []
            for start in range(0, SAMPLE_RATE, 480):
                box.write(tone[start : start + 480])
                out.append(device.tick()[:, 0])
                assert self.accounted(box)
            box.write(tone[:0])  # nothing more to say
            while box.queued:
                out.append(device.tick()[:, 0])
            assert box.played == box.written == SAMPLE_RATE and box.underruns == 0
        heard = np.concatenate(out)
        heard = heard[np.flatnonzero(np.abs(heard) > 1e-6)[0] :]
        level = np.abs(np.fft.rfft(heard * np.hanning(heard.size)))
        assert level.argmax() * 44_100 / heard.size == pytest.approx(1_000, abs=2)
        assert heard[1_000:20_000].max() == pytest.approx(0.5, abs=0.01)

    def test_flush_forgets_what_the_resampler_holds(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(44_100, 2)
        with Loudspeaker() as box:
            box.write(np.full(SAMPLE_RATE, 0.5, np.float32))
            fake.streams[0].tick()
            flushed = box.flush()
            assert 0.9 * SAMPLE_RATE < flushed < SAMPLE_RATE
            box.write(np.zeros(SAMPLE_RATE, np.float32))
            fake.streams[0].tick()
            assert not np.concatenate([fake.streams[0].tick()[:, 0] for _ in range(20)]).any()
            assert self.accounted(box)

    def test_played_never_falls(self, fake: FakeSoundDevice) -> None:
        fake.refuse = only(44_100, 1)
        rng = np.random.default_rng(5)
        last = 0
        with Loudspeaker() as box:
            for _ in range(300):
                action = rng.integers(0, 10)
                if action == 0:
                    box.flush()
                elif action < 5:
                    box.write(np.zeros(rng.integers(0, 2_000), np.float32))
                else:
                    fake.streams[0].tick()
                assert box.played >= last and self.accounted(box)
                last = box.played

    def test_vanishing(self, fake: FakeSoundDevice) -> None:
        with Loudspeaker() as box:
            fake.streams[0].vanish()
            with pytest.raises(DeviceError, match="The loudspeaker “Box” is gone"):
                box.write(np.zeros(1, np.float32))
