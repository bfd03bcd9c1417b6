"""Measures the loudness of sound at 16 kHz: finds quiet places to cut it, and levels it for the recogniser.

Whisper's features keep the absolute level: a caller who is 16 dB softer has 2 more words in 100 recognised wrong.
"""

from __future__ import annotations

import numpy as np

BLOCK = 320
"""20 ms at 16 kHz: one measure of loudness."""
SILENCE_BLOCKS = 15
"""A silence before which another sentence was over: 0.3 s. Between the words of one there is seldom more."""
SOFT_DB = 12.0
"""Sound this much above the quietest is somebody's voice; a breath is less."""

LOUD_QUANTILE = 0.95
"""The loud parts: the twentieth of the blocks with the most energy. A click is shorter, and doesn't count."""
TARGET = 0.12
"""RMS that the loud parts get (-18 dBFS). On 101 recordings of 52 callers words wrong by target: 0.05 21.3 %, 0.1
20.2 %, 0.15 19.9 %, 0.2 21.3 %, 0.3 22.2 %; as recorded 21.1 %."""
MOST_GAIN = 40.0
"""32 dB: a speaker whose loud parts are at -50 dBFS is still brought to the target."""
LEAST_CONTRAST = 2.0
"""The loud parts must be 6 dB above the quiet ones: even noise is a room's, and stays as soft as it is."""
QUIET_QUANTILE = 0.1


def loudness(samples: np.ndarray) -> np.ndarray:
    """The loudness of each whole block of `samples`, in dB."""
    return 10 * np.log10(np.square(_blocks(samples)).mean(axis=1) + 1e-10)


def voiced_seconds(samples: np.ndarray) -> float:
    """How much of `samples` stands out from its quietest tenth, in seconds."""
    db = loudness(samples)
    return float((db > np.quantile(db, 0.1) + SOFT_DB).sum()) * BLOCK / 16_000 if len(db) else 0.0


def quietest(samples: np.ndarray) -> int:
    """The middle of the quietest tenth of a second."""
    db = loudness(samples)
    if len(db) < 5:
        return len(samples) // 2
    power = np.convolve(10 ** (db / 10), np.ones(5), "valid")
    return int(np.argmin(power)) * BLOCK + 5 * BLOCK // 2


def quiet_before(samples: np.ndarray, at: int) -> int:
    """A sample in the last silence at or before sample `at`; the first one where there is none."""
    db = loudness(samples)
    silent = db <= np.quantile(db, 0.1) + SOFT_DB if len(db) else db > 0
    run = 0
    for block in range(min(at // BLOCK, len(db)) - 1, -1, -1):
        run = run + 1 if silent[block] else 0
        if run == SILENCE_BLOCKS:
            return (block + SILENCE_BLOCKS // 2) * BLOCK
    return 0


def levelled(samples: np.ndarray) -> np.ndarray:
    """`samples` (float32) with their loud parts at `TARGET`; unchanged where nobody stands out from the room.

    Peaks that would be beyond full scale are clipped, as a telephone does it.
    """
    if len(samples) < 4 * BLOCK:
        return samples
    rms = np.sqrt(np.square(_blocks(samples)).mean(axis=1))
    loud, quiet = np.quantile(rms, (LOUD_QUANTILE, QUIET_QUANTILE))
    if loud < LEAST_CONTRAST * quiet or loud <= 0.0:
        return samples
    gain = np.float32(min(MOST_GAIN, TARGET / loud))
    return np.clip(samples * gain, -1.0, 1.0)


def _blocks(samples: np.ndarray) -> np.ndarray:
    return samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
