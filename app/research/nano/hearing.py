"""The user's sound as codes, in numpy: log mel features that look at nothing later, in residual codebooks.

It gives the codes that `app.frontend.kame.codec` gives with torch, in which models are trained.
"""

from __future__ import annotations

import math

import numpy as np

from app.frontend.kame.codec.layout import (
    FFT,
    LEVEL_DECAY,
    LOWEST_LEVEL,
    MEL_HOP,
    QUIETEST,
    START_LEVEL,
    WINDOW,
    hann_window,
    mel_filters,
)
from app.research.nano.layers import Weights


class Quantiser:
    """Principal components and residual codebooks. `prefix`: of the weights' names."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._mean, self._basis = weights[f"{prefix}mean"], weights[f"{prefix}basis"]
        self._books = weights[f"{prefix}books"]
        self._squares = np.square(self._books).sum(2)

    @property
    def count(self) -> int:
        """How many codebooks there are."""
        return len(self._books)

    def encode(self, vector: np.ndarray) -> tuple[int, ...]:
        """The codes of a vector."""
        rest = (vector - self._mean) @ self._basis
        codes = []
        for book, squares in zip(self._books, self._squares, strict=True):
            code = int(np.argmin(squares - 2 * (book @ rest)))
            codes.append(code)
            rest = rest - book[code]
        return tuple(codes)

    def decode(self, codes: tuple[int, ...]) -> np.ndarray:
        """The vector that the codes stand for."""
        total = self._books[np.arange(len(codes)), list(codes)].sum(0)
        return self._basis @ total + self._mean


class Hearing:
    """One stream of the user's sound."""

    def __init__(self, weights: Weights) -> None:
        self._quantiser = Quantiser(weights, "heard.")
        self._window, self._filters = hann_window(), mel_filters()
        self.restart()

    def restart(self) -> None:
        """Starts a fresh stream."""
        self._tail = np.zeros(WINDOW - MEL_HOP, np.float32)
        self._level = START_LEVEL

    def encode(self, samples: np.ndarray) -> tuple[int, ...]:
        """The codes of a frame, float32 `[1920]`."""
        joined = np.concatenate([self._tail, samples])
        self._tail = joined[len(joined) - (WINDOW - MEL_HOP) :]
        frames = np.lib.stride_tricks.sliding_window_view(joined, WINDOW)[::MEL_HOP] * self._window
        power = np.square(np.abs(np.fft.rfft(frames, FFT))) / (WINDOW * WINDOW / 16)
        mel = np.log(np.maximum(power @ self._filters, QUIETEST))
        energy = math.log(float(np.mean(np.square(samples, dtype=np.float64))) + QUIETEST)
        self._level = max(energy, self._level - LEVEL_DECAY, LOWEST_LEVEL)
        return self._quantiser.encode((mel.reshape(-1) - self._level).astype(np.float32))
