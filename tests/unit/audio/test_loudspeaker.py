"""The loudspeaker, over a stand-in for PortAudio."""

import numpy as np
import pytest

from app.audio.devices import loudspeaker
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import AudioSink, DeviceError
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from tests.unit.audio.fake_sounddevice import BLOCK, FakeSoundDevice, accept_only, ramp


def accounted(speaker: Loudspeaker) -> bool:
    return speaker.written == speaker.played + speaker.queued + speaker.flushed + speaker.overruns


def test_speech_is_played_after_a_short_wait(fake: FakeSoundDevice) -> None:
    speaker: AudioSink = Loudspeaker()
    with speaker:
        device = fake.streams[0]
        assert speaker.name == "Speaker" and not device.tick().any()
        speaker.write(ramp(1, FRAME_SAMPLES))
        assert not device.tick().any() and not device.tick().any()  # 40 ms
        played = np.concatenate([device.tick()[:, 0] for _ in range(4)])
        assert (played == ramp(1, FRAME_SAMPLES)).all()
        assert speaker.played == FRAME_SAMPLES and speaker.queued == 0 and accounted(speaker)
    assert device.calls == ["start", "stop", "close"]


def test_long_speech_starts_at_once_on_every_channel(fake: FakeSoundDevice) -> None:
    fake.refuse = accept_only(24_000, 2)
    with Loudspeaker() as speaker:
        speaker.write(ramp(1, SAMPLE_RATE))
        block = fake.streams[0].tick()
        assert (block[:, 0] == ramp(1, BLOCK)).all() and (block[:, 1] == block[:, 0]).all()


def test_word_shorter_than_the_wait_is_played(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        speaker.write(ramp(1, 100))
        out = np.concatenate([fake.streams[0].tick()[:, 0] for _ in range(4)])
        assert (out[2 * BLOCK : 2 * BLOCK + 100] == ramp(1, 100)).all()
        assert not out[2 * BLOCK + 100 :].any()
        assert accounted(speaker)


def test_running_empty_in_speech_is_an_underrun(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        speaker.write(ramp(0, FRAME_SAMPLES))
        for _ in range(10):
            device.tick()
        assert speaker.underruns == 0  # it may be the end of speech
        speaker.write(ramp(0, FRAME_SAMPLES))
        device.tick()
        assert speaker.underruns == 1


def test_silence_after_a_flush_is_no_underrun(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        for _ in range(2):
            speaker.write(ramp(0, SAMPLE_RATE))
            device.tick()
            speaker.flush()
            for _ in range(3):
                assert not device.tick().any()
        assert speaker.underruns == 0
        speaker.write(ramp(0, FRAME_SAMPLES))
        for _ in range(8):
            device.tick()
        speaker.write(ramp(0, FRAME_SAMPLES))
        device.tick()
        assert speaker.underruns == 1  # a later one counts again


def test_the_wait_grows_after_an_underrun(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        assert speaker.prebuffer_seconds == 0.04
        for gap, wait in ((1, 0.05), (20, 0.05), (1, 0.06)):  # 0.4 s: no wait would have prevented that
            speaker.write(ramp(0, FRAME_SAMPLES))
            while speaker.queued:
                device.tick()
            for _ in range(gap + 1):
                device.tick()
            speaker.write(ramp(0, FRAME_SAMPLES))
            device.tick()
            speaker.write(ramp(0, 0))
            assert speaker.prebuffer_seconds == wait
            while speaker.queued:
                device.tick()
            for _ in range(60):
                device.tick()
    with Loudspeaker() as speaker:
        assert speaker.prebuffer_seconds == 0.06  # remembered for the device


def test_flush(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        speaker.write(ramp(0, SAMPLE_RATE))
        device.tick()
        assert speaker.flush() == SAMPLE_RATE - BLOCK
        assert (speaker.played, speaker.queued, speaker.flushed) == (BLOCK, 0, SAMPLE_RATE - BLOCK)
        assert speaker.flush() == 0
        speaker.write(ramp(7, SAMPLE_RATE))
        assert accounted(speaker)
        assert (device.tick()[:, 0] == ramp(7, BLOCK)).all()
        assert accounted(speaker)


@pytest.mark.parametrize("device_format", [(24_000, 1), (44_100, 2)])
def test_a_pause_loses_and_repeats_nothing(fake: FakeSoundDevice, device_format: tuple[int, int]) -> None:
    """Except for two fades of 5 ms it is as if time had stood still."""
    fake.refuse = accept_only(*device_format)
    speech = ramp(1, SAMPLE_RATE)
    rate = device_format[0]
    fade = round(0.005 * rate)

    def played(pause: bool) -> np.ndarray:
        with Loudspeaker() as speaker:
            device = fake.streams[-1]
            speaker.write(speech)
            speaker.write(speech[:0])
            blocks = [device.tick() for _ in range(5)]
            if pause:
                speaker.pause_playback()
                falling, *silent = [device.tick() for _ in range(9)]
                waiting = speaker.queued
                assert falling[:fade].any() and not falling[fade:].any() and not np.any(silent)
                assert (falling[:, 0] == falling[:, -1]).all()
                speaker.resume_playback()
                rising = device.tick()
                assert waiting > speaker.queued and accounted(speaker)
                blocks += [falling[:fade], rising]
            while speaker.queued:
                blocks.append(device.tick())
            for _ in range(3):
                device.tick()
            assert speaker.played == speaker.written == SAMPLE_RATE and speaker.underruns == 0 and accounted(speaker)
        return np.concatenate([block[:, 0] for block in blocks])

    plain, paused = played(False), played(True)
    count = np.flatnonzero(plain)[-1]
    fades = slice(5 * rate // 50, 5 * rate // 50 + 2 * fade)
    assert (np.abs(paused[:count]) <= np.abs(plain[:count])).all() and paused[fades].any()
    same = np.delete(np.arange(count), np.r_[fades])
    assert (paused[same] == plain[same]).all()


def test_flush_ends_a_pause(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        speaker.write(ramp(1, SAMPLE_RATE))
        device.tick()
        speaker.pause_playback()
        device.tick()
        played = speaker.played
        assert played == BLOCK + 120  # the fade
        device.tick()
        assert speaker.flush() == SAMPLE_RATE - played
        assert (speaker.played, speaker.queued, speaker.flushed) == (played, 0, SAMPLE_RATE - played)
        assert not device.tick().any()
        speaker.write(ramp(7, SAMPLE_RATE))
        assert (device.tick()[:, 0] == ramp(7, BLOCK)).all()
        assert speaker.underruns == 0 and accounted(speaker)


def test_a_pause_is_no_underrun_and_goes_to_the_tap(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        speaker.pause_playback()  # before anything sounds: what is written then waits
        speaker.write(ramp(1, 100))
        out = [device.tick() for _ in range(4)]
        assert not np.any(out) and speaker.queued == 100
        speaker.resume_playback()
        out += [device.tick() for _ in range(4)]
        speaker.write(ramp(1, SAMPLE_RATE))
        speaker.pause_playback()
        device.options["callback"](last := np.full((BLOCK, 1), np.nan, np.float32), BLOCK, None, "underflow")
        assert speaker.xruns == 0
        tapped = np.empty(9 * BLOCK, np.float32)
        assert speaker.tap.read_into(tapped) == tapped.size
        assert (tapped == np.concatenate([*out, last])[:, 0]).all() and accounted(speaker)


def test_full_queue(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        room = int(loudspeaker.PLAYBACK_SECONDS * SAMPLE_RATE)
        speaker.write(ramp(0, room + 1_000))
        assert speaker.overruns == 1_000 and accounted(speaker)
        assert (fake.streams[0].tick()[:, 0] == ramp(1_000, BLOCK)).all()


def test_other_rates_are_converted(fake: FakeSoundDevice) -> None:
    fake.refuse = accept_only(44_100, 2)
    tone = (0.5 * np.sin(np.arange(SAMPLE_RATE) * 2 * np.pi * 1_000 / SAMPLE_RATE)).astype(np.float32)
    with Loudspeaker() as speaker:
        device = fake.streams[0]
        out = []
        for start in range(0, SAMPLE_RATE, 480):
            speaker.write(tone[start : start + 480])
            out.append(device.tick()[:, 0])
            assert accounted(speaker)
        speaker.write(tone[:0])  # the end of speech
        while speaker.queued:
            out.append(device.tick()[:, 0])
        assert speaker.played == speaker.written == SAMPLE_RATE and speaker.underruns == 0
    played = np.concatenate(out)
    played = played[np.flatnonzero(np.abs(played) > 1e-6)[0] :]
    spectrum = np.abs(np.fft.rfft(played * np.hanning(played.size)))
    assert spectrum.argmax() * 44_100 / played.size == pytest.approx(1_000, abs=2)
    assert played[1_000:20_000].max() == pytest.approx(0.5, abs=0.01)


def test_flush_drops_what_the_resampler_holds(fake: FakeSoundDevice) -> None:
    fake.refuse = accept_only(44_100, 2)
    with Loudspeaker() as speaker:
        speaker.write(np.full(SAMPLE_RATE, 0.5, np.float32))
        fake.streams[0].tick()
        flushed = speaker.flush()
        assert 0.9 * SAMPLE_RATE < flushed < SAMPLE_RATE
        speaker.write(np.zeros(SAMPLE_RATE, np.float32))
        fake.streams[0].tick()
        assert not np.concatenate([fake.streams[0].tick()[:, 0] for _ in range(20)]).any()
        assert accounted(speaker)


def test_device_that_vanishes(fake: FakeSoundDevice) -> None:
    with Loudspeaker() as speaker:
        fake.streams[0].vanish()
        with pytest.raises(DeviceError, match="The loudspeaker “Speaker” is gone"):
            speaker.write(np.zeros(1, np.float32))
