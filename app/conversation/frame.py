"""The frame: 80 ms of sound, the unit in which a session processes sound and counts time."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass

import numpy as np

SAMPLE_RATE = 24_000
"""Samples a second, mono: Mimi's rate (Moshi, arXiv 2410.00037), used for every front-end."""

FRAME_SAMPLES = 1_920
"""Samples in a frame: 24,000 Hz divided by Mimi's 12.5 frames a second."""

FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
"""Length of a frame in seconds: 0.08."""

FRAME_MS = FRAME_SAMPLES * 1000 // SAMPLE_RATE
"""Length of a frame in milliseconds: 80."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame of the user's sound.

    `index` counts from 0 at the session's start; `samples` is float32 of shape (1920,) in [-1, 1].
    """

    index: int
    samples: np.ndarray

    @property
    def at(self) -> float:
        """Session time in seconds at the end of this frame."""
        return end_of_frame(self.index)


def end_of_frame(index: int) -> float:
    """Session time in seconds at the end of frame `index`, without accumulated rounding errors."""
    return round((index + 1) * FRAME_SECONDS, 6)


def frames(samples: np.ndarray) -> Iterator[Frame]:
    """Yields the whole frames of `samples`; a remainder at the end is dropped."""
    for index in range(len(samples) // FRAME_SAMPLES):
        yield Frame(index, samples[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES])


def as_frames(milliseconds: float) -> int:
    """The nearest whole number of frames, at least 0."""
    return max(0, round(milliseconds / FRAME_MS))


def silence_flushed(frames: MutableSequence[np.ndarray], flushed: int) -> None:
    """Zeros the last `flushed` samples of `frames`, which the loudspeaker discarded before they were played."""
    for place in range(len(frames) - 1, -1, -1):
        if flushed <= 0:
            break
        cut = min(flushed, FRAME_SAMPLES)
        frame = frames[place].copy()
        frame[FRAME_SAMPLES - cut :] = 0
        frames[place] = frame
        flushed -= cut


def silence() -> np.ndarray:
    """A frame of silence: float32 zeros of shape (1920,)."""
    return np.zeros(FRAME_SAMPLES, np.float32)
