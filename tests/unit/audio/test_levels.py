"""Levels in dBFS."""

from __future__ import annotations

import numpy as np
import pytest

from app.audio.io.resample import FLOOR_DBFS, peak_dbfs, rms_dbfs

SQUARE = np.array([1.0, -1.0] * 100, np.float32)
SINE = np.sin(np.arange(2_400) * 2 * np.pi / 24).astype(np.float32) * 0.1


@pytest.mark.parametrize(
    ("samples", "peak", "rms"),
    [
        (SQUARE, 0.0, 0.0),
        (np.array([0.1, -0.5], np.float32), -6.02, -8.86),
        (SINE, -20.0, -23.01),
        (np.zeros(10, np.float32), FLOOR_DBFS, FLOOR_DBFS),
        (np.zeros(0, np.float32), FLOOR_DBFS, FLOOR_DBFS),
    ],
)
def test_levels(samples: np.ndarray, peak: float, rms: float) -> None:
    assert peak_dbfs(samples) == pytest.approx(peak, abs=0.01)
    assert rms_dbfs(samples) == pytest.approx(rms, abs=0.01)
