"""How loud a voice is made, without a sample beyond full scale."""

from __future__ import annotations

import numpy as np

KNEE = 0.8
"""Samples up to here stay as they are; louder ones are bent towards 1, which none reaches."""


def amplified(samples: np.ndarray, gain: float, volume: float = 1.0) -> np.ndarray:
    """Return float32 samples made louder by `gain` decibels and by the factor `volume`, with soft limiting."""
    factor = 10 ** (gain / 20) * volume
    out = (samples * factor).astype(np.float32)
    loud = np.abs(out) > KNEE
    over = (np.abs(out[loud]) - KNEE) / (1 - KNEE)
    out[loud] = np.sign(out[loud]) * (KNEE + (1 - KNEE) * np.tanh(over))
    return out
