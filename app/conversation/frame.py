"""80 ms of audio, the unit of a session's time, and how late the frame loop's steps end."""

from __future__ import annotations

import bisect
import itertools
import logging
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

_log = logging.getLogger(__name__)

SAMPLE_RATE = 24_000
"""Samples a second, mono: Mimi's rate (Moshi, arXiv 2410.00037), used for every front-end."""

FRAME_SAMPLES = 1_920
"""Samples in a frame: 24,000 Hz divided by Mimi's 12.5 frames a second."""

FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
"""Length of a frame in seconds: 0.08."""

FRAME_MS = FRAME_SAMPLES * 1000 // SAMPLE_RATE
"""Length of a frame in milliseconds: 80."""


Loss = Literal["", "device", "late"]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame of the user's audio.

    - `index`: counts from 0 at the start of the session, without gaps.
    - `samples`: float32 of shape (1920,) in [-1, 1].
    - `lost`: why its audio is missing, so that `samples` is silence; empty if it isn't. "device": the microphone or its
      driver lost it; "late": the app had fallen behind and skipped it. The front-end isn't stepped for lost frames.
    """

    index: int
    samples: np.ndarray
    lost: Loss = ""

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


class Position:
    """How far a consumer of frames has come, in samples of the session's audio.

    Frames follow each other without gaps, so a consumer may count samples. `missing` checks this at each frame; if
    frames are missing, the consumer gets back in step by taking silence in their place.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._samples = -1  # none yet

    def missing(self, frame: Frame) -> int:
        """Returns how many samples are missing before `frame`, which may be a part of a frame. The first frame that a
        consumer gets may have any index."""
        start = frame.index * FRAME_SAMPLES
        if self._samples < 0:
            self._samples = start
        missing = max(0, start - self._samples)
        self._samples += missing + len(frame.samples)
        if missing or self._samples > start + FRAME_SAMPLES:
            off = self._samples - start - len(frame.samples)
            _log.error("%s: frame %d is off by %d samples", self._name, frame.index, missing or off)
            self._samples = min(self._samples, start + FRAME_SAMPLES)
        return missing


_LATE_EDGES_MS = (*(n * 0.5 for n in range(1, 2 * FRAME_MS)), *(float(n) for n in range(FRAME_MS, 1001, 5)))
"""Upper edges of the histogram, finer where steps are in time."""


@dataclass(slots=True)
class FrameBudget:
    """Histogram of how late each 80 ms step ended after its frame; a step that ended within a frame was in time for the
    next. `dropped`: frames that were skipped to catch up; `gaps`: how often the loudspeaker ran dry.
    """

    steps: int = 0
    late: int = 0
    worst_ms: float = 0.0
    dropped: int = 0
    gaps: int = 0
    _counts: list[int] = field(default_factory=lambda: [0] * (len(_LATE_EDGES_MS) + 1))

    def note(self, late_ms: float) -> None:
        """Records that a step ended this late."""
        self.steps += 1
        self.late += late_ms > FRAME_MS
        self.worst_ms = max(self.worst_ms, late_ms)
        self._counts[bisect.bisect_left(_LATE_EDGES_MS, late_ms)] += 1

    def quantile_ms(self, share: float) -> float | None:
        """The quantile of the lateness, to the histogram's half a millisecond; None without steps."""
        if not self.steps:
            return None
        place = bisect.bisect_left(list(itertools.accumulate(self._counts)), share * self.steps)
        return min(self.worst_ms, _LATE_EDGES_MS[place]) if place < len(_LATE_EDGES_MS) else self.worst_ms
