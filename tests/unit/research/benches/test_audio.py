"""The chirp of `bench audio` is found to the sample, and nothing else is mistaken for it."""

from __future__ import annotations

import numpy as np
import pytest

from app.conversation.frame import FRAME_SAMPLES
from app.research.benches.audio import AudioResult, ChirpDetector, make_chirp
from tests.support import sounds

pytestmark = pytest.mark.slow


def hearings(sound: np.ndarray) -> list[int]:
    """The samples at which the detector finds the end of a chirp."""
    detector = ChirpDetector(make_chirp())
    frames = np.pad(sound, (0, -len(sound) % FRAME_SAMPLES)).astype(np.float32).reshape(-1, FRAME_SAMPLES)
    heard = [(number, detector.find(frame)) for number, frame in enumerate(frames)]
    return [number * FRAME_SAMPLES + at for number, at in heard if at is not None]


@pytest.mark.parametrize("begin", [0, 500, FRAME_SAMPLES - 100, FRAME_SAMPLES - 1, 3 * FRAME_SAMPLES])
@pytest.mark.parametrize("gain", [1.0, 0.02])
def test_a_chirp_is_found_to_the_sample_wherever_frames_cut_it(begin: int, gain: float) -> None:
    chirp = make_chirp()
    sound = sounds.room(1.0, dbfs=-70.0)
    sound[begin : begin + len(chirp)] += gain * chirp
    [ended] = hearings(sound)
    assert abs(ended - (begin + len(chirp))) <= 1


@pytest.mark.parametrize("loudness", [-10.0, -40.0])
def test_noise_and_speech_are_no_chirp(loudness: float) -> None:
    assert hearings(sounds.room(10.0, dbfs=loudness)) == []
    assert hearings(sounds.question()) == []


def test_what_the_app_adds_is_the_trip_without_devices_and_one_frame() -> None:
    result = AudioResult("mic", "box", device=[27.0, 26.0, 28.0], trips=[140.0, 141.0, 139.0], ring=[20.0], step=[0.2])
    assert result.beyond == pytest.approx(33.0) and result.ok
    assert "the app beyond one frame" in result.table() and result.document()["within_goal"]
    result.trips = [150.0]
    assert not result.ok
