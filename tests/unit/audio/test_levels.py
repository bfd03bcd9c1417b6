"""Levels in dBFS."""

from __future__ import annotations

import numpy as np
import pytest

from app.audio.io.levels import FLOOR_DBFS, peak_dbfs, rms_dbfs


def test_full_scale() -> None:
    square = np.array([1.0, -1.0] * 100, np.float32)
    assert peak_dbfs(square) == 0.0
    assert rms_dbfs(square) == 0.0


def test_a_negative_peak_counts() -> None:
    assert peak_dbfs(np.array([0.1, -0.5], np.float32)) == pytest.approx(-6.02, abs=0.01)


def test_a_sine_is_three_decibels_below_its_peak() -> None:
    sine = np.sin(np.arange(2_400) * 2 * np.pi / 24).astype(np.float32) * 0.1
    assert rms_dbfs(sine) == pytest.approx(-23.01, abs=0.01)


@pytest.mark.parametrize("level", [peak_dbfs, rms_dbfs])
def test_silence_and_nothing_measure_the_floor(level) -> None:
    assert level(np.zeros(10, np.float32)) == FLOOR_DBFS
    assert level(np.zeros(0, np.float32)) == FLOOR_DBFS
