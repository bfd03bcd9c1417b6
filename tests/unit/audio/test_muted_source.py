"""Muting at the end of the processing, over stand-ins for the devices."""

from __future__ import annotations

import numpy as np

from app.audio.devices.duplex import MutedSource
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import HOP, Room
from tests.support import sounds
from tests.support.room_talks import frames


class FakeMicrophone:
    """Delivers zeros while muted, as the real one does."""

    name = "microphone"
    overruns = backlog = 0

    def __init__(self, sound: np.ndarray) -> None:
        self._frames = list(sound[: len(sound) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES))
        self.muted = False

    def read_frame(self, timeout: float) -> np.ndarray | None:
        frame = self._frames.pop(0).copy()
        return np.zeros_like(frame) if self.muted else frame

    def drop_to_newest(self) -> int:
        return 0

    def __enter__(self) -> FakeMicrophone:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class FakeTap:
    """A loudspeaker on which the app speaks all the time."""

    rate = SAMPLE_RATE
    generation = 0

    def __init__(self, sound: np.ndarray) -> None:
        self._sound = sound

    def take(self) -> np.ndarray:
        taken, self._sound = self._sound[:FRAME_SAMPLES], self._sound[FRAME_SAMPLES:]
        return taken.copy()


def test_mute_in_the_middle_of_words_is_immediate_and_complete() -> None:
    question = sounds.question("103_2")
    microphone = FakeMicrophone(np.tile(question, 4))
    clean = EchoCancelledSource(
        microphone, FakeTap(np.tile(sounds.question("141_2") * 0.5, 4)), Processing(noise=True, gain=True)
    )
    with MutedSource(clean, lambda: microphone.muted) as source:
        before = np.concatenate([source.read_frame(0.0) for _ in range(60)])
        assert np.abs(before[-10 * FRAME_SAMPLES :]).max() > 0.001
        microphone.muted = True
        for _ in range(12):
            frame = source.read_frame(0.0)
            assert frame is not None and not frame.any()
        microphone.muted = False
        back = np.concatenate([source.read_frame(0.0) for _ in range(20)])
        assert np.abs(back[FRAME_SAMPLES:]).max() > 0.001


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
