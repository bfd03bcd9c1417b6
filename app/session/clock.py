"""A session's time: one timeline, which numbers the frames of the audio source without gaps and tells the time.

In simulations, an event loop with a virtual time takes the place of the machine's clock.
"""

from __future__ import annotations

import asyncio
import logging
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from itertools import takewhile
from typing import Any, TypeVar, TypeVarTuple, Unpack

import numpy as np

from app.audio.io.base import AudioSource, EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame, Loss, end_of_frame, silence

_log = logging.getLogger(__name__)

SLEPT_SECONDS = 30.0
"""If frames suddenly arrive later than this, the computer was asleep, and the session's time stood still."""

SLEPT_FOR_SECONDS = 2.0
"""Length of the silence that replaces the time in which the computer was asleep. It ends an open turn, so that speech
before and after is not joined."""

LOOK_SECONDS = 1.0
"""All frames must have been late for this long before audio counts as lost: a thread or driver that was only held up
catches up sooner."""

REMEMBERED_SECONDS = 10.0
"""How far back arrivals are compared. Two clocks that differ by 300 ppm drift by 3 ms meanwhile, 4 % of a frame."""

SLEW = 0.0005
"""Maximum rate at which the clock is set back, so that it never runs backwards by more than a rounding error."""


class Timeline:
    """The one place where a session counts time. It numbers the frames, fills gaps, and tells the time in between.

    Whatever loses audio (a stall, an overrun, a driver that doesn't report it), `arrived` replaces it by lost frames of
    silence, so that all consumers agree, whether they count frames or samples.

    `now`: any steady clock. It is anchored to the frames that arrive earliest relative to their number, and follows
    them, since the sound card's clock and the machine's drift apart by up to 0.4 s an hour. None: time stands still
    between frames, for conversations that run faster than real time.

    `frame_samples`: samples (24 kHz) in a frame. The frame thread adds frames; any thread may ask for the time.
    """

    def __init__(self, now: Callable[[], float] | None = time.perf_counter, frame_samples: int = FRAME_SAMPLES) -> None:
        self.frame_samples = frame_samples
        self.frame_seconds = frame_samples / SAMPLE_RATE
        self._now = now
        self._next = 0
        self._zero: float | None = None  # the value of `now` at the start of frame 0
        self._arrivals: deque[tuple[float, float]] = deque()
        """For frames that arrived with no others waiting: when, and how much later than their number says."""
        self._overrun = 0  # samples lost that don't make a whole frame yet

    def __call__(self) -> float:
        """Returns the session time in seconds, to the millisecond; 0 before the first frame."""
        if self._now is None:
            return self._frame_end
        return 0.0 if self._zero is None else round(max(0.0, self._now() - self._zero), 3)

    @property
    def _frame_end(self) -> float:
        return self._end(self._next - 1) if self._next else 0.0

    def _end(self, index: int) -> float:
        return end_of_frame(index, self.frame_samples)

    def begin_behind(self, samples: int) -> None:
        """Anchors the clock: the first frames, of this many samples in all, have already been read."""
        if self._now is not None and samples:
            self._zero = self._now() - samples / SAMPLE_RATE

    def early(self, samples: np.ndarray) -> Iterator[Frame]:
        """Yields the frames of samples that were read before the session began."""
        yield from map(self._number, samples.reshape(-1, self.frame_samples))

    def follow(self, samples: np.ndarray) -> Frame:
        """Returns the next frame, whenever it arrives."""
        self._keep_up(self._next)
        return self._number(samples)

    def _number(self, samples: np.ndarray, lost: Loss = "") -> Frame:
        self._next += 1
        return Frame(self._next - 1, samples, lost, self.frame_samples)

    def _keep_up(self, index: int) -> None:
        """Anchors the clock at frame `index`, which is there, if it isn't anchored or is behind by a frame."""
        if self._now is None:
            return
        zero = self._now() - self._end(index)
        if self._zero is not None and self._zero - zero > self.frame_seconds:
            _log.error("The clock was %.3f s behind frame %d", self._zero - zero, index)
            self._zero = zero
        elif self._zero is None:
            self._zero = zero

    def gap(self, frames: int, lost: Loss) -> Iterator[Frame]:
        """Yields this many lost frames."""
        for _ in range(frames):
            yield self._number(silence(self.frame_samples), lost)

    def arrived(self, samples: np.ndarray, *, dropped: int = 0, overrun: int = 0, backlog: int = 0) -> Iterator[Frame]:
        """Yields the lost frames before the audio that has just arrived, and its frames.

        - `samples`: one frame, or several.
        - `dropped`: frames before it that were given up.
        - `overrun`: samples before it that the source has lost.
        - `backlog`: frames that wait behind it. If any do, its lateness says nothing about the device.
        """
        frames = samples.reshape(-1, self.frame_samples)
        self._overrun += overrun
        missing = self._overrun // self.frame_samples
        self._overrun %= self.frame_samples
        if self._now is not None and not backlog:
            missing += self._missing(self._now(), self._next + dropped + missing + len(frames) - 1)
        newest = self._next + dropped + missing + len(frames) - 1
        if self._zero is None:
            newest += backlog * len(frames)  # which are there, too
        self._keep_up(newest)
        yield from self.gap(dropped, "late")
        yield from self.gap(missing, "device")
        yield from map(self._number, frames)

    def _missing(self, now: float, index: int) -> int:
        """Returns how many frames were lost before the frame `index`, which has arrived `now`. Anchors the clock."""
        arrivals = self._arrivals
        lag = now - self._end(index)
        if arrivals and lag - arrivals[-1][1] > SLEPT_SECONDS:
            slept = round(SLEPT_FOR_SECONDS / self.frame_seconds)
            arrivals.clear()
            arrivals.append((now, lag - slept * self.frame_seconds))
            self._zero = lag - slept * self.frame_seconds
            return slept
        arrivals.append((now, lag))
        while arrivals[0][0] < now - REMEMBERED_SECONDS:
            arrivals.popleft()
        lost = self._lost(now)
        if lost:
            arrivals.clear()
            arrivals.append((now, lag - lost * self.frame_seconds))
        self._anchor(min(lag for _, lag in arrivals))
        return lost

    def _lost(self, now: float) -> int:
        """Returns how many frames the latest arrivals are later than those before them."""
        since, middle = now - LOOK_SECONDS, now - LOOK_SECONDS / 2
        before = min((lag for _, lag in takewhile(lambda one: one[0] < since, self._arrivals)), default=None)
        earlier = min((lag for at, lag in self._arrivals if since <= at < middle), default=None)
        if before is None or earlier is None:
            return 0
        later = min(lag for at, lag in self._arrivals if at >= middle)
        if earlier - later > self.frame_seconds / 2:
            return 0  # the frames catch up after a pause
        return max(0, int((min(earlier, later) - before) / self.frame_seconds))

    def _anchor(self, zero: float) -> None:
        """Follows the earliest arrivals: forwards immediately, backwards slowly."""
        if self._zero is None or zero < self._zero:
            self._zero = zero
        else:
            self._zero = min(zero, self._zero + SLEW * self.frame_seconds)


BACKLOG_SECONDS = 0.4
"""With more audio than this waiting, the loop has fallen behind: it continues with the newest frame."""


class FrameReader:
    """Reads `source` as frames of `timeline`, without gaps. Used by one thread.

    The source's blocks are as long as a frame, or several frames long.

    `over`: called when a finite source has ended. The user is silent from then on.
    """

    def __init__(self, source: AudioSource, timeline: Timeline, over: Callable[[], object]) -> None:
        self._source = source
        self.timeline = timeline
        self._over = over
        self._overruns = source.overruns
        self.frame_seconds = timeline.frame_seconds
        self._most_waiting = BACKLOG_SECONDS * SAMPLE_RATE
        self._block = FRAME_SAMPLES  # samples that the source delivers at a time
        self.ended = False

    @property
    def block_seconds(self) -> float:
        """How long the source's latest block was, or a frame after its end."""
        return self.frame_seconds if self.ended else self._block / SAMPLE_RATE

    @property
    def backlog(self) -> int:
        """Blocks that can be read without waiting."""
        return 0 if self.ended else self._source.backlog

    def read(self, timeout: float) -> Iterator[Frame]:
        """Yields the next frames, after those that were lost before them.

        Yields none if no frame arrives within `timeout` seconds. Raises AudioError.
        """
        timeline = self.timeline
        if self.ended:
            yield timeline.follow(silence(timeline.frame_samples))
            return
        late = self._source.backlog * self._block > self._most_waiting
        dropped = self._source.drop_to_newest() if late else 0
        block = None
        try:
            block = self._source.read_frame(timeout)
        except EndOfAudio:
            self.ended = True
            self._over()
        frames = self._block // timeline.frame_samples
        if block is None:
            yield from timeline.gap(dropped * frames, "late")
            return
        self._block = len(block)
        overrun, self._overruns = self._source.overruns - self._overruns, self._source.overruns
        dropped, backlog = dropped * frames, self._source.backlog
        yield from timeline.arrived(block, dropped=dropped, overrun=overrun, backlog=backlog)


...


LONGEST_JOB_SECONDS = 5.0
"""If a thread works longer than this, it may be waiting for the simulated time, which then advances."""

_Args = TypeVarTuple("_Args")
_Result = TypeVar("_Result")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that advances the time instead of sleeping when there is nothing to select."""

    now = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.jobs: set[asyncio.Future[Any]] = set()
        """The loop's jobs on threads. They take no simulated time."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout is None or timeout > 0 else timeout)
        if not ready and self.jobs and timeout != 0:
            ready = super().select(LONGEST_JOB_SECONDS)
        if not ready and timeout is None:
            return super().select(None)  # nothing is scheduled
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop for simulations: `time()` starts at 0 and jumps to the next timer, but not past a thread's job."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """The simulated time in seconds."""
        return self._jumping.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Args]], _Result], *args: *_Args
    ) -> asyncio.Future[_Result]:
        """Runs `func` on a thread. Until it is done, the simulated time stands still."""
        future = super().run_in_executor(executor, func, *args)
        self._jumping.jobs.add(future)
        future.add_done_callback(self._jumping.jobs.discard)
        return future


def run_simulated(coroutine: Any) -> Any:
    """Runs `coroutine` in simulated time and returns its result."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
