"""Finds the quiet places of a sound, where it may be cut without cutting a word."""

from __future__ import annotations

import numpy as np

STEP = 320
"""20 ms at 16 kHz: one measure of loudness."""
SILENCE_STEPS = 15
"""A silence before which another sentence was over: 0.3 s. Between the words of one there is seldom more."""
SOFT_DB = 12.0
"""Sound this much above the quietest is somebody's voice; a breath is less."""


def loudness(samples: np.ndarray) -> np.ndarray:
    """Of each whole 20 ms of `samples`, in dB."""
    steps = samples[: len(samples) // STEP * STEP].reshape(-1, STEP)
    return 10 * np.log10(np.square(steps).mean(axis=1) + 1e-10)


def voiced_seconds(samples: np.ndarray) -> float:
    """How much of `samples` stands out from its quietest tenth, in seconds."""
    db = loudness(samples)
    return float((db > np.quantile(db, 0.1) + SOFT_DB).sum()) * STEP / 16_000 if len(db) else 0.0


def quietest(samples: np.ndarray) -> int:
    """The middle of the quietest tenth of a second."""
    db = loudness(samples)
    if len(db) < 5:
        return len(samples) // 2
    power = np.convolve(10 ** (db / 10), np.ones(5), "valid")
    return int(np.argmin(power)) * STEP + 5 * STEP // 2


def quiet_before(samples: np.ndarray, at: int) -> int:
    """A sample in the last silence at or before sample `at`; the first one where there is none."""
    db = loudness(samples)
    silent = db <= np.quantile(db, 0.1) + SOFT_DB if len(db) else db > 0
    run = 0
    for step in range(min(at // STEP, len(db)) - 1, -1, -1):
        run = run + 1 if silent[step] else 0
        if run == SILENCE_STEPS:
            return (step + SILENCE_STEPS // 2) * STEP
    return 0
