"""An `AudioSource` that wraps another one and removes the app's own voice from it.

`EchoMeter` measures by how much the echo is attenuated, and whether the residual could be mistaken for the user.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np

from app.audio.echo.canceller import EarlyHops, EchoCanceller, joined
from app.audio.echo.echo_remover import EchoRemover
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import FAR_ACTIVE, HOP, powers
from app.audio.echo.store import EchoStore
from app.audio.io.base import AudioSource, PeekableSource, Tap, WrappedSource
from app.conversation.events import Processing, SoundHealth
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

HOPS = FRAME_SAMPLES // HOP
WINDOW = 300
"""Number of 20 ms hops per evaluation: 6 s."""

MOST_LAG = 20
"""Maximum delay of an echo, in hops: 0.4 s."""

EVALUATE_EVERY = 12
"""Number of frames between evaluations: about a second."""

TINY = 1e-12


class EchoMeter:
    """Measures the echo that remains after cancellation.

    `erle_db` is the echo return loss enhancement, or None if unknown. `echo_remains` is set while the residual echo is
    loud enough to be mistaken for the user.

    An echo is assumed if the near end's loudness follows the far end's with a short delay (correlation of the
    logarithms above `FOLLOWS`). Hops in which the near end is much louder than the usual echo are assumed to contain
    speech and are ignored. The noise floor, the 10th percentile of the hops' power, is subtracted.
    """

    FOLLOWS = 0.5
    LEAST_ACTIVE = 60
    """Minimum number of hops with an active far end for an evaluation: 1.2 s of the 6 s."""
    CONVERGING_SECONDS = 3.0
    SPEECH_OVER_NOISE = 10 ** (12 / 10)
    AUDIBLE = 10 ** (-55 / 10)
    """Power above which a voice activity detector may trigger. In trials, a residual of -44 dBFS triggered Silero."""
    RAISE_AFTER, CLEAR_AFTER = 3, 4
    """Number of consecutive evaluations needed to set and to clear `echo_remains`."""
    FORGET = 0.7
    """Decay factor of the sums per evaluation, for a memory of about 3 s."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Resets all measurements. Must be called when the alignment of the signals has changed."""
        self.erle_db: float | None = None
        self.echo_remains = False
        self._near, self._far, self._out = (np.full(WINDOW, TINY) for _ in range(3))
        self._frames = 0
        self._active_seconds = 0.0
        self._sum_near = self._sum_out = 0.0
        self._raised = self._cleared = 0

    def update(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> None:
        """Adds one frame of each signal, float32 (1920,)."""
        for history, samples in ((self._near, near), (self._far, far), (self._out, out)):
            history[:-HOPS] = history[HOPS:]
            history[-HOPS:] = powers(samples, HOP)
        self._frames += 1
        self._active_seconds += FRAME_SECONDS if self._far[-HOPS:].max() > FAR_ACTIVE else 0.0
        if self._frames % EVALUATE_EVERY == 0:
            self._evaluate()

    def _evaluate(self) -> None:
        if np.count_nonzero(self._far > FAR_ACTIVE) < self.LEAST_ACTIVE:
            return  # too little far-end audio, so keep the last result
        lag, follows = _lag_of(self._near, self._far)
        far = self._far[: WINDOW - lag]
        near, out = self._near[lag:], self._out[lag:]
        floor, out_floor = np.percentile(self._near, 10), np.percentile(self._out, 10)
        active = far > FAR_ACTIVE
        echo = near[active].mean() - floor
        if follows < self.FOLLOWS or echo < floor:
            self.erle_db = None  # headphones, or only noise
            self._sum_near = self._sum_out = 0.0
            self._judge(False)
            return
        share = near / np.maximum(far, TINY)
        usual = np.percentile(share[active], 30)
        alone = active & (share < 6.0 * usual)
        self._sum_near = self.FORGET * self._sum_near + max(0.0, float((near[alone] - floor).sum()))
        left = max(float((out[alone] - min(out_floor, floor)).sum()), 0.05 * floor * np.count_nonzero(alone), TINY)
        self._sum_out = self.FORGET * self._sum_out + left
        self.erle_db = round(float(10.0 * np.log10(max(self._sum_near, TINY) / self._sum_out)), 1)
        loud = np.percentile(out[active], 90)
        audible = loud > max(self.AUDIBLE, self.SPEECH_OVER_NOISE * min(out_floor, floor))
        self._judge(bool(audible) and _correlation(out, far) > self.FOLLOWS)

    def _judge(self, remains: bool) -> None:
        if self._active_seconds < self.CONVERGING_SECONDS:
            return
        self._raised = self._raised + 1 if remains else 0
        self._cleared = 0 if remains else self._cleared + 1
        if self._raised >= self.RAISE_AFTER:
            self.echo_remains = True
        elif self._cleared >= self.CLEAR_AFTER:
            self.echo_remains = False


def _lag_of(near: np.ndarray, far: np.ndarray) -> tuple[int, float]:
    """Returns the lag in hops at which the loudness of `near` best follows that of `far`, and their correlation."""
    correlations = [_correlation(near[lag:], far[: len(far) - lag]) for lag in range(MOST_LAG + 1)]
    best = int(np.argmax(correlations))
    return best, correlations[best]


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the correlation of two loudness curves in decibels, floored at -75 dBFS; 0 if one is constant."""
    a, b = (np.log10(np.maximum(x, 10**-7.5)) for x in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 1e-9 else 0.0


POLL_SECONDS = 0.004
"""Interval for polling the incomplete frame when a hop is due. Each poll takes 0.1 ms."""


class EchoCancelledSource(WrappedSource):
    """An `AudioSource` that removes the echo of `tap` from `source`. Also implements `EarlySampleSource`.

    Entering loads the canceller, which takes 0.6 s and must not be done on an event loop, and then opens `source`. The
    processing runs in `read_frame` on the frame thread, takes about 2 ms per frame and blocks only on `source`. If
    `source` has a `generation` attribute, it must have the same meaning as `Tap.generation`.

    If `source` is a `PeekableSource` and `on_early_samples` is set, hops of 20 ms are processed and delivered before
    their frame is complete. The complete frame must then contain the same samples, so hops are delivered early only
    after a frame that passed without attenuation.
    """

    def __init__(
        self, source: AudioSource, tap: Tap, processing: Processing | None = None, store: EchoStore | None = None
    ) -> None:
        super().__init__(source)
        self._store = store
        self._canceller = EchoCanceller(processing or Processing())
        self._aligner = FarEndAligner(tap)
        self._remover = EchoRemover(self._canceller, self._aligner, store)
        self._meter = EchoMeter()
        self.on_early_samples: Callable[[np.ndarray], None] | None = None
        self._early_source = source if isinstance(source, PeekableSource) else None
        self._early = EarlyHops()
        self._generation = self._source_generation
        self._overruns = 0
        self._alignments = 0

    @property
    def problem(self) -> str:
        """A user-facing message while audio processing is unavailable, otherwise empty."""
        return self._canceller.problem

    @property
    def health(self) -> SoundHealth:
        """The current measurements. `underruns` is always 0, because only the loudspeaker can count them."""
        return SoundHealth(
            erle_db=self._meter.erle_db,
            echo_remains=self._meter.echo_remains,
            drift_ppm=self._aligner.drift_ppm,
            overrun_ms=self._source.overruns * 1000 // SAMPLE_RATE,
        )

    def set_processing(self, processing: Processing) -> None:
        """Applies these settings once they are loaded, without realigning the far end. Thread-safe."""
        self._canceller.set_processing(processing)

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """Returns the next processed frame, or None after `timeout` seconds. Propagates any error of `source`."""
        while True:
            wait = min(self._process_early(), timeout)
            near = self._source.read_frame(wait)
            if near is not None:
                return self._process(near)
            timeout -= wait
            if timeout <= 0.0:
                return None

    def drop_to_newest(self) -> int:
        """Drops all queued frames of `source` but the newest, and the corresponding far-end audio."""
        dropped = self._source.drop_to_newest()
        if dropped:
            self._aligner.drop(dropped)
            self._early = EarlyHops()
        return dropped

    def __enter__(self) -> Self:
        self._canceller.load()  # before opening the source, which would otherwise queue audio in the meantime
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remover.store()
        if self._store is not None:
            self._store.save()
        super().__exit__(kind, error, trace)

    @property
    def _source_generation(self) -> int:
        return getattr(self._source, "generation", 0)

    def _process_early(self) -> float:
        """Processes and delivers the incomplete frame hop by hop. Returns the seconds until the next hop is due.

        Returns infinity if only the last hop is missing, since it is delivered with the complete frame.
        """
        source, listener, early = self._early_source, self.on_early_samples, self._early
        if source is None or listener is None or self._source.backlog or not self._is_steady:
            return math.inf
        arrived = source.ahead()
        while len(arrived) - early.samples >= HOP:
            near = arrived[early.samples : early.samples + HOP]
            far = self._aligner.take_early(HOP)
            if far is None:
                return POLL_SECONDS
            residual, out = self._remover.process_hop(near, far)
            early.append(near, far, residual, out)
            listener(out)
        due = early.samples + HOP
        return max((due - len(arrived)) / SAMPLE_RATE, POLL_SECONDS) if due < FRAME_SAMPLES else math.inf

    @property
    def _is_steady(self) -> bool:
        return (
            self._remover.is_steady
            and self._source.overruns == self._overruns
            and self._source_generation == self._generation
        )

    def _process(self, near: np.ndarray) -> np.ndarray:
        far = self._next_far_end()
        early, self._early = self._early, EarlyHops()
        if not np.array_equal(near[: early.samples], early.near):
            # The microphone was muted or replaced in the meantime.
            early.out = np.zeros_like(early.out)
        out = self._remover.process(near, far, early)
        if near.any():
            self._meter.update(near, joined(early.far, far), out)
        return out

    def _next_far_end(self) -> np.ndarray:
        """Returns the far end for the frame just read, and restarts the processing if the far end was realigned."""
        generation = self._source_generation
        if generation != self._generation:
            self._generation = generation
            self._overruns = self._source.overruns
            self._aligner.restart()
        overruns = self._source.overruns  # may increase at any moment
        lost, self._overruns = overruns - self._overruns, overruns
        if lost > 0:
            self._aligner.skip(lost)
        far = self._aligner.next_frame(self._source.backlog)
        if self._aligner.alignments != self._alignments:
            self._alignments = self._aligner.alignments
            self._remover.restart()
            self._meter.reset()
        return far
