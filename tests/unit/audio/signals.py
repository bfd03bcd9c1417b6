"""Sounds and measures for the tests of echo cancellation."""

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from tests.support.sounds import question


def app_speech(seconds: float) -> np.ndarray:
    """What the app says: some sentences, repeated."""
    names = ("101_1", "154_1", "149_1", "144_1")
    parts = [0.7 / np.abs(question(name)).max() * question(name) for name in names]
    return np.concatenate(parts * 3)[: round(seconds * SAMPLE_RATE)].astype(np.float32)


def power(samples: np.ndarray) -> float:
    return float(np.mean(samples.astype(np.float64) ** 2))


def ratio_db(one: np.ndarray, other: np.ndarray) -> float:
    return 10 * float(np.log10(power(one) / power(other)))


def between(start: float, end: float) -> slice:
    """The samples between two times in seconds."""
    return slice(round(start * SAMPLE_RATE), round(end * SAMPLE_RATE))
