"""The microphone's sound without the app's own voice: an `AudioSource` over an `AudioSource`."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np

from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.early_hops import EarlyHops, joined
from app.audio.echo.echo_meter import EchoMeter
from app.audio.echo.echo_remover import EchoRemover
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.power import HOP
from app.audio.echo.store import EchoStore
from app.audio.io.base import AudioSource, PeekableSource, Tap
from app.audio.io.wrapped_source import WrappedSource
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.sound_processing import Processing, SoundHealth

POLL_SECONDS = 0.004
"""How often the incomplete frame is checked when a hop is due: each check costs 0.1 ms."""


class EchoCancelledSource(WrappedSource):
    """Delivers `source` without the echo of what `tap` played; also an `EarlySampleSource`.

    Entering loads the canceller (0.6 s: not on an event loop), then opens `source`. Everything else happens in
    `read_frame` on the frame thread, in about 2 ms a frame, and waits for nothing but `source`. If `source` has an
    attribute `generation`, it means the same as the tap's.

    If `source` is a `PeekableSource` and `on_early_samples` is set, hops of 20 ms are processed and passed on before
    their frame is complete, provided that they will be the same in the frame: only after a frame of which nothing was
    attenuated.
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
        """A sentence for the user while the processing isn't possible, else empty."""
        return self._canceller.problem

    @property
    def health(self) -> SoundHealth:
        """The current measurements, but for the loudspeaker's `underruns`: 0 here."""
        return SoundHealth(
            erle_db=self._meter.erle_db,
            echo_remains=self._meter.echo_remains,
            drift_ppm=self._aligner.drift_ppm,
            overrun_ms=self._source.overruns * 1000 // SAMPLE_RATE,
        )

    def set_processing(self, processing: Processing) -> None:
        """Applies this processing as soon as possible; any thread may call it. The alignment stays."""
        self._canceller.set_processing(processing)

    def wait_until_loaded(self) -> None:
        """Waits until the last `set_processing` has taken effect."""
        self._canceller.wait_until_loaded()

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """Returns the next frame, processed; the errors of `source` pass through."""
        while True:
            wait = min(self._process_early(), timeout)
            near = self._source.read_frame(wait)
            if near is not None:
                return self._process(near)
            timeout -= wait
            if timeout <= 0.0:
                return None

    def drop_to_newest(self) -> int:
        """The far end skips the same time."""
        dropped = self._source.drop_to_newest()
        if dropped:
            self._aligner.drop(dropped)
            self._early = EarlyHops()
        return dropped

    def __enter__(self) -> Self:
        self._canceller.load()  # first, or sound would pile up meanwhile
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
        """Processes and passes on the incomplete frame, hop by hop; returns the seconds until the next hop is due.

        The last hop comes with the frame, so that nothing is due before it: infinity.
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
            # The microphone was muted or replaced meanwhile.
            early.out = np.zeros_like(early.out)
        out = self._remover.process(near, far, early)
        if near.any():
            self._meter.update(near, joined(early.far, far), out)
        return out

    def _next_far_end(self) -> np.ndarray:
        """Returns the far end of the frame that was just read; starts over if it was aligned again."""
        generation = self._source_generation
        if generation != self._generation:
            self._generation = generation
            self._overruns = self._source.overruns
            self._aligner.restart()
        overruns = self._source.overruns  # it may rise at any moment
        lost, self._overruns = overruns - self._overruns, overruns
        if lost > 0:
            self._aligner.skip(lost)
        far = self._aligner.next_frame(self._source.backlog)
        if self._aligner.alignments != self._alignments:
            self._alignments = self._aligner.alignments
            self._remover.restart()
            self._meter.reset()
        return far
