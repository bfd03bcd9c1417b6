"""The session's time in seconds, and a loop whose time only moves when nothing else can happen.

`SessionClock` anchors real time to the sound; `VirtualTimeLoop` runs a minute of talk in a moment, the
same way each time, because every wait ends exactly when it should and costs nothing.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

from app.conversation.frame import end_of_frame

SLEPT_SECONDS = 30.0
"""Frames that arrive later than this are not late: time passed without the session."""


class SessionClock:
    """Seconds since the start of frame 0, finer than a frame.

    `now` is any steady clock, which `frame_ended` anchors at the first frame, and again where no frame has come for
    very long (the computer slept). None: the time stands still between frames, for talks that are run faster than they
    sound.
    """

    def __init__(self, now: Callable[[], float] | None = time.perf_counter) -> None:
        self._now = now
        self._zero: float | None = None
        self._frame_end = 0.0

    def frame_ended(self, index: int) -> None:
        """Frame `index` is complete."""
        self._frame_end = end_of_frame(index)
        if self._now is None:
            return
        zero = self._now() - self._frame_end
        if self._zero is None or zero - self._zero > SLEPT_SECONDS:
            self._zero = zero

    def __call__(self) -> float:
        """Return the session's time now, to the millisecond; 0 before the first frame."""
        if self._now is None:
            return self._frame_end
        return 0.0 if self._zero is None else round(max(0.0, self._now() - self._zero), 3)


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
