"""The power of short blocks, by which the parts of echo cancellation decide."""

from __future__ import annotations

import numpy as np

from app.conversation.frame import SAMPLE_RATE

HOP = SAMPLE_RATE // 50
"""480 samples, 20 ms: the step of all echo processing. Four hops are a frame."""

FAR_ACTIVE = 10 ** (-50 / 10)
"""Power of the far end (its range is digital silence to -10 dBFS) above which the loudspeaker sounds: -50 dBFS."""


def powers(samples: np.ndarray, size: int) -> np.ndarray:
    """Mean square of each `size` samples: float64 of shape (n / size,)."""
    blocks = samples.reshape(-1, size)
    return np.einsum("ij,ij->i", blocks, blocks, dtype=np.float64) / size
