"""Levels, sounds of two channels and Ogg-Opus: there and back, and what a hostile message may cost."""

import numpy as np
import pytest

from app.audio.devices.loudspeaker import StereoClip
from app.audio.io.opus import MOST_SECONDS, SLICE_BYTES, OpusDecoder, OpusEncoder, OpusError
from app.audio.io.resample import FLOOR_DBFS, peak_dbfs, rms_dbfs
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.untrusted.limits import VOICE_MESSAGE
from tests.support.tables import cases
from tests.unit.audio.fake_sounddevice import BLOCK, FakeSoundDevice, accept_only, ramp


def pages(frames: int) -> list[bytes]:
    encoder = OpusEncoder()
    samples = 0.3 * np.sin(2 * np.pi * 440 * np.arange(frames * FRAME_SAMPLES) / SAMPLE_RATE)
    return [encoder.push(frame.astype(np.float32)) for frame in samples.reshape(frames, FRAME_SAMPLES)]


def test_sound_is_the_same_however_its_pages_come() -> None:
    sent = pages(40)
    whole = OpusDecoder().push(b"".join(sent))
    decoder = OpusDecoder()
    assert len(b"".join(sent)) > 4 * SLICE_BYTES
    np.testing.assert_array_equal(whole, np.concatenate([decoder.push(page) for page in sent]))
    assert len(whole) > 38 * FRAME_SAMPLES and np.sqrt(np.mean(whole[FRAME_SAMPLES:] ** 2)) > 0.15


class _Reader:
    """Stands for the library: each piece that it gets becomes `seconds` of sound."""

    def __init__(self, seconds: float) -> None:
        self.got: list[int] = []
        self._sound = np.zeros(round(seconds * SAMPLE_RATE), np.float32)

    def append_bytes(self, data: bytes) -> np.ndarray:
        self.got.append(len(data))
        return self._sound


def test_a_message_that_becomes_too_long_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, reader = OpusDecoder(), _Reader(4.0)
    monkeypatch.setattr(decoder, "_reader", reader)
    with pytest.raises(OpusError, match=f"more than {MOST_SECONDS:g} s"):
        decoder.push(bytes(VOICE_MESSAGE.bytes))
    assert reader.got == [SLICE_BYTES] * 3


def test_a_message_of_too_many_bytes_is_not_read_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, reader = OpusDecoder(), _Reader(0.0)
    monkeypatch.setattr(decoder, "_reader", reader)
    with pytest.raises(OpusError, match="longer than 64 KB"):
        decoder.push(bytes(VOICE_MESSAGE.bytes + 1))
    assert not reader.got
    with pytest.raises(OpusError, match="without a sound"):
        for _ in range(3):
            decoder.push(bytes(VOICE_MESSAGE.bytes))


SQUARE = np.array([1.0, -1.0] * 100, np.float32)
SINE = np.sin(np.arange(2_400) * 2 * np.pi / 24).astype(np.float32) * 0.1


@cases(
    "samples, peak, rms",
    (SQUARE, 0.0, 0.0),
    (np.array([0.1, -0.5], np.float32), -6.02, -8.86),
    (SINE, -20.0, -23.01),
    (np.zeros(10, np.float32), FLOOR_DBFS, FLOOR_DBFS),
    (np.zeros(0, np.float32), FLOOR_DBFS, FLOOR_DBFS),
)
def test_levels(samples: np.ndarray, peak: float, rms: float) -> None:
    assert peak_dbfs(samples) == pytest.approx(peak, abs=0.01)
    assert rms_dbfs(samples) == pytest.approx(rms, abs=0.01)


def sides(samples: int) -> np.ndarray:
    return np.stack([ramp(1, samples), -ramp(1, samples)], axis=1)


def test_each_channel_is_played_on_its_own_side(fake: FakeSoundDevice) -> None:
    fake.refuse = accept_only(24_000, 2)
    clip = sides(BLOCK + 10)
    with StereoClip(clip) as player:
        device = fake.streams[0]
        assert player.name == "Speaker" and fake.attempts[0] == (24_000, 2), "two channels are tried first"
        assert (device.tick() == clip[:BLOCK]).all()
        rest = device.tick()
        assert (rest[:10] == clip[BLOCK:]).all() and not rest[10:].any()
        assert not device.tick().any()
    assert device.calls == ["start", "abort", "close"]


def test_a_loudspeaker_with_one_channel_plays_both(fake: FakeSoundDevice) -> None:
    fake.refuse = accept_only(24_000, 1)
    clip = np.stack([ramp(1, BLOCK), np.zeros(BLOCK, np.float32)], axis=1)
    with StereoClip(clip):
        assert np.allclose(fake.streams[0].tick()[:, 0], ramp(1, BLOCK) / 2)


def test_at_another_rate_it_is_as_long(fake: FakeSoundDevice) -> None:
    rate = 44_100
    fake.refuse = accept_only(rate, 2)
    tone = np.sin(np.arange(24_000) * 2 * np.pi * 440 / 24_000).astype(np.float32)
    with StereoClip(np.stack([tone, tone], axis=1)):
        device = fake.streams[0]
        played = np.concatenate([device.tick() for _ in range(110)])
    assert np.abs(played[:rate]).max() > 0.9 and not played[rate + 10 :].any()


def test_closing_falls_silent_at_once(fake: FakeSoundDevice) -> None:
    player = StereoClip(sides(10 * BLOCK))
    with player:
        device = fake.streams[0]
        device.tick()
    assert not device.tick().any()
