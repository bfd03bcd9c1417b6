"""The session's parts: the frame thread, lost sound, which words were heard, and work replaced by newer work."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame
from app.frontend.base import Said
from app.session.backend_pool import LatestTask
from app.session.clock import SLEPT_SECONDS, SessionClock, run_simulated
from app.session.frame_thread import FrameThread, LostSound
from app.session.playback import Playback
from tests.support.child import run_python

STEPS = 90


@dataclass
class Machine:
    """Stepper and source with one clock. The step `held_at` takes `held` seconds longer than a frame lasts."""

    sound: int
    held_at: int = -1
    held: float = 0.0
    lost_at: int = -1
    now: float = 100.0
    read: int = 0
    backlog: int = 0
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """The index of each frame, and how many were dropped and missing before it."""
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        parts: Any = self
        self.thread = FrameThread(
            parts, parts, lambda message: None, self.failures.append, lambda: None, now=lambda: self.now
        )

    def run(self) -> list[tuple[int, int, int]]:
        """Steps until there are enough."""
        self.thread._run()
        assert self.failures == []
        return self.steps

    def read_frame(self, timeout: float) -> np.ndarray:
        """The next frame; the device gives nothing for a second before the frame `lost_at`."""
        if self.read == self.sound:
            raise EndOfAudio("The file is over.")
        if self.read == self.lost_at:
            self.now += 1.0
        self.read += 1
        return np.zeros(1920, np.float32)

    def drop_to_newest(self) -> int:
        """There is never more than one frame."""
        return 0

    def step(self, frame: Frame, *, dropped: int = 0, missing: int = 0) -> None:
        """Lets time pass."""
        self.steps.append((frame.index, dropped, missing))
        self.now += FRAME_SECONDS + (self.held if len(self.steps) == self.held_at else 0.0)
        if len(self.steps) == STEPS:
            self.thread.stop()


def test_what_the_device_loses_is_counted_and_is_not_called_slowness() -> None:
    steps = Machine(sound=STEPS, lost_at=40).run()
    assert [(dropped, missing) for _, dropped, missing in steps if dropped or missing] == [(0, 12)]
    assert steps[-1][0] == STEPS - 1 + 12


def test_a_file_that_is_over_loses_nothing_however_late_a_step_is() -> None:
    steps = Machine(sound=10, held_at=40, held=1.2).run()
    assert steps == [(index, 0, 0) for index in range(STEPS)]


def test_a_thread_that_computes_holds_a_frame_up_for_less_than_a_millisecond_at_a_time() -> None:
    found = run_python("-c", "import app, sys; print(sys.getswitchinterval())", check=True)
    assert float(found.stdout) < 0.001


def told(lag: Callable[[int], float], frames: int = 400, backlog: Callable[[int], int] = lambda number: 0) -> list[int]:
    """What is said to be missing, where the frame `number` comes `lag(number)` seconds late; nothing left out."""
    lost, index, said = LostSound(), 0, []
    for number in range(frames):
        now = 100.0 + number * FRAME_SECONDS + lag(number)
        missing = lost.missing(now, index, backlog(number))
        index += 1 + missing
        if missing:
            said.append(missing)
    return said


def after(number: int, seconds: float) -> Callable[[int], float]:
    return lambda at: seconds if at >= number else 0.0


def test_what_was_lost_is_told_once() -> None:
    assert told(after(100, 1.03)) == [12]
    assert told(lambda number: after(100, 0.5)(number) + after(200, 0.25)(number)) == [6, 3]


@pytest.mark.parametrize(
    "lag",
    [
        lambda number: 0.0,
        lambda number: 0.02 * (number % 3),
        after(100, 0.079),
        lambda number: 0.9 if number % 10 == 0 else 0.0,
        lambda number: max(0.0, 0.9 - 0.08 * (number - 100)) if number >= 100 else 0.0,
        lambda number: number * FRAME_SECONDS * 0.0005,
        after(0, 5.0),
    ],
    ids=["even", "uneven", "less than a frame", "held up", "catches up", "another clock", "late from the first"],
)
def test_what_is_only_late_is_not(lag: Callable[[int], float]) -> None:
    assert told(lag) == []


def test_what_comes_late_after_a_long_pause_of_all_frames_is_not_lost() -> None:
    """A process that was held for seconds reads on faster than real time, without a backlog that it could see."""
    held = 5.0
    assert told(lambda number: max(0.0, held - 0.04 * (number - 100)) if number >= 100 else 0.0, 900) == []


def test_frames_that_waited_here_tell_nothing_of_the_device() -> None:
    assert told(after(100, 1.03), frames=150, backlog=lambda number: int(number >= 100)) == []


def test_a_computer_that_slept_has_lost_nothing() -> None:
    assert told(after(100, SLEPT_SECONDS + 3600.0)) == []


@pytest.mark.parametrize(("slept", "then"), [(3600.0, 0.16), (1.0, 1.16)])
def test_the_sessions_time_does_not_pass_while_the_computer_sleeps(slept: float, then: float) -> None:
    now = [50.0]
    clock = SessionClock(lambda: now[0])
    clock.frame_ended(0)
    now[0] += FRAME_SECONDS + slept
    clock.frame_ended(1)
    assert clock() == pytest.approx(then)


def test_a_threads_work_takes_no_simulated_time() -> None:
    """Otherwise simulated timeouts would expire while a slow machine's thread is still working."""

    async def talk() -> tuple[float, float]:
        loop = asyncio.get_running_loop()

        async def work() -> float:
            await asyncio.to_thread(time.sleep, 0.2)
            return loop.time()

        working = asyncio.create_task(work())
        await asyncio.sleep(1.0)
        return await working, loop.time()

    assert run_simulated(talk()) == (0.0, 1.0)


def test_what_a_lost_device_took_along_is_said_again_and_was_not_heard_before() -> None:
    sink = SimpleNamespace(keeps_time=True, queued=0, flushed=0, underruns=0, write=lambda samples: None)
    told: list[tuple[int, int]] = []
    playback = Playback(sink, lambda samples, words: told.append((samples, words)), replaceable=True)
    for words in ("It is", "Paris."):
        playback.write(np.ones(FRAME_SAMPLES, np.float32), speaking=True)
        playback.add_words(0.0, Said(words, FRAME_SAMPLES, 1, 1))
    sink.queued = FRAME_SAMPLES
    assert [said.text for said in playback.heard(0.2)] == ["It is"]
    sink.queued, sink.flushed = 0, FRAME_SAMPLES  # it disappears in the middle of a step
    assert playback.heard(0.2) == []
    assert playback.lost_with_device() == FRAME_SAMPLES
    assert told == [(FRAME_SAMPLES, 1)]
    assert playback.heard(0.3) == []


class Log(list[str]):
    """Makes work that notes its begin and end, and takes a while to end when it is cancelled."""

    def work(self, name: str, seconds: float = 60.0) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            self.append(f"begin {name}")
            try:
                await asyncio.sleep(seconds)
            finally:
                await asyncio.sleep(0.02)
                self.append(f"end {name}")

        return run


async def test_three_in_a_row_never_overlap() -> None:
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await asyncio.sleep(0)
    task.start(log.work("third", 0.0))
    await task.wait()
    assert log == ["begin first", "end first", "begin third", "end third"]
    assert not task.running


async def test_stopping_waits_for_all_that_was_begun() -> None:
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await task.stop()
    assert log == ["begin first", "end first"]


async def test_stopping_raises_what_the_work_raised() -> None:
    async def fails() -> None:
        raise ValueError("broken")

    task = LatestTask("test")
    task.start(fails)
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="broken"):
        await task.stop()
    await task.stop()  # nothing is left to be raised
