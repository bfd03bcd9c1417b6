"""The microphone's sound without the app's own voice: an `AudioSource` over an `AudioSource`.

Puts together what brings both sounds in step, what takes the one out of the other (first a linear filter, which leaves
the user whole, then WebRTC for the rest), what quiets the rest until the filter has learned, and what measures how well
that went. Knows nothing of devices or sessions.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np

from app.audio.echo import EchoCanceller
from app.audio.endpoints import AudioSource, Tap
from app.audio.linear import LinearFilter
from app.audio.lockstep import Lockstep
from app.audio.residue import EchoMeter, ResidueGate
from app.audio.trust import Trust
from app.audio.wander import Wander
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.sound import Processing, SoundHealth


class CleanSource:
    """`source` without the echo of what `tap` played; as `AudioSource` otherwise.

    Entering opens `source` and loads the canceller (0.6 s: not on an event loop). All else happens in `read_frame`
    on the frame thread, in about 2 ms a frame and without waiting. Where `source` has an attribute `generation`, its
    rise means what the tap's means.
    """

    def __init__(self, source: AudioSource, tap: Tap, processing: Processing | None = None) -> None:
        self._source = source
        self._lockstep = Lockstep(tap)
        self._canceller = EchoCanceller(processing or Processing())
        self._meter = EchoMeter()
        self._filter = LinearFilter()
        self._wander = Wander()
        self._trust = Trust()
        self._gate = ResidueGate()
        self._cancelled = False
        self._generation = getattr(source, "generation", 0)
        self._lost = 0
        self._alignments = 0

    @property
    def name(self) -> str:
        """The source's name."""
        return self._source.name

    @property
    def overruns(self) -> int:
        """See `AudioSource`."""
        return self._source.overruns

    @property
    def backlog(self) -> int:
        """See `AudioSource`."""
        return self._source.backlog

    @property
    def problem(self) -> str:
        """A sentence for the user while the sound can't be processed as wanted, else empty."""
        return self._canceller.problem

    @property
    def health(self) -> SoundHealth:
        """How it does. `underruns` are the loudspeaker's to tell: 0 here."""
        return SoundHealth(
            erle_db=self._meter.erle_db,
            echo_remains=self._meter.echo_remains,
            drift_ppm=self._lockstep.drift_ppm,
            overrun_ms=self._source.overruns * 1000 // SAMPLE_RATE,
        )

    def set_processing(self, processing: Processing) -> None:
        """Processes in this way as soon as possible; any thread may call. The two sounds stay in step."""
        self._canceller.set_processing(processing)

    def settle(self) -> None:
        """Waits until the last `set_processing` has come into effect."""
        self._canceller.settle()

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """The next frame, cleaned; see `AudioSource.read_frame`, whose errors pass through."""
        near = self._source.read_frame(timeout)
        if near is None:
            return None
        generation = getattr(self._source, "generation", 0)
        if generation != self._generation:
            self._generation = generation
            self._lost = self._source.overruns
            self._lockstep.realign()
        lost, self._lost = self._source.overruns - self._lost, self._source.overruns
        if lost > 0:
            self._lockstep.skip(lost)
        far = self._lockstep.next_frame(self._source.backlog)
        if self._lockstep.alignments != self._alignments:
            self._alignments = self._lockstep.alignments
            for part in (self._filter, self._wander, self._trust, self._gate, self._meter):
                part.begin()
        if self._canceller.cancels != self._cancelled:
            self._cancelled = self._canceller.cancels
            for part in (self._filter, self._wander, self._trust, self._gate):
                part.begin()
        out = self._cancel(near, far) if self._cancelled else self._canceller.process(near, far)
        self._meter.measure(near, far, out)
        return out

    def _cancel(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        left = self._filter.process(near, far)
        if self._filter.active:
            faster = self._wander.measure(self._filter.weights, near, left)
            if faster is not None:
                self._lockstep.steer(faster)
        out = self._canceller.process(left, far)
        if not self._canceller.cancels:
            return near  # it has just broken
        quiet = self._gate.pass_through(near, far, out)
        # The gate costs the beginnings of words: it is for as long as the way isn't known.
        return out if self._trust.judge(near, far, left) else quiet

    def drop_to_newest(self) -> int:
        """See `AudioSource`; the far end skips the same time."""
        dropped = self._source.drop_to_newest()
        if dropped:
            self._lockstep.skip(dropped * FRAME_SAMPLES)
        return dropped

    def __enter__(self) -> Self:
        self._source.__enter__()
        try:
            self._canceller.load()
        except BaseException:
            self._source.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)
