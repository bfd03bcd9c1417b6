"""Signal levels in decibels relative to full scale (dBFS)."""

from __future__ import annotations

import numpy as np

FLOOR_DBFS = -120.0
"""The level reported for silence: a number that a meter can draw, below the 16-bit noise floor (-98 dBFS)."""

CLIPPED = 0.999
"""A sample this large was clipped: 32,735 of 32,767 in 16 bits."""


def peak_dbfs(samples: np.ndarray) -> float:
    """Level of the largest sample: 0.0 at full scale (1.0), `FLOOR_DBFS` for silence or no samples."""
    return _dbfs(float(np.abs(samples).max(initial=0.0)))


def rms_dbfs(samples: np.ndarray) -> float:
    """Root-mean-square level: 0.0 for a full-scale square wave, -3.01 for a full-scale sine."""
    if samples.size == 0:
        return FLOOR_DBFS
    return _dbfs(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))))


def _dbfs(amplitude: float) -> float:
    floor = 10.0 ** (FLOOR_DBFS / 20.0)
    return float(20.0 * np.log10(amplitude)) if amplitude > floor else FLOOR_DBFS
