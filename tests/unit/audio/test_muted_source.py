"""Muting at the end of the processing, in a simulated room."""

from __future__ import annotations

import numpy as np

from app.audio.devices.duplex import MutedSource
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES
from app.research.benches.room import HOP, Room
from tests.support.room_talks import frames
from tests.support.sounds import question
from tests.unit.audio.signals import app_speech


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
