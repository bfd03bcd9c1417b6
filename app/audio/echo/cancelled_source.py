"""The microphone's sound without the app's own voice: an `AudioSource` over an `AudioSource`.

Puts together what brings both sounds in step, what tells whether there is an echo at all, what takes the one out of the
other (first a linear filter, which leaves the user whole, then WebRTC for the rest), what quiets the rest until the
filter has learned, and what measures how well that went. Where there is no echo, nothing is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from app.audio.echo.adaptive_filter import HOP, AdaptiveFilter
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.convergence import ConvergenceMonitor
from app.audio.echo.drift_estimator import DriftEstimator
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.presence import EchoPresence
from app.audio.echo.residual_echo import FAR_ACTIVE, EchoMeter, ResidualEchoGate, powers
from app.audio.io.base import AudioSource, ShowsAhead, Tap
from app.audio.io.wrapped_source import WrappedSource
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.sound_processing import Processing, SoundHealth

POLL_SECONDS = 0.004
"""How often the frame under way is looked at when a hop is due: each look costs 0.1 ms."""


UNTAUGHT_HOPS = 25
"""The filter has come to be sure that there is no echo behind so many sounding hops without one (0.5 s)."""

HEARD_HOPS = 6
"""Somebody who speaks is heard on for so long between two sounds (0.12 s)."""

FIT_TRIES = 10
"""Frames with an echo (0.8 s and more) in which what is known of it is tried; behind them it is dropped."""


KEEP_FRAMES = 64
"""What was learned is handed over every five seconds, since the devices may change at any moment."""


class EchoMemory(Protocol):
    """Keeps what was learned of an echo, by the pair of devices; see `EchoStore`. Only `save` may take its time."""

    @property
    def pair(self) -> Callable[[], str]:
        """Names the microphone and the loudspeaker in use now."""
        ...

    def recall(self, pair: str) -> KnownEchoPath | None:
        """What is known of these two."""
        ...

    def keep(self, pair: str, known: KnownEchoPath) -> None:
        """From now on this is what is known of them."""
        ...

    def save(self) -> None:
        """Keeps it for the next start, too."""
        ...


class EchoCancelledSource(WrappedSource):
    """`source` without the echo of what `tap` played; as `AudioSource` otherwise, and a `TellsAhead`.

    Entering loads the canceller (0.6 s: not on an event loop), then opens `source`. All else happens in `read_frame` on
    the frame thread, in about 2 ms a frame, and waits for nothing but `source`. Where `source` has an attribute
    `generation`, its rise means what the tap's means.

    Where `source` is a `ShowsAhead` and somebody listens, hops of 20 ms are processed and told while the frame is
    under way: those that will be just so in the frame, so only behind a frame of which nothing was quieted.
    """

    def __init__(
        self, source: AudioSource, tap: Tap, processing: Processing | None = None, memory: EchoMemory | None = None
    ) -> None:
        super().__init__(source)
        self._memory = memory
        self._pair = ""
        self._known: KnownEchoPath | None = None
        self._tries = self._frames = 0
        self._presence = EchoPresence()
        self._lockstep = FarEndAligner(tap)
        self._canceller = EchoCanceller(processing or Processing())
        self._meter = EchoMeter()
        self._filter = AdaptiveFilter()
        self._wander = DriftEstimator()
        self._trust = ConvergenceMonitor()
        self._gate = ResidualEchoGate()
        self._cancelled = False
        self._present = False  # whether there was an echo to cancel in the last frame
        self._open = self._spoke = self._remains = False
        self._spoken = 0
        self.on_ahead: Callable[[np.ndarray], None] | None = None
        self._shows = source if isinstance(source, ShowsAhead) else None
        self._head = _Head()
        self._generation = getattr(source, "generation", 0)
        self._lost = 0
        self._alignments = 0

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
        while True:
            wait = min(self._go_ahead(), timeout)
            near = self._source.read_frame(wait)
            if near is not None:
                return self._process(near)
            timeout -= wait
            if timeout <= 0.0:
                return None

    def _go_ahead(self) -> float:
        """Processes and tells what has come of the frame under way, by hops; seconds until the next one is due.

        The last hop comes with the frame, so that nothing is due before it: infinity.
        """
        source, told, head = self._shows, self.on_ahead, self._head
        if source is None or told is None or self._source.backlog or not self._is_steady:
            return math.inf
        coming = source.ahead()
        while len(coming) - head.samples >= HOP:
            near = coming[head.samples : head.samples + HOP]
            far = self._lockstep.ahead(HOP)
            if far is None:
                return POLL_SECONDS
            left = self._filter.process(near, far) if self._cancelled else near
            out = self._prefer(near, left, self._canceller.process(left, far))
            if self._cancelled and not self._present:
                out = self._canceller.process_without_echo(near)
            head.add(near, far, left, out)
            told(out)
        due = head.samples + HOP
        return max((due - len(coming)) / SAMPLE_RATE, POLL_SECONDS) if due < FRAME_SAMPLES else math.inf

    @property
    def _is_steady(self) -> bool:
        """Whether the next frame is to be processed as the last one was, and nothing of that was quieted."""
        return (
            self._canceller.cancels == self._cancelled
            and (self._open or not self._cancelled)
            and self._source.overruns == self._lost
            and getattr(self._source, "generation", 0) == self._generation
        )

    def _process(self, near: np.ndarray) -> np.ndarray:
        generation = getattr(self._source, "generation", 0)
        if generation != self._generation:
            self._generation = generation
            self._lost = self._source.overruns
            self._lockstep.realign()
        overruns = self._source.overruns  # it may rise at any moment
        lost, self._lost = overruns - self._lost, overruns
        if lost > 0:
            self._lockstep.skip(lost)
        far = self._lockstep.next_frame(self._source.backlog)
        if self._lockstep.alignments != self._alignments:
            self._alignments = self._lockstep.alignments
            self._begin()
            self._meter.begin()
            self._recall()
        if self._canceller.cancels != self._cancelled:
            self._cancelled = self._canceller.cancels
            self._begin()
        head, self._head = self._head, _Head()
        if not np.array_equal(near[: head.samples], head.near):
            # It was muted meanwhile, or is another microphone's.
            head.out = np.zeros_like(head.out)
        if not near.any():
            # Muted: nothing is to be learned from it, but what the loudspeaker plays meanwhile is still to be heard.
            self._open = False
            if self._cancelled:
                self._filter.process(near[head.samples :], far)
            return near
        if self._cancelled:
            out = self._cancel(near, far, head)
        else:
            out = _join(head.out, self._canceller.process(near[head.samples :], far))
        self._meter.measure(near, _join(head.far, far), out)
        return out

    def _begin(self) -> None:
        self._open = False
        self._present = False
        for part in (self._filter, self._wander, self._trust, self._gate, self._presence):
            part.begin()

    def _recall(self) -> None:
        """Takes up what is known of these devices. It is used once it is seen to fit."""
        self._known, self._tries = None, 0
        if self._memory is not None:
            self._pair = self._memory.pair()
            self._known = self._memory.recall(self._pair)

    def _keep(self) -> None:
        """Hands over what was learned of the devices in use, once it is trusted."""
        drift = self._lockstep.drift_ppm
        if self._memory is None or not self._present or not self._trust.trusted or drift is None:
            return
        if self._memory.pair() == self._pair:
            self._memory.keep(self._pair, KnownEchoPath(self._filter.response, drift))

    def _cancel(self, near: np.ndarray, far: np.ndarray, head: _Head) -> np.ndarray:
        """`far`: without its head."""
        left = self._filter.process(near[head.samples :], far)
        rest = near[head.samples :]
        cleaned = self._prefer(rest, left, self._canceller.process(left, far))
        left, far = _join(head.left, left), _join(head.far, far)
        if not self._canceller.cancels:
            return near  # it has just broken
        found = self._presence.measure(near, far)
        if self._presence.heard and not self._present:
            for part in (self._wander, self._trust, self._gate):
                part.begin()
            if self._filter.hops > UNTAUGHT_HOPS:
                self._filter.forget()
        self._present = self._presence.heard
        if not self._present:
            self._open = not self._presence.undecided
            heard = _join(head.out, self._canceller.process_without_echo(near[head.samples :]))
            return (
                heard * np.float32(ResidualEchoGate.CLOSED) if self._presence.doubtful and not head.samples else heard
            )
        out = _join(head.out, cleaned)
        if found and self._known is not None:
            self._use_known()
        if self._filter.active:
            faster = self._wander.measure(self._filter.weights, near, left)
            if faster is not None:
                self._lockstep.steer(faster)
        self._remains = self._trust.known and self._presence.remains(left)
        quiet = self._gate.pass_through(near, far, out)
        trusted = self._trust.judge(near, far, left)
        self._frames += 1
        if self._frames % KEEP_FRAMES == 0:
            self._keep()
        # The gate is open for somebody who speaks. In silence it is open, too, but closes with the first sound.
        self._open = trusted or (quiet is out and powers(far, HOP).max() > FAR_ACTIVE)
        # The gate costs the beginnings of words: it is for as long as the way isn't known. What was told stands.
        return out if trusted or head.samples else quiet

    def _prefer(self, near: np.ndarray, left: np.ndarray, out: np.ndarray) -> np.ndarray:
        """`out`, or what the filter left where somebody speaks, as long as WebRTC can't know the echo; whole hops.

        Where a filter that knew the way takes the echo from the first second on, WebRTC has had none to learn from, and
        takes any voice for one.
        """
        if not (self._present and self._trust.known and self._trust.trusted):
            return out
        chosen = out.copy()
        for start in range(0, len(near), HOP):
            hop = slice(start, start + HOP)
            speaks = self._trust.leaves(near[hop], left[hop])
            self._spoken = HEARD_HOPS if speaks and self._spoke else max(0, self._spoken - 1)
            self._spoke = speaks
            if self._spoken and not self._remains:
                chosen[hop] = left[hop]
        return chosen

    def _use_known(self) -> None:
        """Goes on from what was learned in an earlier talk, if that fits what is heard."""
        assert self._known is not None
        fitted = self._presence.fitted(self._known)
        self._tries += 1
        if fitted is not None:
            self._lockstep.know(fitted.drift_ppm)
            self._filter.know(fitted.response)
            self._trust.begin(known=True)
            self._gate.begin(known=True)
        if fitted is not None or self._tries >= FIT_TRIES:
            self._known = None

    def drop_to_newest(self) -> int:
        """See `AudioSource`; the far end skips the same time."""
        dropped = self._source.drop_to_newest()
        if dropped:
            self._lockstep.drop(dropped)
            self._head = _Head()
        return dropped

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            self._keep()
            self._memory.save()
        super().__exit__(kind, error, trace)

    def __enter__(self) -> Self:
        self._canceller.load()  # first, or sound would pile up meanwhile
        return super().__enter__()


class _Head:
    """What of the frame under way is processed already: four float32 (samples,), the microphone's, the far end's, what
    the filter left and what came out."""

    def __init__(self) -> None:
        self.near = self.far = self.left = self.out = np.zeros(0, np.float32)

    @property
    def samples(self) -> int:
        return len(self.near)

    def add(self, near: np.ndarray, far: np.ndarray, left: np.ndarray, out: np.ndarray) -> None:
        """The next hop of each."""
        self.near, self.far = _join(self.near, near), _join(self.far, far)
        self.left, self.out = _join(self.left, left), _join(self.out, out)


def _join(head: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Both together: `rest` itself where there is no head."""
    return np.concatenate([head, rest]) if len(head) else rest
