"""Aligns the far end (what the loudspeaker plays) with the microphone's frames, sample by sample.

The two devices have separate clocks and deliver whole blocks. The loudspeaker signal is resampled to the microphone's
clock, so that its offset from the microphone signal stays constant. The resampler in this module changes the rate by a
few ppm with at most 0.7 ms of latency. `FineResampler` (soxr) is more accurate, but it buffers 10 ms and is therefore
used only for playback.
"""

from __future__ import annotations

import math

import numpy as np

from app.audio.io.base import Tap
from app.audio.io.clock_loop import MOST_PPM, ClockLoop
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

HALF = 16
"""Half the filter length, in samples at the lower of the two rates: 0.7 ms."""

PHASES = 1024
"""Number of interpolation positions per sample. Rounding to the nearest one causes an error of -70 dB at 1 kHz."""

BETA = 8.0
"""Shape of the Kaiser window, with side lobes below -80 dB (J. F. Kaiser, "Nonrecursive digital filter design", ISCAS
1974)."""


class QuickFineResampler:
    """Converts from `rate` to 24 kHz with windowed sinc interpolation; otherwise like `FineResampler`."""

    def __init__(self, rate: int = SAMPLE_RATE) -> None:
        self.rate = rate
        narrow = min(1.0, SAMPLE_RATE / rate)
        self._half = int(np.ceil(HALF / narrow))
        at = np.arange(-self._half + 1, self._half + 1)[None, :] - np.arange(PHASES + 1)[:, None] / PHASES
        window = np.i0(BETA * np.sqrt(np.maximum(0.0, 1.0 - (at / self._half) ** 2))) / np.i0(BETA)
        self._kernels = (narrow * np.sinc(narrow * at) * window).astype(np.float32)
        self._waiting = np.zeros(2 * self._half - 1, np.float32)
        self._at = float(self._half - 1)  # position of the next output sample in `_waiting`
        self.set_rate(0.0)

    def set_rate(self, ppm: float) -> None:
        """Sets the rate so that `rate` * (1 + `ppm` / 1e6) input samples become one second of output."""
        self._step = self.rate * (1.0 + ppm * 1e-6) / SAMPLE_RATE

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Adds `samples` and returns the output that is available now, float32 (m,)."""
        waiting = np.concatenate([self._waiting, samples])
        room = len(waiting) - self._half - self._at  # positions below this have all their neighbours
        count = max(0, int(np.ceil(room / self._step)))
        positions = self._at + self._step * np.arange(count)
        whole = positions.astype(np.int64)
        phases = np.rint((positions - whole) * PHASES).astype(np.int64)
        around = np.lib.stride_tricks.sliding_window_view(waiting, 2 * self._half)[whole - (self._half - 1)]
        self._at += self._step * count
        passed = max(0, int(self._at) - (self._half - 1))
        self._waiting, self._at = waiting[passed:], self._at - passed
        return np.einsum("ij,ij->i", around, self._kernels[phases])


SPARE = SAMPLE_RATE * 16 // 1000
"""Target level of the queue after a frame: 16 ms. With less, the queue would run empty if a 10 ms block is late or a 20
ms block arrives late in the frame. With more, the far end would lag behind its own echo on devices with a total latency
of only 20 ms. (The resampler adds 0.7 ms; the shortest path measured is 27 ms.)"""

MOST_SPARE = SAMPLE_RATE * 80 // 1000
"""Maximum surplus attributed to drift: a whole frame. More means that the microphone has lost samples."""

UNEVEN = SAMPLE_RATE * 20 // 1000
"""Deviation of the level from its target that whole blocks alone can explain: 20 ms."""

SURE_FRAMES = 100
"""Number of frames with an echo (8 s) after which the drift estimated from the echo is reported."""

MOST_PULL = 20.0
"""Maximum correction (ppm) based on the level once the rate is set from the echo. The filter can track this change."""

ROUNDING = 8
"""Extra samples required beyond a hop so that the resampler never runs out of input; 1000 ppm is half a sample."""

PATIENCE = 3
"""Number of frames (0.24 s) to wait for a late block before treating it as lost, or for the level to recover."""

_NOTHING: np.ndarray = np.zeros(0, np.float32)


class FarEndAligner:
    """Delivers the far end in frames or parts of frames. Not thread-safe.

    `alignments`: how often the far end has been aligned.
    """

    def __init__(self, tap: Tap) -> None:
        self._tap = tap
        self.alignments = 0
        self._taken_early = 0  # samples of the incomplete frame
        self._echo_drift: float | None = None  # ppm, estimated from the echo
        self._generation: int | None = None
        self._raw = self._ready = _NOTHING
        self._owed = 0  # samples at the loudspeaker's rate already replaced by silence, to be dropped on arrival
        self._late = self._strayed = 0
        self._reset()

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the loudspeaker's clock runs than the microphone's, in ppm; None until known."""
        if self._echo_drift is not None and self._drift_updates >= SURE_FRAMES:
            return round(self._echo_drift, 1)
        return self._loop.drift_ppm if self._aligned else None

    def adjust_drift(self, ppm: float) -> None:
        """Increases the rate at which the far end is read by `ppm`, a correction estimated from the echo's drift.

        From then on, this estimate takes precedence over the one from the queue level, which changes by whole blocks.
        """
        before = self._rate if self._echo_drift is None else self._echo_drift
        self._echo_drift = min(max(before + ppm, -MOST_PPM), MOST_PPM)
        self._drift_updates += 1

    def set_drift(self, ppm: float) -> None:
        """Sets the drift to a value known from an earlier session, which `adjust_drift` then refines."""
        self._echo_drift = ppm

    def restart(self) -> None:
        """Realigns the far end. Must be called after a discontinuity in the microphone signal."""
        self._reset()
        self._tap.take()

    def skip(self, samples: int) -> None:
        """Skips `samples` samples (24 kHz) of far-end audio to match what the microphone dropped."""
        self._owed += round(samples * self._tap.rate / SAMPLE_RATE)

    def take_early(self, count: int) -> np.ndarray | None:
        """Returns the far end for the next `count` samples of the incomplete frame: float32 (count,).

        Returns None unless all these samples have arrived and are aligned. `next_frame` returns the rest of the frame.
        """
        if not self._aligned:
            return None
        new = self._tap.take()
        if self._tap.generation != self._generation:
            return None
        self._append(new)
        if self._owed or self._level() < count + ROUNDING:
            return None
        self._taken_early += count
        return self._take(count)

    def drop(self, frames: int) -> None:
        """Skips `frames` frames, starting with the incomplete one."""
        self.skip(frames * FRAME_SAMPLES - self._taken_early)
        self._taken_early = 0

    def next_frame(self, backlog: int = 0) -> np.ndarray:
        """Returns the far end for the microphone's next frame: float32 (n,), n <= 1920, zeros until aligned.

        Excludes anything that `take_early` has already returned. `backlog`: number of whole frames queued after this
        one, whose loudspeaker audio has already arrived.
        """
        missing, self._taken_early = FRAME_SAMPLES - self._taken_early, 0
        if self._tap.generation != self._generation:
            self._generation = self._tap.generation
            self._reset()
        new = self._tap.take()
        target = SPARE + missing + FRAME_SAMPLES * backlog
        if not self._aligned:
            if not len(new):
                return np.zeros(missing, np.float32)
            self._align(new, target)
        else:
            self._append(new)
        surplus = self._level() - target
        if abs(surplus) <= MOST_SPARE + SPARE:
            self._strayed = 0
        elif self._restart_if_strayed():
            return np.zeros(missing, np.float32)
        self._update_rate(surplus)
        rest = self._take(missing)
        self._late = self._late + 1 if self._owed > 0 else 0
        if self._late >= PATIENCE:
            # The block is lost, so the loudspeaker's delay has increased by its length.
            self._owed = self._late = 0
        return rest

    def _update_rate(self, surplus: float) -> None:
        self._rate = self._loop.step(surplus)
        if self._echo_drift is not None:
            # Whole blocks make the level uneven; only the excess counts as a surplus.
            excess = min(max(abs(surplus) - UNEVEN, 0.0) / UNEVEN, 1.0)
            self._rate = self._echo_drift + math.copysign(MOST_PULL * excess, surplus)
        self._resampler.set_rate(self._rate)

    def _append(self, new: np.ndarray) -> None:
        paid = min(self._owed, len(new))
        self._owed -= paid
        self._raw = np.concatenate([self._raw, new[paid:]])

    def _reset(self) -> None:
        self._aligned = False
        self._drift_updates = 0
        self._resampler = QuickFineResampler(self._tap.rate)
        self._loop = ClockLoop()
        self._rate = 0.0
        self._raw = self._ready = _NOTHING
        self._owed = self._late = self._strayed = 0

    def _align(self, new: np.ndarray, level: int) -> None:
        """Fills the queue to `level` samples (24 kHz) with the newest audio, preceded by silence."""
        self._aligned = True
        self.alignments += 1
        # Priming the resampler with silence makes its output as long as its input.
        self._ready = _NOTHING
        self._resampler.push(np.zeros(self._resampler.rate // 10, np.float32))
        length = round(level * self._tap.rate / SAMPLE_RATE)
        self._raw = np.concatenate([np.zeros(max(0, length - len(new)), np.float32), new[-length:]])
        self._owed = 0

    def _level(self) -> float:
        """Returns the number of queued samples at 24 kHz, minus those already replaced by silence."""
        return (len(self._raw) - self._owed) * SAMPLE_RATE / self._tap.rate + len(self._ready)

    def _restart_if_strayed(self) -> bool:
        """Restarts if the level has been wrong for `PATIENCE` frames. Returns True if it restarted."""
        self._strayed += 1
        if self._strayed < PATIENCE:
            return False
        self.restart()
        return True

    def _take(self, samples: int) -> np.ndarray:
        """Returns resampled audio, float32 (samples,), with silence in place of late samples."""
        while (missing := samples - len(self._ready)) > 0:
            count = int(missing * self._tap.rate / SAMPLE_RATE) + 2
            if len(self._raw):
                piece, self._raw = self._raw[:count], self._raw[count:]
            else:
                piece = np.zeros(count, np.float32)
                self._owed += count
            self._ready = np.concatenate([self._ready, self._resampler.push(piece)])
        taken, self._ready = self._ready[:samples], self._ready[samples:]
        return taken
