"""A sink that compensates for clock drift between the loudspeaker and the writer."""

from __future__ import annotations

import math
from collections import deque
from types import TracebackType
from typing import Self

import numpy as np
import soxr

from app.audio.io.base import AudioSink, PausesPlayback
from app.audio.io.clock_loop import ClockLoop
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

HEADROOM = 1.002
"""Maximum ratio for soxr's variable-rate mode: allows twice `MOST_PPM`."""


class FineResampler:
    """Speeds up or slows down 24 kHz mono float32 audio by a few parts per million.

    In its variable-rate mode, soxr buffers `HELD` samples and shifts its output by 1.77 samples (`SHIFT`, rounded).
    Both values are measured.
    """

    HELD, SHIFT = 240, 2

    def __init__(self) -> None:
        most = SAMPLE_RATE * HEADROOM
        self._stream = soxr.ResampleStream(most, SAMPLE_RATE, 1, dtype="float32", quality="HQ", vr=True)
        self._ppm = math.nan
        self.set_rate(0.0)

    def set_rate(self, ppm: float) -> None:
        """Sets the rate so that 24,000 * (1 + `ppm` / 1e6) input samples become one second of output."""
        if ppm != self._ppm:
            self._ppm = ppm
            self._stream.set_io_ratio(SAMPLE_RATE * (1.0 + ppm * 1e-6), SAMPLE_RATE)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Adds `samples` and returns the output that is available now, float32 (m,)."""
        return self._stream.resample_chunk(samples)


class DriftCompensatingSink:
    """An `AudioSink` that keeps the queue of `sink` at a constant level while frames are written steadily.

    Samples pass through unchanged until the queue has drifted by more than half a device block from its initial level.
    From then on they are resampled by a few ppm, so that the queue neither runs empty nor grows. Silence, a flush, a
    pause or an empty queue restarts the measurement.

    After a stall the frames that waited are written in a burst, and the voice would lag behind by the length of the
    stall for as long as it is written without pause. So quiet frames are left out until the queue is as short as it
    was before.
    """

    SETTLING_FRAMES, LEVELLING_FRAMES = 25, 125
    """The first 2 s are ignored, as the level is still uneven. The mean of the next 10 s becomes the target level."""
    MOVED_FRAMES = 62
    MOVED_SAMPLES = 250.0
    """Window of the level's running mean (5 s), and the deviation of this mean that counts as drift. Jitter averages
    out within the window, and changes of less than half a 20 ms block aren't significant."""
    USUAL_FRAMES = 25
    MOST_USUAL = 0.14 * SAMPLE_RATE
    """The queue's usual level is the lowest that it has kept up for this long (2 s), and at most what a loudspeaker
    needs: 80 ms of prebuffering, 40 ms for its resampler and a block of 20 ms."""
    EXCESS_FRAMES = 12
    EXCESS_SAMPLES = FRAME_SAMPLES
    """The queue is too long if it has exceeded the usual level by this much for this long (1 s)."""
    QUIET = 0.003
    """RMS, about -50 dBFS, below which a frame may be left out even within speech."""
    HISTORY = 2400
    FADE = SAMPLE_RATE // 50

    def __init__(self, sink: AudioSink) -> None:
        self._sink = sink
        self._written = 0
        self._removed = 0  # samples removed (negative: added) by resampling
        self._discarded = 0  # flushed samples that the sink never received
        self._most_played = 0
        self._levels: deque[int] = deque(maxlen=self.USUAL_FRAMES)  # of the queue before the latest writes
        self._usual = self.MOST_USUAL
        self._device = sink.name
        self.quiet = self.QUIET
        self._resampler: FineResampler | None = None
        self._held = 0
        self._history: np.ndarray = np.zeros(0, np.float32)
        self._restart()

    @property
    def name(self) -> str:
        return self._sink.name

    @property
    def keeps_time(self) -> bool:
        return self._sink.keeps_time

    @property
    def is_resampling(self) -> bool:
        """Whether samples are currently being resampled."""
        return self._resampler is not None

    # All counters refer to samples as written to this sink.

    @property
    def written(self) -> int:
        return self._written

    @property
    def played(self) -> int:
        played = min(self._sink.played + self._removed, self._written - self.flushed - self.overruns)
        self._most_played = max(self._most_played, played)
        return self._most_played

    @property
    def queued(self) -> int:
        """Samples waiting to be played, including those buffered by the resampler."""
        return max(0, self._written - self.played - self.flushed - self.overruns)

    @property
    def flushed(self) -> int:
        return self._sink.flushed + self._discarded

    @property
    def overruns(self) -> int:
        return self._sink.overruns

    @property
    def underruns(self) -> int:
        return self._sink.underruns

    def write(self, samples: np.ndarray) -> None:
        """Queues samples. Propagates any error of `sink`."""
        if not len(samples):
            self._finish()
            self._sink.write(samples)
            return
        waiting = self._sink.queued
        if not waiting and self._frames:
            self._finish()
        self._written += len(samples)
        if self._is_excess(samples, waiting):
            self._removed += len(samples)
            return
        self._measure(waiting)
        self._pass_on(samples)
        self._history = np.concatenate([self._history, samples])[-self.HISTORY :]

    def flush(self) -> int:
        self._levels.clear()
        before = self.flushed
        self._sink.flush()
        # Everything not yet played is discarded, including the samples buffered by the resampler.
        played = self.played
        self._discarded = self._written - self.overruns - self._sink.flushed - played
        self._removed = played - self._sink.played
        self._resampler = None
        self._restart()
        return self.flushed - before

    def pause_playback(self) -> None:
        if isinstance(self._sink, PausesPlayback):
            self._sink.pause_playback()

    def resume_playback(self) -> None:
        self._finish()  # the queue grew during the pause, which isn't drift
        if isinstance(self._sink, PausesPlayback):
            self._sink.resume_playback()

    def __enter__(self) -> Self:
        self._sink.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sink.__exit__(kind, error, trace)

    def _is_excess(self, samples: np.ndarray, waiting: int) -> bool:
        """Returns whether to leave out a frame, and keeps track of the queue's usual level."""
        if self._sink.name != self._device:
            self._device, self._usual = self._sink.name, self.MOST_USUAL
        self._levels.append(waiting)
        if self._frames >= self.SETTLING_FRAMES + self.USUAL_FRAMES:
            self._usual = min(self._usual, max(self._levels))
        latest = list(self._levels)[-self.EXCESS_FRAMES :]
        if len(latest) < self.EXCESS_FRAMES or min(latest) <= self._usual + self.EXCESS_SAMPLES:
            return False
        if np.sqrt(np.mean(np.square(samples))) >= self.quiet:
            return False
        self._finish()
        self._levels = deque((level - len(samples) for level in latest), self.USUAL_FRAMES)
        return True

    def _restart(self) -> None:
        self._loop = ClockLoop()
        self._frames = 0
        self._level = self._mean = 0.0
        self._held = 0
        self._history = self._history[:0]

    def _measure(self, waiting: int) -> None:
        """Updates the measurement with the number of samples queued before a write, and controls the resampler."""
        n = self._frames - self.SETTLING_FRAMES
        self._frames += 1
        if n < 0:
            return
        if n < self.LEVELLING_FRAMES:
            self._level += (waiting - self._level) / (n + 1)
            self._mean = self._level
            return
        if self._resampler is None:
            self._mean += (waiting - self._mean) / self.MOVED_FRAMES
            if abs(self._mean - self._level) < self.MOVED_SAMPLES:
                return
            self._resampler = FineResampler()
            # Primed with the latest samples; the resulting output is dropped, as those samples were already written.
            self._resampler.push(self._history)
            self._entering = True
        self._resampler.set_rate(self._loop.step(waiting - self._level))

    def _pass_on(self, samples: np.ndarray) -> None:
        if self._resampler is None:
            self._sink.write(samples)
            return
        resampled = self._resampler.push(samples)
        if self._entering:
            # A 20 ms cross-fade makes the shift by a fraction of a sample inaudible.
            self._entering = False
            self._held = FineResampler.HELD + FineResampler.SHIFT
            resampled = resampled[self._held :].copy()
            ramp = np.linspace(0.0, 1.0, self.FADE, dtype=np.float32)
            resampled[: self.FADE] = resampled[: self.FADE] * ramp + samples[: self.FADE] * (1.0 - ramp)
            self._sink.write(resampled)
            return
        self._sink.write(resampled)
        self._removed += len(samples) - len(resampled)

    def _finish(self) -> None:
        """Writes the samples buffered by the resampler, stops resampling and restarts the measurement."""
        if self._resampler is not None:
            rest = self._resampler.push(np.zeros(4 * FineResampler.HELD, np.float32))[: self._held]
            self._resampler = None
            self._sink.write(rest)
        self._restart()
