"""The hops of an incomplete frame that were processed before the frame was complete."""

from __future__ import annotations

import numpy as np


class EarlyHops:
    """Four float32 (samples,): the microphone's sound, the far end, the linear filter's residual, and the output."""

    def __init__(self) -> None:
        self.near: np.ndarray = np.zeros(0, np.float32)
        self.far = self.residual = self.out = self.near

    @property
    def samples(self) -> int:
        return len(self.near)

    def append(self, near: np.ndarray, far: np.ndarray, residual: np.ndarray, out: np.ndarray) -> None:
        """Adds the next hop of each."""
        self.near, self.far = joined(self.near, near), joined(self.far, far)
        self.residual, self.out = joined(self.residual, residual), joined(self.out, out)


def joined(early: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Concatenates the early hops and the rest of a frame; `rest` itself if there are none."""
    return np.concatenate([early, rest]) if len(early) else rest
