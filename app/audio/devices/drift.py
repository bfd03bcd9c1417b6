"""Two clocks that don't agree: how fast a queue between them fills up, and a sink that makes up for it.

Devices take and give whole blocks, so a queue's level looks constant for minutes and then jumps by a block: only a
slow loop sees through that. Time is counted in steps of one frame. Knows nothing of echoes or devices.
"""

from __future__ import annotations

import math
from types import TracebackType
from typing import Self

import numpy as np
import soxr

from app.audio.io.base import AudioSink, Hushes
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

MOST_PPM = 1000.0
"""No two sound devices are further apart: crystals keep within 100 ppm, cheap USB ones have been seen at 300."""

HEADROOM = 1.002
"""The greatest ratio that soxr is prepared for at variable rates: `MOST_PPM`, doubled."""


class ClockLoop:
    """Turns a queue's level into the rate at which it has to be emptied: a phase-locked loop of second order.

    `step` once a frame with how much more than wanted is queued. The gains are those of a critically damped loop,
    2w and w^2 (F. M. Gardner, "Phaselock Techniques", ch. 2; the type that D. Rossi and F. Adriaensen use between
    sound cards, "Controlling adaptive resampling", LAC 2012). It begins at w = 1/60 s, so that 300 ppm displace the
    queue by 10 ms at most, and narrows to 1/500 s as time passes: a level that jumps by a block of 20 ms each 200 s
    (100 ppm) then moves the rate by less than 100 ppm, which nobody hears.
    """

    FIRST, LAST = 1 / 60, 1 / 500
    NARROWING_SECONDS = 200.0
    SURE_SECONDS = 240.0
    LARGEST = FRAME_SAMPLES / 2

    def __init__(self) -> None:
        self._drift = self._seconds = 0.0

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the queue is filled than emptied, less what is made up for; None until it is known."""
        return round(self._drift, 1) if self._seconds >= self.SURE_SECONDS else None

    def step(self, surplus: float) -> float:
        """`surplus`: samples (24 kHz) above what is wanted in the queue now. The rate to empty it with, in ppm."""
        surplus = min(max(surplus, -self.LARGEST), self.LARGEST)  # a late thread is no drift
        width = max(self.LAST, self.FIRST / (1.0 + self._seconds / self.NARROWING_SECONDS))
        self._seconds += FRAME_SECONDS
        in_ppm = 1e6 / SAMPLE_RATE
        self._drift += width**2 * surplus * FRAME_SECONDS * in_ppm
        self._drift = min(max(self._drift, -MOST_PPM), MOST_PPM)
        return min(max(self._drift + 2.0 * width * surplus * in_ppm, -MOST_PPM), MOST_PPM)


class FineResampler:
    """Resamples mono float32 at 24 kHz, a few parts in a million faster or slower as asked.

    soxr then holds `HELD` samples back, and its sound is 1.77 samples late (both measured): `SHIFT`.
    """

    HELD, SHIFT = 240, 2

    def __init__(self) -> None:
        most = SAMPLE_RATE * HEADROOM
        self._stream = soxr.ResampleStream(most, SAMPLE_RATE, 1, dtype="float32", quality="HQ", vr=True)
        self._ppm = math.nan
        self.bend(0.0)

    def bend(self, ppm: float) -> None:
        """From now on 24,000 samples and `ppm` millionths more of them become a second."""
        if ppm != self._ppm:
            self._ppm = ppm
            self._stream.set_io_ratio(SAMPLE_RATE * (1.0 + ppm * 1e-6), SAMPLE_RATE)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """What can be said after these samples, float32 of shape (m,)."""
        return self._stream.resample_chunk(samples)


class DriftCompensatingSink:
    """`sink` with its queue kept at one level, however long somebody writes a frame every frame without pause.

    Samples pass through bit for bit until the queue has moved by more than half a device's block from where it was
    in the first seconds; from then on they are resampled by a few millionths, in the place of minutes later running
    dry or growing late. A pause, a flush, a hush or a queue that ran dry begins anew. As `AudioSink` otherwise, one
    writer.
    """

    SETTLING_FRAMES, LEVELLING_FRAMES = 25, 125
    """The first 2 s are the talk's uneven start; the mean of the next 10 s is the level to keep."""
    MOVED_FRAMES = 62
    MOVED_SAMPLES = 250.0
    """The queue has moved if its mean over 5 s says so: lateness comes and goes sooner, and less than half a block
    of 20 ms is no block."""
    HISTORY = 2400
    FADE = SAMPLE_RATE // 50

    def __init__(self, sink: AudioSink) -> None:
        self._sink = sink
        self._written = 0
        self._more = 0  # samples that became more, or less, by resampling: ours less the sink's
        self._thrown = 0  # samples flushed that the sink never saw
        self._most_played = 0
        self._bender: FineResampler | None = None
        self._begin()

    @property
    def name(self) -> str:
        """The sink's name."""
        return self._sink.name

    @property
    def keeps_time(self) -> bool:  # type: ignore[override]
        """See `AudioSink`."""
        return self._sink.keeps_time

    @property
    def bending(self) -> bool:
        """Whether samples are being resampled now."""
        return self._bender is not None

    @property
    def written(self) -> int:
        """See `AudioSink`, as all counters: in the samples that were written here."""
        return self._written

    @property
    def played(self) -> int:
        """See `AudioSink`."""
        played = min(self._sink.played + self._more, self._written - self.flushed - self.overruns)
        self._most_played = max(self._most_played, played)
        return self._most_played

    @property
    def queued(self) -> int:
        """See `AudioSink`; with what the resampler holds back."""
        return max(0, self._written - self.played - self.flushed - self.overruns)

    @property
    def flushed(self) -> int:
        """See `AudioSink`."""
        return self._sink.flushed + self._thrown

    @property
    def overruns(self) -> int:
        """See `AudioSink`."""
        return self._sink.overruns

    @property
    def underruns(self) -> int:
        """See `AudioSink`."""
        return self._sink.underruns

    def write(self, samples: np.ndarray) -> None:
        """See `AudioSink.write`, whose errors pass through."""
        if not len(samples):
            self._finish()
            self._begin()
            self._sink.write(samples)
            return
        waiting = self._sink.queued
        if not waiting and self._frames:
            self._finish()
            self._begin()
        self._written += len(samples)
        self._watch(waiting)
        self._give(samples)
        self._history = np.concatenate([self._history, samples])[-self.HISTORY :]

    def flush(self) -> int:
        """See `AudioSink.flush`."""
        before = self.flushed
        self._sink.flush()
        # What was played stays played; all else, the resampler's share with it, is thrown away.
        played = self.played
        self._thrown = self._written - self.overruns - self._sink.flushed - played
        self._more = played - self._sink.played
        self._bender = None
        self._begin()
        return self.flushed - before

    def hush(self) -> None:
        """See `Hushes`; nothing happens where the sink doesn't."""
        if isinstance(self._sink, Hushes):
            self._sink.hush()

    def unhush(self) -> None:
        """See `Hushes`. As behind a pause the queue's level is a new one."""
        self._finish()
        self._begin()
        if isinstance(self._sink, Hushes):
            self._sink.unhush()

    def __enter__(self) -> Self:
        self._sink.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sink.__exit__(kind, error, trace)

    def _begin(self) -> None:
        self._loop = ClockLoop()
        self._frames = 0
        self._level = self._mean = 0.0
        self._held = 0
        self._history = np.zeros(0, np.float32)

    def _watch(self, waiting: int) -> None:
        """Learns from how much waits before a write; begins to bend, and says by how much."""
        n = self._frames - self.SETTLING_FRAMES
        self._frames += 1
        if n < 0:
            return
        if n < self.LEVELLING_FRAMES:
            self._level += (waiting - self._level) / (n + 1)
            self._mean = self._level
            return
        surplus = waiting - self._level
        if self._bender is None:
            self._mean += (waiting - self._mean) / self.MOVED_FRAMES
            if abs(self._mean - self._level) < self.MOVED_SAMPLES:
                return
            self._bender = FineResampler()
            # It is filled with what was written last, and what it gives of that is void: it has been played.
            self._bender.push(self._history)
            self._entering = True
        self._bender.bend(self._loop.step(surplus))

    def _give(self, samples: np.ndarray) -> None:
        if self._bender is None:
            self._sink.write(samples)
            return
        bent = self._bender.push(samples)
        if self._entering:
            # From the one to the other in 20 ms, so that a shift by a fraction of a sample is no crack.
            self._entering = False
            bent = bent[FineResampler.HELD + FineResampler.SHIFT :].copy()
            ramp = np.linspace(0.0, 1.0, self.FADE, dtype=np.float32)
            bent[: self.FADE] = bent[: self.FADE] * ramp + samples[: self.FADE] * (1.0 - ramp)
            self._held = FineResampler.HELD + FineResampler.SHIFT
            self._sink.write(bent)
            return
        self._sink.write(bent)
        self._more += len(samples) - len(bent)

    def _finish(self) -> None:
        """Lets out what the resampler holds back; from now on nothing is resampled."""
        if self._bender is None:
            return
        rest = self._bender.push(np.zeros(4 * FineResampler.HELD, np.float32))[: self._held]
        self._bender = None
        self._sink.write(rest)
        self._held = 0
