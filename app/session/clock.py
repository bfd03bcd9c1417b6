"""The session's time: one timeline of frames without gaps, and an event loop for simulated time."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from itertools import takewhile
from typing import Any, TypeVar, TypeVarTuple, Unpack

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame, Loss, end_of_frame, silence

SLEPT_SECONDS = 30.0
"""If frames suddenly arrive later than this, the computer slept, and the session's time stood still meanwhile."""

SLEPT_FRAMES = 25
"""Frames of silence (2 s) that stand for the time in which the computer slept: they end an open turn, so that nothing
said before is joined with what is said after."""

LOOK_SECONDS = 1.0
"""All frames must have been late for this long before audio counts as lost: a thread or driver that was only held up
catches up sooner."""

REMEMBERED_SECONDS = 10.0
"""How far back arrivals are compared. Two clocks that differ by 300 ppm drift by 3 ms meanwhile, 4 % of a frame."""

SLEW = 0.0005
"""Maximum rate at which the clock is set back, so that it never runs backwards by more than a rounding error."""


class Timeline:
    """The one place where a session counts time. It numbers the frames, fills gaps, and tells the time in between.

    Whatever loses audio (a stall, an overrun, a driver that says nothing), `arrived` puts lost frames of silence in its
    place, so that everybody who counts frames or samples agrees with everybody else.

    `now`: any steady clock. It is anchored to the frames that arrive earliest relative to their number, and follows
    them, since the sound card's clock and the machine's drift apart by up to 0.4 s an hour. None: time stands still
    between frames, for conversations that run faster than real time.

    The frame thread adds frames; any thread may ask for the time.
    """

    def __init__(self, now: Callable[[], float] | None = time.perf_counter) -> None:
        self._now = now
        self._next = 0
        self._zero: float | None = None  # the value of `now` at the start of frame 0
        self._arrivals: deque[tuple[float, float]] = deque()
        """For frames that arrived with none waiting behind: when, and how much later than their number says."""
        self._overrun = 0  # samples lost that don't make a whole frame yet

    def __call__(self) -> float:
        """Returns the session time in seconds, to the millisecond; 0 before the first frame."""
        if self._now is None:
            return self._frame_end
        return 0.0 if self._zero is None else round(max(0.0, self._now() - self._zero), 3)

    @property
    def _frame_end(self) -> float:
        return end_of_frame(self._next - 1) if self._next else 0.0

    def follow(self, samples: np.ndarray, lost: Loss = "") -> Frame:
        """Returns the next frame, whenever it arrives."""
        frame = Frame(self._next, samples, lost)
        self._next += 1
        if self._zero is None and self._now is not None:
            self._zero = self._now() - frame.at
        return frame

    def gap(self, frames: int, lost: Loss) -> Iterator[Frame]:
        """Yields this many lost frames."""
        for _ in range(frames):
            yield self.follow(silence(), lost)

    def arrived(self, samples: np.ndarray, *, dropped: int = 0, overrun: int = 0, backlog: int = 0) -> Iterator[Frame]:
        """Yields the lost frames before the frame that has just arrived, and that frame.

        - `dropped`: frames before it that were given up.
        - `overrun`: samples before it that the source has lost.
        - `backlog`: frames that wait behind it. If any do, its lateness says nothing about the device.
        """
        self._overrun += overrun
        missing = self._overrun // FRAME_SAMPLES
        self._overrun %= FRAME_SAMPLES
        if self._now is not None and not backlog:
            missing += self._missing(self._now(), self._next + dropped + missing)
        yield from self.gap(dropped, "late")
        yield from self.gap(missing, "device")
        yield self.follow(samples)

    def _missing(self, now: float, index: int) -> int:
        """Returns how many frames were lost before the frame `index`, which has arrived `now`. Anchors the clock."""
        arrivals = self._arrivals
        lag = now - end_of_frame(index)
        if arrivals and lag - arrivals[-1][1] > SLEPT_SECONDS:
            arrivals.clear()
            arrivals.append((now, lag - SLEPT_FRAMES * FRAME_SECONDS))
            self._zero = lag - SLEPT_FRAMES * FRAME_SECONDS
            return SLEPT_FRAMES
        arrivals.append((now, lag))
        while arrivals[0][0] < now - REMEMBERED_SECONDS:
            arrivals.popleft()
        lost = self._lost(now)
        if lost:
            arrivals.clear()
            arrivals.append((now, lag - lost * FRAME_SECONDS))
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
        if earlier - later > FRAME_SECONDS / 2:
            return 0  # the frames catch up after a pause
        return max(0, int((min(earlier, later) - before) / FRAME_SECONDS))

    def _anchor(self, zero: float) -> None:
        """Follows the earliest arrivals: forwards immediately, backwards slowly."""
        if self._zero is None or zero < self._zero:
            self._zero = zero
        else:
            self._zero = min(zero, self._zero + SLEW * FRAME_SECONDS)


LONGEST_JOB_SECONDS = 5.0
"""A thread that works longer than this may be waiting for the simulated time, which then advances."""

_Args = TypeVarTuple("_Args")
_Result = TypeVar("_Result")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that advances the time instead of sleeping when there is nothing to select."""

    now = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.jobs: set[asyncio.Future[Any]] = set()
        """What threads are working on for the loop. It takes no simulated time."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout is None or timeout > 0 else timeout)
        if not ready and self.jobs and timeout != 0:
            ready = super().select(LONGEST_JOB_SECONDS)
        if not ready and timeout is None:
            return super().select(None)  # only the outside world can go on
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
    """Run `coroutine` in simulated time and return its result."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
