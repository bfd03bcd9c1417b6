"""A lock-free ring buffer of float32 samples for one writing and one reading thread. Neither ever blocks.

Positions count samples since the ring was created and never wrap. Each attribute is written by one side only, in a
single assignment, so the other side's view is at worst slightly outdated (CPython's GIL orders these assignments). If
the ring is full, the writer overwrites the oldest samples, which the reader detects from the positions.
`PlaybackPosition` converts the counters of a ring at the device's rate to 24 kHz samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.conversation.frame import SAMPLE_RATE


class Playback(NamedTuple):
    """Accounts for all written samples: `written == played + queued + flushed + overruns`."""

    written: int
    played: int
    queued: int
    flushed: int
    overruns: int


class PlaybackCounters:
    """A base class that implements the counters of an `AudioSink` based on `playback`."""

    def playback(self) -> Playback:
        """Returns a consistent snapshot of all counters."""
        raise NotImplementedError

    @property
    def written(self) -> int:
        return self.playback().written

    @property
    def played(self) -> int:
        return self.playback().played

    @property
    def queued(self) -> int:
        return self.playback().queued

    @property
    def flushed(self) -> int:
        return self.playback().flushed

    @property
    def overruns(self) -> int:
        return self.playback().overruns


class PlaybackPosition:
    """The playback counters of one writer. Exact at 24 kHz; at another `rate`, a flush may round by one sample.

    Samples written but not yet in the ring (buffered by a resampler) count as queued.
    """

    def __init__(self, ring: Ring, rate: int) -> None:
        self._ring = ring
        self._rate = rate
        self._written = 0
        self._most_played = 0
        # At the last flush: samples written (24 kHz), the ring's position, and samples lost by the ring.
        self._at_flush = (0, 0, 0)

    def add_written(self, samples: int) -> None:
        """Adds `samples` to the count of written samples. Must be called before writing them to the ring."""
        self._written += samples

    def mark_flush(self) -> None:
        """Records a flush. Must be called after the ring's `discard`, when no samples are buffered outside the ring."""
        counts = self._ring.counts()
        self._at_flush = (self._written, counts.written, counts.lost)

    def playback(self) -> Playback:
        """Returns a consistent snapshot of all counters. Thread-safe."""
        counts = self._ring.counts()
        written_then, ring_then, lost_then = self._at_flush
        written = self._written
        # The ring's count of flushed samples is exact, even if the device took a block at the same moment. The rest was
        # played before the flush.
        played_then = self._rounded_up(ring_then - counts.flushed - lost_then)
        overruns = self._rounded_down(counts.lost)
        flushed = max(0, written_then - played_then - self._rounded_down(lost_then))
        # Rounding must neither decrease `played` nor make it exceed the available samples.
        played = min(max(self._rounded_up(counts.taken), self._most_played), written - flushed - overruns)
        self._most_played = played
        return Playback(written, played, written - played - flushed - overruns, flushed, overruns)

    def _rounded_up(self, ring_samples: int) -> int:
        return -(-ring_samples * SAMPLE_RATE // self._rate)

    def _rounded_down(self, ring_samples: int) -> int:
        return ring_samples * SAMPLE_RATE // self._rate


class RingCounts(NamedTuple):
    """Accounts for all written samples: `written == taken + queued + flushed + lost` in any snapshot."""

    written: int
    taken: int
    queued: int
    flushed: int
    """Samples removed by `discard` or `skip`."""
    lost: int
    """Samples overwritten before they were read."""


class Ring:
    """A ring buffer for `capacity` samples. Writer only: `write`, `discard`; reader only: `read_into`, `skip`."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("a ring needs room for at least one sample")
        self.capacity = capacity
        self._buffer = np.zeros(capacity, np.float32)
        # Set by the writer: [0, written) can be read; below `claimed - capacity` the buffer is being overwritten.
        self._written = 0
        self._claimed = 0
        # Set by the writer: ranges [from, to) to discard, oldest first; the reader skips them when it gets there.
        self._discards: tuple[tuple[int, int], ...] = ()
        # Set by the reader: (position, taken, flushed), in one tuple so that they are always consistent.
        self._reader = (0, 0, 0)

    # Writer's side

    def write(self, samples: np.ndarray) -> None:
        """Appends float32 samples of shape (n,); if there is no room, the oldest are overwritten."""
        for start in range(0, samples.shape[0], self.capacity):
            self._write_piece(samples[start : start + self.capacity])

    def discard(self) -> int:
        """Makes the reader skip all currently queued samples on its next call. Returns their number.

        The result includes samples that the reader is taking at the same moment; `counts` is exact afterwards.
        """
        position = self._reader[0]
        pending = tuple(r for r in self._discards if r[1] > position)
        start = max(position, self._claimed - self.capacity, pending[-1][1] if pending else 0)
        if start < self._written:
            pending += ((start, self._written),)
        self._discards = pending
        return max(0, self._written - start)

    def _write_piece(self, samples: np.ndarray) -> None:
        count = samples.shape[0]
        self._claimed = self._written + count  # announced before the buffer changes, for the reader to check
        at = self._written % self.capacity
        first = min(count, self.capacity - at)
        self._buffer[at : at + first] = samples[:first]
        if first < count:
            self._buffer[: count - first] = samples[first:]
        self._written = self._claimed

    # Reader's side

    def read_into(self, out: np.ndarray) -> int:
        """Moves the oldest samples to `out` (float32, shape (n,), any stride) and returns how many, 0 to n.

        The rest of `out` is undefined.
        """
        while True:
            position, taken, flushed = self._skip_discarded()
            count = min(out.shape[0], self._written - position)
            at = position % self.capacity
            first = min(count, self.capacity - at)
            out[:first] = self._buffer[at : at + first]
            if first < count:
                out[first:count] = self._buffer[: count - first]
            # If the writer overwrote these samples while they were being copied, they are lost, so read the next ones.
            if self._claimed - self.capacity <= position:
                self._reader = (position + count, taken + count, flushed)
                return count

    def skip(self, count: int) -> int:
        """Skips the oldest `count` samples, or all if there are fewer. Returns their number; they count as flushed."""
        position, taken, flushed = self._skip_discarded()
        count = min(count, self._written - position)
        self._reader = (position + count, taken, flushed + count)
        return count

    def _skip_discarded(self) -> tuple[int, int, int]:
        """Moves the reader past discarded or overwritten samples."""
        position, taken, flushed = self._reader
        discards = self._discards
        target = _first_readable(position, discards, self._claimed - self.capacity)
        if target > position:
            flushed += _overlap(discards, position, target)
            self._reader = (target, taken, flushed)
        return target, taken, flushed

    # Any thread

    @property
    def queued(self) -> int:
        """Samples waiting to be read."""
        return self.counts().queued

    def counts(self) -> RingCounts:
        """Returns a snapshot, which includes discards and losses that the reader hasn't processed yet."""
        # Reads the reader's tuple first and `written` last, so that `queued` can't be negative.
        position, taken, flushed = self._reader
        discards = self._discards
        target = _first_readable(position, discards, self._claimed - self.capacity)
        written = self._written
        flushed += _overlap(discards, position, target)
        return RingCounts(written, taken, written - target, flushed, target - taken - flushed)


def _first_readable(position: int, discards: tuple[tuple[int, int], ...], oldest: int) -> int:
    return max(position, oldest, discards[-1][1] if discards else 0)


def _overlap(ranges: tuple[tuple[int, int], ...], start: int, end: int) -> int:
    """Returns how many positions in [start, end) lie in `ranges`."""
    return sum(max(0, min(end, high) - max(start, low)) for low, high in ranges)
