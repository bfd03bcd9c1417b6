"""A ring of float32 samples between two threads: one writes, one reads, nobody waits.

Positions count samples since the ring was made and never wrap. Every attribute has one writing side, and each
is swapped in a single assignment, so a look from the other side is at worst a moment old (CPython's
interpreter lock orders these assignments). A full ring never blocks its writer: the oldest samples are
overwritten, and the reader notices by position. Knows nothing of audio devices, rates or frames.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class RingCounts(NamedTuple):
    """Where all written samples are: `written == taken + queued + flushed + lost`, in any snapshot."""

    written: int
    taken: int
    """Read by the reader."""
    queued: int
    """Waiting."""
    flushed: int
    """Taken back by `discard` or passed over by `skip`."""
    lost: int
    """Overwritten before they were read."""


class Ring:
    """Room for `capacity` samples. Writer only: `write`, `discard`; reader only: `read_into`, `skip`."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("a ring needs room for at least one sample")
        self.capacity = capacity
        self._buffer = np.zeros(capacity, np.float32)
        # The writer's: [0, written) can be read; below `claimed - capacity` the buffer is being overwritten.
        self._written = 0
        self._claimed = 0
        # The writer's: ranges [from, to) to forget, oldest first; the reader acts on them when it comes by.
        self._discards: tuple[tuple[int, int], ...] = ()
        # The reader's: (position, taken, flushed), one tuple so that the three always belong together.
        self._reader = (0, 0, 0)

    # Writer's side

    def write(self, samples: np.ndarray) -> None:
        """Append float32 samples of shape (n,). What has no room pushes out the oldest."""
        for start in range(0, samples.shape[0], self.capacity):
            self._write_piece(samples[start : start + self.capacity])

    def discard(self) -> int:
        """Ask the reader to forget all that is queued now; how many samples that is.

        The reader obeys at its next call, before it takes anything. Should it be taking samples just now,
        these are in the returned number all the same; `counts` is exact once the reader is done.
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
        self._claimed = self._written + count  # said before the buffer changes: the reader checks it
        at = self._written % self.capacity
        first = min(count, self.capacity - at)
        self._buffer[at : at + first] = samples[:first]
        if first < count:
            self._buffer[: count - first] = samples[first:]
        self._written = self._claimed

    # Reader's side

    def read_into(self, out: np.ndarray) -> int:
        """Move the oldest samples to `out` (float32, shape (n,), any stride); how many there were, 0 to n.

        The rest of `out` is undefined.
        """
        while True:
            position, taken, flushed = self._settle()
            count = min(out.shape[0], self._written - position)
            at = position % self.capacity
            first = min(count, self.capacity - at)
            out[:first] = self._buffer[at : at + first]
            if first < count:
                out[first:count] = self._buffer[: count - first]
            # A writer that came round while these were copied has torn them: they are lost, read the next
            # ones.
            if self._claimed - self.capacity <= position:
                self._reader = (position + count, taken + count, flushed)
                return count

    def skip(self, count: int) -> int:
        """Pass over the oldest `count` samples, or all if fewer; how many. They count as flushed."""
        position, taken, flushed = self._settle()
        count = min(count, self._written - position)
        self._reader = (position + count, taken, flushed + count)
        return count

    def _settle(self) -> tuple[int, int, int]:
        """Step over what is flushed or overwritten, and make that known."""
        position, taken, flushed = self._reader
        discards = self._discards
        target = _floor(position, discards, self._claimed - self.capacity)
        if target > position:
            flushed += _overlap(discards, position, target)
            self._reader = (target, taken, flushed)
        return target, taken, flushed

    # Either side, or a third

    @property
    def queued(self) -> int:
        """Samples that wait."""
        return self.counts().queued

    def counts(self) -> RingCounts:
        """A snapshot; what the reader hasn't noticed yet is in it already."""
        # The reader's tuple first, `written` last: so the queue can't come out negative.
        position, taken, flushed = self._reader
        discards = self._discards
        target = _floor(position, discards, self._claimed - self.capacity)
        written = self._written
        forgotten = _overlap(discards, position, target)
        flushed += forgotten
        return RingCounts(written, taken, written - target, flushed, target - taken - flushed)


def _floor(position: int, discards: tuple[tuple[int, int], ...], oldest: int) -> int:
    """The first position that is still worth reading."""
    return max(position, oldest, discards[-1][1] if discards else 0)


def _overlap(ranges: tuple[tuple[int, int], ...], start: int, end: int) -> int:
    """How many positions of [start, end) lie in `ranges`."""
    return sum(max(0, min(end, to) - max(start, frm)) for frm, to in ranges)
