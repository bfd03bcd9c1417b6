"""Simulates the echo path from a loudspeaker to a microphone in a room.

The path is a direct sound and an exponentially decaying Gaussian tail (J.-D. Polack, "La transmission de l'energie
sonore dans les salles", 1988), with three early reflections 3 dB to 9 dB below the direct sound, 4 to 18 ms after it (a
table's top, a screen, a wall at the height of a desk). Direct and reverberant energy are equal: a microphone at the
critical distance, 0.057 sqrt(V / RT60) = 0.66 m in 40 cubic metres at RT60 = 0.3 s (H. Kuttruff, "Room Acoustics", ch.
5).
"""

from __future__ import annotations

import numpy as np

from app.conversation.frame import SAMPLE_RATE

TAPS = 32
_PHASES = 512


def echo_path(rt60: float, attenuation_db: float, seed: int) -> np.ndarray:
    """Makes an impulse response from loudspeaker to microphone, without its delay: float64 of shape (rt60 * 24000,).

    `rt60`: seconds until the tail has fallen by 60 dB. `attenuation_db`: gain of the whole response for white noise, so
    -6 makes the echo 6 dB quieter than what is played.
    """
    rng = np.random.default_rng(seed)
    length = max(480, round(rt60 * SAMPLE_RATE))
    decay = 10.0 ** (-3.0 * np.arange(length) / (rt60 * SAMPLE_RATE))
    path = rng.standard_normal(length) * decay
    path[:48] = 0.0  # the tail begins 2 ms after the direct sound
    path /= np.sqrt(np.sum(path**2))
    path[0] = 1.0
    for milliseconds, level in ((rng.uniform(4, 6), -3.0), (rng.uniform(7, 11), -6.0), (rng.uniform(12, 18), -9.0)):
        path[round(milliseconds * SAMPLE_RATE / 1000)] += rng.choice((-1.0, 1.0)) * 10 ** (level / 20)
    return path * (10 ** (attenuation_db / 20) / np.sqrt(np.sum(path**2)))


class Convolver:
    """Filters a stream by an impulse response with overlap-add, in blocks of any length up to `most`."""

    def __init__(self, path: np.ndarray, most: int) -> None:
        self._most = most
        self._size = len(path) + most
        self._spectrum = np.fft.rfft(path, self._size)
        self._tail: np.ndarray = np.zeros(self._size)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Filters `samples` (n,): float64 of shape (n,)."""
        count = len(samples)
        assert count <= self._most
        if count and samples.any():
            self._tail += np.fft.irfft(np.fft.rfft(samples, self._size) * self._spectrum, self._size)
        out = self._tail[:count].copy()
        self._tail[: -count or None] = self._tail[count:]
        if count:
            self._tail[-count:] = 0.0
        return out


def _kernels() -> np.ndarray:
    """Kaiser-windowed sincs for every 512th of a sample: float64 of shape (513, 32). Beta 8 attenuates by 80 dB."""
    at = np.arange(TAPS)[None, :] - (TAPS // 2 - 1) - np.arange(_PHASES + 1)[:, None] / _PHASES
    window = np.i0(8.0 * np.sqrt(np.maximum(0.0, 1.0 - (at / (TAPS / 2)) ** 2))) / np.i0(8.0)
    return np.sinc(at) * window


_KERNELS = _kernels()


def read_at(samples: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Interpolates `samples` (n,) at fractional `positions` (m,), each at least 16 from both ends."""
    whole = np.floor(positions).astype(np.int64)
    phase = (positions - whole) * _PHASES
    low = phase.astype(np.int64)
    share = (phase - low)[:, None]
    kernel = _KERNELS[low] * (1.0 - share) + _KERNELS[low + 1] * share
    around = np.lib.stride_tricks.sliding_window_view(samples, TAPS)[whole - (TAPS // 2 - 1)]
    return np.einsum("ij,ij->i", around, kernel)
