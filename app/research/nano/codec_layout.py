"""Constants and filters of the voice codec, without torch: the user's mel features and the voice's latents."""

from __future__ import annotations

import math

import numpy as np

from app.conversation.frame import SAMPLE_RATE

BANDS = 64
MEL_HOP = 240
"""Samples between mel frames: 10 ms."""
WINDOW = 480
"""Samples in a mel frame's window, which ends with the frame, so it covers the previous 10 ms but no future samples."""
FFT = 512
LOWEST, HIGHEST = 60.0, 7600.0
"""Frequency range of the mel filters in Hz."""
QUIETEST = 1e-7
"""Power floor of a band, about -70 dBFS."""
START_LEVEL = math.log(10 ** (-26 / 10))
"""Initial speech level of a stream: -26 dBFS, as the natural logarithm of the power."""
LOWEST_LEVEL = math.log(10 ** (-45 / 10))
LEVEL_DECAY = 0.005
"""Decay of the level per frame: 0.27 dB per second."""

CODEC_VOICE = "piper-joe"
"""The voice whose decoder is used by the voice codec."""
LATENT, LATENT_HOP = 192, 256
"""The number of values in a latent, and of samples per latent."""
LATENTS = 7
"""Latents in a frame: 1,792 samples, which last 80 ms when played at 22,400 Hz (the voice's rate is 22,050)."""
REACH = 10
"""The number of latents on either side that audibly affect a sample."""
SILENT = 0
"""The entry of the first codebook reserved for silence; speech never uses it."""
UP, DOWN, TAPS = 15, 14, 24
"""Resampling from 22,400 Hz to 24,000 Hz with a windowed sinc of 24 taps on either side."""
FADE = 240
"""Samples (10 ms) over which speech fades out."""


def hann_window() -> np.ndarray:
    """Returns the window of a mel frame, `[480]`."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


def mel_filters() -> np.ndarray:
    """Returns triangular filters evenly spaced in mel (O'Shaughnessy's formula), `[257, 64]`."""

    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    points = np.linspace(mel(LOWEST), mel(HIGHEST), BANDS + 2)
    edges = 700 * (10 ** (points / 2595) - 1)
    frequencies = np.linspace(0, SAMPLE_RATE / 2, FFT // 2 + 1)[:, None]
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    triangles = np.clip(np.minimum(rising, falling), 0, None)
    return (triangles / np.maximum(triangles.sum(0), 1e-9)).astype(np.float32)


def resampler() -> np.ndarray:
    """Returns filters that produce 15 samples from every 14, `[15, 14 + 2 taps]`."""
    places = np.arange(DOWN + 2 * TAPS) - TAPS
    distance = places - np.arange(UP)[:, None] * DOWN / UP
    window = np.where(np.abs(distance) < TAPS, np.cos(math.pi * distance / (2 * TAPS)) ** 2, 0.0)
    return (np.sinc(distance) * window).astype(np.float32)
