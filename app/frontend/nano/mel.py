"""The numbers of the user's mel features: window, filters, and the level that they are relative to."""

from __future__ import annotations

import math

import numpy as np

from app.conversation.frame import SAMPLE_RATE

BANDS = 64
HOP = 240
"""Samples between mel frames: 10 ms."""
WINDOW = 480
"""Samples in a mel frame's window, which ends with the frame: it looks 10 ms back and never ahead."""
FFT = 512
LOWEST, HIGHEST = 60.0, 7600.0
"""Hz."""
QUIETEST = 1e-7
"""Power of a band below which nothing is told apart, about -70 dBFS."""
START_LEVEL = math.log(10 ** (-26 / 10))
"""Speech level that a stream starts with: -26 dBFS, as the natural logarithm of the power."""
LOWEST_LEVEL = math.log(10 ** (-45 / 10))
LEVEL_DECAY = 0.005
"""By how much the level falls in a frame: 0.27 dB a second."""


def hann_window() -> np.ndarray:
    """The window of a mel frame."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


def mel_filters() -> np.ndarray:
    """Triangles that are evenly spaced in mel (O'Shaughnessy's formula), `[257, 64]`."""

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    points = np.linspace(mel(LOWEST), mel(HIGHEST), BANDS + 2)
    edges = 700 * (10 ** (points / 2595) - 1)
    frequencies = np.linspace(0, SAMPLE_RATE / 2, FFT // 2 + 1)[:, None]
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    triangles = np.clip(np.minimum(rising, falling), 0, None)
    return (triangles / np.maximum(triangles.sum(0), 1e-9)).astype(np.float32)
