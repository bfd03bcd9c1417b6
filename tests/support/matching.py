"""Compares a recording with what was played, sample by sample."""

import numpy as np


def best_match(heard: np.ndarray, signal: np.ndarray) -> tuple[float, float]:
    """The correlation and the largest difference of `signal` and the part of `heard` most similar to it."""
    size = 1 << (heard.size + signal.size).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(signal, size))
    at = int(np.fft.irfft(spectrum, size)[: heard.size - signal.size + 1].argmax())
    part = heard[at : at + signal.size]
    return float(np.corrcoef(part, signal)[0, 1]), float(np.abs(part - signal).max())
