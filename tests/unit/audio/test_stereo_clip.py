"""A sound of two channels, over a stand-in for PortAudio."""

from __future__ import annotations

import numpy as np
import pytest

from app.audio.devices.loudspeaker import StereoClip
from tests.unit.audio.fake_sounddevice import BLOCK, FakeSoundDevice, accept_only, ramp


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


@pytest.mark.parametrize("rate", [44_100])
def test_at_another_rate_it_is_as_long(fake: FakeSoundDevice, rate: int) -> None:
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
