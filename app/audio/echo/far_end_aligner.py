"""Brings what the loudspeaker plays into step with the microphone's frames, sample by sample.

The two devices run by clocks of their own and hand over whole blocks; here the loudspeaker's sound is resampled
to the microphone's clock, and stays as far behind it as it was at first. Knows nothing of echoes.
"""

from __future__ import annotations

import math

import numpy as np

from app.audio.devices.drift import MOST_PPM, ClockLoop
from app.audio.echo.fine_resampler import QuickFineResampler
from app.audio.io.base import Tap
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

SPARE = SAMPLE_RATE * 16 // 1000
"""What is wanted in the queue behind a frame: 16 ms. Less runs dry when a block of 10 ms comes late, or one of 20 ms
is handed over late in the frame; more would bring the sound later than its own echo, where the devices have only 20 ms
of latency together. (The resampler adds 0.7 ms; the shortest way measured is 27 ms.)"""

MOST_SPARE = SAMPLE_RATE * 80 // 1000
"""More than a whole frame too much is no drift: the microphone has lost something."""

UNEVEN = SAMPLE_RATE * 20 // 1000
"""How far the level may be from what is wanted because devices take and give whole blocks: 20 ms."""

STEERED_SURE = 100
"""Frames of echo (8 s) behind which its word on the drift is taken."""

MOST_PULL = 20.0
"""Ppm by which the level moves the rate once the echo tells it: nothing that a filter couldn't follow."""

ROUNDING = 8
"""More than a hop in the queue so that resampling a hop never wants silence: 1000 ppm are half a sample."""

PATIENCE = 3
"""Frames (0.24 s) that a late block may take to come; after that it is lost, or the clocks have drifted by it."""


class FarEndAligner:
    """The far end for frame after frame, or by parts of them; one thread. `alignments`: how often it was aligned."""

    def __init__(self, tap: Tap) -> None:
        self._tap = tap
        self.alignments = 0
        self._given = 0  # samples of the frame under way
        self._heard: float | None = None  # ppm, as the echo tells
        self._generation: int | None = None
        self._begin()

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the loudspeaker's clock runs than the microphone's; None until it is known."""
        if self._heard is not None and self._steered >= STEERED_SURE:
            return round(self._heard, 1)
        return self._loop.drift_ppm if self._aligned else None

    def steer(self, ppm: float) -> None:
        """The echo wanders: from now on the far end is given by so much faster, and the level follows of itself.

        What is in step stays in step then, where the level tells only of whole blocks.
        """
        before = self._rate if self._heard is None else self._heard
        self._heard = min(max(before + ppm, -MOST_PPM), MOST_PPM)
        self._steered += 1

    def know(self, ppm: float) -> None:
        """The loudspeaker's clock is known to run so much faster; `steer` goes on from there."""
        self._heard = ppm

    def realign(self) -> None:
        """What comes from the microphone is in no fixed relation any more to what came before."""
        self._begin()
        self._tap.take()

    def skip(self, samples: int) -> None:
        """The microphone's next `samples` samples (24 kHz) are missing: so the loudspeaker's are passed over."""
        self._owed += round(samples * self._tap.rate / SAMPLE_RATE)

    def ahead(self, count: int) -> np.ndarray | None:
        """What it played for the next `count` samples of the microphone's frame under way: float32 (count,).

        Only where all of it has come and nothing is out of step; None else. `next_frame` gives the rest of the frame.
        """
        if not self._aligned:
            return None
        fresh = self._tap.take()
        if self._tap.generation != self._generation:
            return None
        self._collect(fresh)
        if self._owed or self._level() < count + ROUNDING:
            return None
        self._given += count
        return self._take(count)

    def drop(self, frames: int) -> None:
        """The microphone's frame under way and those behind it won't be asked for, `frames` in all."""
        self.skip(frames * FRAME_SAMPLES - self._given)
        self._given = 0

    def next_frame(self, backlog: int = 0) -> np.ndarray:
        """What the loudspeaker played for this frame of the microphone's: float32 (1920,), zeros while unknown.

        Less what `ahead` has given of it. `backlog`: whole frames that wait behind this one; the loudspeaker's sound
        for them has come already.
        """
        missing, self._given = FRAME_SAMPLES - self._given, 0
        if self._tap.generation != self._generation:
            self._generation = self._tap.generation
            self._begin()
        fresh = self._tap.take()
        wanted = SPARE + missing + FRAME_SAMPLES * backlog
        if not self._aligned:
            if not len(fresh):
                return np.zeros(missing, np.float32)
            self._align(fresh, wanted)
        else:
            self._collect(fresh)
        surplus = self._level() - wanted
        if abs(surplus) > MOST_SPARE + SPARE and self._watch_range():
            return np.zeros(missing, np.float32)
        if abs(surplus) <= MOST_SPARE + SPARE:
            self._strayed = 0
        self._rate = self._loop.step(surplus)
        if self._heard is not None:
            # A queue of whole blocks looks uneven; only what is more than that is too much.
            excess = min(max(abs(surplus) - UNEVEN, 0.0) / UNEVEN, 1.0)
            self._rate = self._heard + math.copysign(MOST_PULL * excess, surplus)
        self._bender.bend(self._rate)
        rest = self._take(missing)
        self._late = self._late + 1 if self._owed > 0 else 0
        if self._late >= PATIENCE:
            # It doesn't come any more: the loudspeaker is that much later from now on.
            self._owed = self._late = 0
        return rest

    def _collect(self, fresh: np.ndarray) -> None:
        paid = min(self._owed, len(fresh))
        self._owed -= paid
        self._raw.append(fresh[paid:])
        self._raw_length += len(fresh) - paid

    def _begin(self) -> None:
        self._aligned = False
        self._steered = 0
        self._bender = QuickFineResampler(self._tap.rate)
        self._loop = ClockLoop()
        self._rate = 0.0
        self._raw: list[np.ndarray] = []
        self._raw_length = 0
        self._ready = np.zeros(0, np.float32)
        self._owed = 0  # samples at the loudspeaker's rate that silence was given for, and that are void when they come
        self._late = self._strayed = 0

    def _align(self, fresh: np.ndarray, level: int) -> None:
        """Begins with the newest sound, silence before it; `level` samples at 24 kHz in all."""
        self._aligned = True
        self.alignments += 1
        # The resampler is filled with silence first, so that it gives as much as it gets.
        self._ready = np.zeros(0, np.float32)
        self._bender.push(np.zeros(self._bender.rate // 10, np.float32))
        wanted = round(level * self._tap.rate / SAMPLE_RATE)
        head = np.zeros(max(0, wanted - len(fresh)), np.float32)
        self._raw = [np.concatenate([head, fresh[-wanted:]])]
        self._raw_length = wanted
        self._owed = 0

    def _level(self) -> float:
        """Samples at 24 kHz that wait, less those that silence stood in for."""
        return (self._raw_length - self._owed) * SAMPLE_RATE / self._tap.rate + len(self._ready)

    def _watch_range(self) -> bool:
        """Whether the level is wrong for good, and everything was begun anew."""
        self._strayed += 1
        if self._strayed < PATIENCE:
            return False
        self.realign()
        return True

    def _take(self, samples: int) -> np.ndarray:
        """Resamples as much as is needed, float32 (samples,); silence stands in for what is late."""
        while (missing := samples - len(self._ready)) > 0:
            count = int(missing * self._tap.rate / SAMPLE_RATE) + 2
            if self._raw_length:
                piece = self._pull(count)
            else:
                piece = np.zeros(count, np.float32)
                self._owed += count
            self._ready = np.concatenate([self._ready, self._bender.push(piece)])
        taken, self._ready = self._ready[:samples], self._ready[samples:]
        return taken

    def _pull(self, count: int) -> np.ndarray:
        queue = self._raw[0] if len(self._raw) == 1 else np.concatenate(self._raw)
        piece, rest = queue[:count], queue[count:]
        self._raw, self._raw_length = [rest], len(rest)
        return piece
