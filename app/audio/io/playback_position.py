"""How far playback has come, in 24 kHz samples, over a ring that runs at the device's rate.

Knows nothing of devices or resamplers: whatever was written and isn't in the ring yet counts as queued.
"""

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


class PlaybackPosition:
    """Counts for one writer. Exact at 24 kHz; at another `rate` a talk or a flush may round by one."""

    def __init__(self, ring: Ring, rate: int) -> None:
        self._ring = ring
        self._rate = rate
        self._written = 0
        self._most_played = 0
        # At the last flush: what was written (24 kHz), where the ring was, what the ring had lost by then.
        self._flushed_at = (0, 0, 0)

    def wrote(self, samples: int) -> None:
        """The writer has `samples` more; say so before they go to the ring."""
        self._written += samples

    def flushed(self) -> None:
        """The writer has made the ring discard all, and forgotten what it held back itself."""
        counts = self._ring.counts()
        self._flushed_at = (self._written, counts.written, counts.lost)

    def look(self) -> Playback:
        """A snapshot, from any thread."""
        counts = self._ring.counts()
        written_then, ring_then, lost_then = self._flushed_at
        written = self._written
        # The ring knows exactly what it flushed (the device may have taken a block at that very moment), so
        # what was played before the flush is what remains.
        played_then = self._up(ring_then - counts.flushed - lost_then)
        overruns = self._down(counts.lost)
        flushed = max(0, written_then - played_then - self._down(lost_then))
        # Rounding must neither take back what was said before nor exceed what there is.
        played = min(max(self._up(counts.taken), self._most_played), written - flushed - overruns)
        self._most_played = played
        return Playback(written, played, written - played - flushed - overruns, flushed, overruns)

    def _up(self, ring_samples: int) -> int:
        return -(-ring_samples * SAMPLE_RATE // self._rate)

    def _down(self, ring_samples: int) -> int:
        return ring_samples * SAMPLE_RATE // self._rate
