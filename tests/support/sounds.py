"""Sounds, sound files and a microphone for tests."""

from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.platform.installation import resource
from tests.support.scripted import Opened


def question(name: str = "141_2") -> np.ndarray:
    """A spoken question of the bench: float32 mono 24 kHz."""
    samples, rate = soundfile.read(resource("bench", "questions", f"{name}.flac"), dtype="float32")
    assert rate == SAMPLE_RATE
    return samples


def write(
    path: Path, samples: np.ndarray, *, rate: int = SAMPLE_RATE, channels: int = 1, subtype: str = "PCM_16"
) -> Path:
    """Writes 24 kHz mono `samples` at another rate and channel count."""
    if rate != SAMPLE_RATE:
        samples = soxr.resample(samples, SAMPLE_RATE, rate)
    data = np.repeat(samples[:, None], channels, axis=1)
    soundfile.write(path, data, rate, subtype=subtype)
    return path


def room(seconds: float, *, dbfs: float = -65.0) -> np.ndarray:
    """A quiet room: noise of the given level, the same each time."""
    noise = np.random.default_rng(7).standard_normal(round(seconds * SAMPLE_RATE)).astype(np.float32)
    return (noise * 10 ** (dbfs / 20)).astype(np.float32)


class SoundSource(Opened):
    """A microphone with the sound `samples`."""

    name = "sound"
    overruns = backlog = 0

    def __init__(self, samples: np.ndarray) -> None:
        self._frames = list(samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES))

    def read_frame(self, timeout: float) -> np.ndarray | None:
        if not self._frames:
            raise EndOfAudio
        return self._frames.pop(0)

    def drop_to_newest(self) -> int:
        return 0
