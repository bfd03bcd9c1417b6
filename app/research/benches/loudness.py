"""Measures loudness by ITU-R BS.1770-5: K-weighted, gated, mono."""

from __future__ import annotations

import numpy as np

_SHELF = ((1.53512485958697, -2.69169618940638, 1.19839281085285), (1.0, -1.69065929318241, 0.73248077421585))
_HIGH_PASS = ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621))
"""The two filters of the recommendation, numerator and denominator, at 48 kHz."""
_FILTER_RATE = 48_000
_BLOCK, _STEP = 0.4, 0.1
_ABSOLUTE_GATE, _RELATIVE_GATE = -70.0, -10.0


def loudness(samples: np.ndarray, rate: int) -> float:
    """The loudness in LUFS; minus infinity for silence."""
    size = max(len(samples), round(_BLOCK * rate))
    spectrum = np.fft.rfft(samples, 2 * size)
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(2 * size, 1 / rate) / _FILTER_RATE)
    for numerator, denominator in (_SHELF, _HIGH_PASS):
        spectrum *= np.polyval(numerator[::-1], z) / np.polyval(denominator[::-1], z)
    weighted = np.fft.irfft(spectrum)[:size]
    block, step = round(_BLOCK * rate), round(_STEP * rate)
    powers = np.array([np.mean(np.square(weighted[at : at + block])) for at in range(0, size - block + 1, step)])
    kept = powers[_level(powers) > _ABSOLUTE_GATE]
    if not len(kept):
        return float("-inf")
    kept = kept[_level(kept) > _level(np.mean(kept)) + _RELATIVE_GATE]
    return float(_level(np.mean(kept)))


def _level(power: np.ndarray | float) -> np.ndarray:
    return -0.691 + 10 * np.log10(np.maximum(power, 1e-20))
