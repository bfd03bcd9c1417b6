"""Playback counters in 24 kHz samples, over a ring that runs at the device's rate."""

from __future__ import annotations

from typing import NamedTuple

from app.audio.io.ring import Ring
from app.conversation.frame import SAMPLE_RATE


class Playback(NamedTuple):
    """Where all written samples are: `written == played + queued + flushed + overruns`."""

    written: int
    played: int
    queued: int
    flushed: int
    overruns: int


class PlaybackCounters:
    """A base class that implements the counters of an `AudioSink` by `playback`."""

    def playback(self) -> Playback:
        """Returns all counters at one moment."""
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
    """Counts for one writer. Exact at 24 kHz; at another `rate` a flush may round by one.

    Samples written but not in the ring yet (held back by a resampler) count as queued.
    """

    def __init__(self, ring: Ring, rate: int) -> None:
        self._ring = ring
        self._rate = rate
        self._written = 0
        self._most_played = 0
        # At the last flush: samples written (24 kHz), the ring's position, what the ring had lost by then.
        self._at_flush = (0, 0, 0)

    def add_written(self, samples: int) -> None:
        """Counts `samples` more; called before they go into the ring."""
        self._written += samples

    def mark_flush(self) -> None:
        """Called after the ring's `discard`, when nothing is held back outside it any more."""
        counts = self._ring.counts()
        self._at_flush = (self._written, counts.written, counts.lost)

    def playback(self) -> Playback:
        """Returns a snapshot; any thread may call it."""
        counts = self._ring.counts()
        written_then, ring_then, lost_then = self._at_flush
        written = self._written
        # The ring knows exactly what it flushed (the device may have taken a block at that very moment), so
        # what was played before the flush is what remains.
        played_then = self._rounded_up(ring_then - counts.flushed - lost_then)
        overruns = self._rounded_down(counts.lost)
        flushed = max(0, written_then - played_then - self._rounded_down(lost_then))
        # Rounding must neither reduce `played` nor make it exceed what there is.
        played = min(max(self._rounded_up(counts.taken), self._most_played), written - flushed - overruns)
        self._most_played = played
        return Playback(written, played, written - played - flushed - overruns, flushed, overruns)

    def _rounded_up(self, ring_samples: int) -> int:
        return -(-ring_samples * SAMPLE_RATE // self._rate)

    def _rounded_down(self, ring_samples: int) -> int:
        return ring_samples * SAMPLE_RATE // self._rate
