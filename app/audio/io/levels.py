"""How loud samples are, in decibels below full scale. Knows nothing of where they come from."""

from __future__ import annotations

import numpy as np

FLOOR_DBFS = -120.0
"""What silence measures here: a number that a meter can draw, below the 16-bit noise floor (-98 dBFS)."""

CLIPPED = 0.999
"""A sample this large has met the end of its scale: 32,735 of 32,767 in 16 bits, which nothing but cutting gives."""


def peak_dbfs(samples: np.ndarray) -> float:
    """Level of the largest sample: 0.0 at full scale (1.0), `FLOOR_DBFS` for silence or no samples."""
    if samples.size == 0:
        return FLOOR_DBFS
    return _dbfs(float(max(samples.max(), -samples.min())))


def rms_dbfs(samples: np.ndarray) -> float:
    """Root-mean-square level: 0.0 for a full-scale square wave, -3.01 for a full-scale sine."""
    if samples.size == 0:
        return FLOOR_DBFS
    wide = samples.astype(np.float64, copy=False)
    return _dbfs(float(np.sqrt(np.mean(np.square(wide)))))


def _dbfs(amplitude: float) -> float:
    floor = 10.0 ** (FLOOR_DBFS / 20.0)
    return float(20.0 * np.log10(amplitude)) if amplitude > floor else FLOOR_DBFS
