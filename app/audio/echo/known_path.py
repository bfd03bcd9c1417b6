"""Learned echo paths, which can be fitted to the echo in a later session; also computes the power of short blocks.

An echo path is the impulse response from loudspeaker to microphone. It characterises the room and the devices and
contains no speech. Between sessions, its delay changes by a few ms, because devices start at different moments, and its
gain changes with the volume. Both are estimated from the first quarter of a second of echo.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.conversation.frame import SAMPLE_RATE

HOP = SAMPLE_RATE // 50
"""Step of all echo processing: 480 samples or 20 ms, a quarter of a frame."""

FAR_ACTIVE = 10 ** (-50 / 10)
"""Power above which the far end is active: -50 dBFS. The far end ranges from digital silence to -10 dBFS."""


def powers(samples: np.ndarray, size: int) -> np.ndarray:
    """Returns the mean square of each block of `size` samples: float64 (n / size,)."""
    blocks = samples.reshape(-1, size)
    return np.einsum("ij,ij->i", blocks, blocks, dtype=np.float64) / size


MOST_SHIFT = SAMPLE_RATE // 10
"""Maximum change of the path's delay since the last session: 0.1 s."""
FITS = 0.5
"""Minimum correlation of the microphone signal with the predicted echo, which then explains 25 % of the power. The
right path reaches this value even with 0.5 s of reverberation and the user speaking over it; a wrong path reaches at
most 0.2."""
LOWEST_HZ, HIGHEST_HZ = 100.0, 4000.0
"""The speech band, in which the delay is estimated."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownEchoPath:
    """A learned echo path.

    `response`: impulse response, float32 at 24 kHz, of any length; `drift_ppm`: how much faster the loudspeaker's clock
    runs than the microphone's.
    """

    response: np.ndarray
    drift_ppm: float

    def fit(self, near: np.ndarray, far: np.ndarray) -> KnownEchoPath | None:
        """Returns this path adjusted to the delay and gain of the echo in `near`, or None if the path doesn't fit.

        `near`: the latest microphone audio; `far`: a longer stretch of far-end audio that ends at the same moment.
        Both are float32.
        """
        size = 1 << (len(far) + len(self.response) + MOST_SHIFT - 1).bit_length()
        predicted = np.fft.irfft(np.fft.rfft(far, size) * np.fft.rfft(self.response, size), size)[: len(far)]
        padded = np.zeros(len(far))
        padded[-len(near) :] = near
        cross = np.fft.rfft(padded, size) * np.fft.rfft(predicted, size).conj()
        low, high = (round(hz * size / SAMPLE_RATE) for hz in (LOWEST_HZ, HIGHEST_HZ))
        phases = np.zeros_like(cross)
        phases[low:high] = cross[low:high] / (np.abs(cross[low:high]) + 1e-12)
        correlation = np.roll(np.fft.irfft(phases, size), MOST_SHIFT)[: 2 * MOST_SHIFT + 1]
        at = int(np.argmax(correlation[1:-1])) + 1
        before, peak, after = correlation[at - 1 : at + 2]
        shift = at - MOST_SHIFT + 0.5 * (before - after) / (before - 2.0 * peak + after - 1e-12)
        shifted = _delayed(predicted, shift)[-len(near) :]
        product = float(shifted @ near)
        if product < FITS * float(np.linalg.norm(shifted) * np.linalg.norm(near)) + 1e-12:
            return None
        gain = product / float(shifted @ shifted)
        return KnownEchoPath((gain * _delayed(self.response, shift)).astype(np.float32), self.drift_ppm)


def _delayed(samples: np.ndarray, by: float) -> np.ndarray:
    """Delays `samples` by `by` samples, which may be fractional or negative. Anything shifted past an end is lost."""
    size = 1 << (len(samples) + 2 * MOST_SHIFT - 1).bit_length()
    phases = np.exp(-2j * np.pi * np.arange(size // 2 + 1) * by / size)
    return np.fft.irfft(np.fft.rfft(samples, size) * phases, size)[: len(samples)]
