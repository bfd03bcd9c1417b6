"""Streaming conversion from any rate and channel count to 24 kHz mono and back to a device's rate; also signal levels.

The result doesn't depend on the block sizes. Levels are in decibels relative to full scale (dBFS).
"""

from __future__ import annotations

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE

FLOOR_DBFS = -120.0
"""The level reported for silence: finite, so that a meter can show it, and below the 16-bit noise floor (-98 dBFS)."""

CLIPPED = 0.999
"""Amplitude at which a sample counts as clipped: 32,735 of 32,767 in 16 bits."""


def peak_dbfs(samples: np.ndarray) -> float:
    """Returns the peak level: 0.0 at full scale (1.0), `FLOOR_DBFS` for silence or no samples."""
    return _dbfs(float(np.abs(samples).max(initial=0.0)))


def rms_dbfs(samples: np.ndarray) -> float:
    """Returns the RMS level: 0.0 for a full-scale square wave, -3.01 for a full-scale sine."""
    if samples.size == 0:
        return FLOOR_DBFS
    return _dbfs(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))))


def _dbfs(amplitude: float) -> float:
    floor = 10.0 ** (FLOOR_DBFS / 20.0)
    return float(20.0 * np.log10(amplitude)) if amplitude > floor else FLOOR_DBFS


QUALITY = "HQ"
"""soxr's 20-bit quality setting. Its error (below -120 dB) is below 16-bit noise, and it buffers up to 40 ms."""


def to_mono(block: np.ndarray) -> np.ndarray:
    """Averages the channels of a float32 block of shape (n, channels). Returns a new float32 (n,) array."""
    # Adds one channel at a time, since NumPy's mean over a short axis is slower and may sum in a different order.
    mono = block[:, 0].copy()
    for channel in range(1, block.shape[1]):
        mono += block[:, channel]
    if block.shape[1] > 1:
        mono *= np.float32(1.0 / block.shape[1])
    return mono


class Resampler:
    """Converts mono float32 audio from `source_rate` to `target_rate` (Hz), block by block."""

    def __init__(self, source_rate: int, target_rate: int) -> None:
        self._stream = None
        if source_rate != target_rate:
            self._stream = soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality=QUALITY)

    def push(self, mono: np.ndarray) -> np.ndarray:
        """Adds samples and returns the output available now, shape (m,). soxr buffers the last few milliseconds."""
        return mono if self._stream is None else self._stream.resample_chunk(mono)

    def finish(self) -> np.ndarray:
        """Returns the buffered samples as if silence followed, and resets the resampler."""
        if self._stream is None:
            return np.zeros(0, np.float32)
        rest = self._stream.resample_chunk(np.zeros(0, np.float32), last=True)
        self._stream.clear()
        return rest

    def clear(self) -> None:
        """Discards the buffered samples."""
        if self._stream is not None:
            self._stream.clear()


def output_length(samples: int, rate: int) -> int:
    """Returns how many 24 kHz samples correspond to `samples` samples at `rate` Hz, rounding half up."""
    return (2 * samples * SAMPLE_RATE + rate) // (2 * rate)
