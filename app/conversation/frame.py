"""A frame of audio, the unit of a session's time, and how late the frame loop's steps end.

How long a frame is depends on the front-end. Sessions, and everything that gets frames from one, use `Frame.length`.
The constants are the length in Mimi-based front-ends, and the default.
"""

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
"""Samples in a frame of Mimi: 24,000 Hz divided by 12.5 frames a second."""

FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE
"""Length of a frame of Mimi in seconds: 0.08."""

FRAME_MS = FRAME_SAMPLES * 1000 // SAMPLE_RATE
"""Length of a frame of Mimi in milliseconds: 80."""


Loss = Literal["", "device", "late"]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame of the user's audio.

    - `index`: counts from 0 at the start of the session, without gaps.
    - `samples`: float32 of shape (`length`,) in [-1, 1], or a part of that.
    - `lost`: why its audio is missing, so that `samples` is silence; empty if it isn't. "device": the microphone or its
      driver lost it; "late": the app had fallen behind and skipped it. The front-end isn't stepped for lost frames.
    - `length`: samples in each frame of this session.
    """

    index: int
    samples: np.ndarray
    lost: Loss = ""
    length: int = FRAME_SAMPLES

    @property
    def start(self) -> int:
        """Samples of the session's audio before this frame."""
        return self.index * self.length

    @property
    def at(self) -> float:
        """Session time in seconds at the end of this frame."""
        return end_of_frame(self.index, self.length)

    @property
    def seconds(self) -> float:
        """Length of a frame in seconds."""
        return self.length / SAMPLE_RATE


def end_of_frame(index: int, length: int = FRAME_SAMPLES) -> float:
    """Session time in seconds at the end of frame `index`, without accumulated rounding errors."""
    return round((index + 1) * length / SAMPLE_RATE, 6)


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
        frame = frames[place].copy()
        cut = min(flushed, len(frame))
        frame[len(frame) - cut :] = 0
        frames[place] = frame
        flushed -= cut


def silence(length: int = FRAME_SAMPLES) -> np.ndarray:
    """A frame of silence: float32 zeros of shape (`length`,)."""
    return np.zeros(length, np.float32)


class Position:
    """How far a consumer of frames has come, at a sample rate of its own.

    Frames follow each other without gaps, so a consumer can count samples. `take` and `count` compare the count with
    the frames' numbers; if they differ, that is logged as an error, and the consumer gets back in step.
    """

    def __init__(self, name: str, rate: int = SAMPLE_RATE) -> None:
        self._name = name
        self._rate = rate
        self._samples = -1  # at 24 kHz; none yet
        self.counted = 0
        """Samples at `rate` from the session's start."""

    def take(self, frame: Frame) -> np.ndarray:
        """Returns the frame's samples, after silence in the place of samples that are missing before it.

        `frame` may be a part of a frame. The first frame that a consumer gets may have any index.
        """
        if self._samples < 0:
            self._samples = frame.start
            self.counted = frame.start * self._rate // SAMPLE_RATE
        missing = max(0, frame.start - self._samples)
        self._samples += missing + len(frame.samples)
        if missing or self._samples > frame.start + frame.length:
            off = missing or frame.start + frame.length - self._samples
            _log.error("%s: frame %d is off by %d samples", self._name, frame.index, off)
            self._samples = min(self._samples, frame.start + frame.length)
        return np.concatenate([np.zeros(missing, np.float32), frame.samples]) if missing else frame.samples

    def count(self, samples: int) -> int:
        """Counts samples at `rate` that were taken in, and returns `counted`.

        The count may be behind the frames by what a resampler holds back, but by less than a frame of 80 ms.
        """
        self.counted += samples
        expected = self._samples * self._rate // SAMPLE_RATE
        if not -FRAME_SECONDS * self._rate < self.counted - expected <= 1:
            _log.error("%s: counted %d samples instead of %d", self._name, self.counted, expected)
            self.counted = expected
        return self.counted


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
        """The quantile of the lateness, to within 0.5 ms (the histogram's bins); None without steps."""
        if not self.steps:
            return None
        place = bisect.bisect_left(list(itertools.accumulate(self._counts)), share * self.steps)
        return min(self.worst_ms, _LATE_EDGES_MS[place]) if place < len(_LATE_EDGES_MS) else self.worst_ms
