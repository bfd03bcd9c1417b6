"""The session's parts: the frame thread, lost sound, which words were heard, and work replaced by newer work."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame, Position, silence
from app.conversation.speaking.revisions import OracleAsked, OracleDone, OracleWords
from app.conversation.speaking.spoken_answer import Said
from app.frontend.base import LOUD
from app.session import frame_thread
from app.session.clock import SLEPT_FOR_SECONDS, SLEPT_SECONDS, FrameReader, Timeline, run_simulated
from app.session.frame_thread import FrameThread
from app.session.mailbox import Mailbox, SetDuplex, WordsHint
from app.session.parts import LatestTask, Loader
from app.session.playback import Playback
from app.stt.base import RATE
from app.stt.silero import SileroVoiceActivity
from app.stt.streaming import SoundBuffer
from tests.conftest import Faults
from tests.support.child import run_python
from tests.support.tables import cases

STEPS = 90


@dataclass
class Machine:
    """Stepper and source with one clock. The step `held_at` takes `held` seconds longer than a frame lasts."""

    sound: int
    held_at: int = -1
    held: float = 0.0
    lost_at: int = -1
    overrun_at: int = -1
    now: float = 100.0
    read: int = 0
    backlog: int = 0
    overruns: int = 0
    steps: list[Frame] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        parts: Any = self
        reader = FrameReader(parts, Timeline(lambda: self.now), lambda: None)
        self.thread = FrameThread(parts, reader, lambda message: None, self.failures.append, now=lambda: self.now)

    def run(self) -> list[Frame]:
        """Steps until there are enough frames. They follow each other without gaps."""
        self.thread._run()
        assert self.failures == []
        assert [frame.index for frame in self.steps] == list(range(len(self.steps)))
        return self.steps

    def lost(self) -> dict[str, int]:
        causes = [frame.lost for frame in self.run()]
        return {cause: causes.count(cause) for cause in set(causes) - {""}}

    def read_frame(self, timeout: float) -> np.ndarray:
        """The next frame; before the frame `lost_at` the device delivers nothing for a second, without a word, and
        before `overrun_at` it reports one and a half frames as lost."""
        if self.read == self.sound:
            raise EndOfAudio("The file is over.")
        if self.read == self.lost_at:
            self.now += 1.0
        if self.read == self.overrun_at:
            self.now += 1.5 * FRAME_SECONDS
            self.overruns += FRAME_SAMPLES * 3 // 2
        self.read += 1
        return np.ones(FRAME_SAMPLES, np.float32)

    def drop_to_newest(self) -> int:
        dropped, self.backlog = self.backlog - 1, 1
        return dropped

    def prepare(self) -> None:
        """Nothing is known before the next frame."""

    def step(self, frame: Frame) -> None:
        """Lets the time of a frame pass. What a slow step leaves waiting is the backlog."""
        self.steps.append(frame)
        assert frame.samples.any() == (not frame.lost) or self.read == self.sound
        if frame.lost:
            return
        if self.backlog:
            self.backlog -= 1
        else:
            self.now += FRAME_SECONDS
        if len(self.steps) == self.held_at:
            self.now += self.held
            self.backlog = round(self.held / FRAME_SECONDS)
        if len(self.steps) >= STEPS:
            self.thread.stop()


def test_what_is_lost_of_the_sound_becomes_a_gap_and_a_stall_alone_does_not() -> None:
    assert Machine(sound=STEPS, lost_at=40).lost() == {"device": 12}
    machine = Machine(sound=STEPS, overrun_at=40)
    assert machine.lost() == {"device": 1}, "half a frame isn't one"
    assert machine.steps[40].lost
    assert Machine(sound=STEPS, held_at=40, held=1.04).lost() == {"late": 12}
    assert Machine(sound=STEPS, held_at=40, held=0.4).lost() == {}
    assert Machine(sound=10, held_at=40, held=1.2).lost() == {}


def test_a_clock_that_is_behind_the_frames_follows_them_and_reports_it(faults: Faults) -> None:
    timeline = Timeline(lambda: 100.0)
    frames = [timeline.follow(silence()) for _ in range(10)]
    assert timeline() >= frames[-1].at - FRAME_SECONDS - 0.001
    assert faults.found
    faults.found.clear()


@pytest.mark.parametrize("length", [FRAME_SAMPLES, 960, 480])
def test_consumers_count_the_same_whatever_the_length_of_a_frame(length: int) -> None:
    """And so they do if they join in the middle of a session."""
    heard, buffered, begin = SileroVoiceActivity(), SoundBuffer(), 40 * FRAME_SAMPLES // length
    for index in range(begin, begin + 400 * FRAME_SAMPLES // length):
        frame = Frame(index, silence(length), length=length)
        windows = heard.hear(frame)
        buffered.push(frame)
        assert not windows or -0.05 < windows[-1].end - frame.at <= 0
        assert -FRAME_SECONDS < buffered.last / RATE - frame.at <= 0
    assert buffered.first == 40 * FRAME_SAMPLES * RATE // SAMPLE_RATE


def test_a_consumer_that_miscounts_is_put_right_and_reported(faults: Faults) -> None:
    position = Position("test", RATE)
    position.take(Frame(0, silence()))
    assert position.count(1280) == 1280 and not faults.found
    position.take(Frame(1, silence()))
    assert position.count(5000) == 2 * 1280
    assert len(faults.found) == 1
    faults.found.clear()


def test_a_thread_that_computes_holds_a_frame_up_for_less_than_a_millisecond_at_a_time() -> None:
    found = run_python("-c", "import app, sys; print(sys.getswitchinterval())", check=True)
    assert float(found.stdout) < 0.001


def gaps(lag: Callable[[int], float], frames: int = 400, backlog: Callable[[int], int] = lambda number: 0) -> list[int]:
    """Returns the lengths of the gaps that are found, where frame `number` arrives `lag(number)` seconds late."""
    now = [100.0]
    timeline, found = Timeline(lambda: now[0]), []
    for number in range(frames):
        now[0] = 100.0 + number * FRAME_SECONDS + lag(number)
        *lost, frame = timeline.arrived(np.ones(FRAME_SAMPLES, np.float32), backlog=backlog(number))
        assert not frame.lost and all(one.lost == "device" for one in lost)
        if lost:
            found.append(len(lost))
    return found


def after(number: int, seconds: float) -> Callable[[int], float]:
    return lambda at: seconds if at >= number else 0.0


def test_what_was_lost_is_told_from_what_waited() -> None:
    assert gaps(after(100, 1.03)) == [12]
    assert gaps(lambda number: after(100, 0.5)(number) + after(200, 0.25)(number)) == [6, 3]
    assert gaps(after(100, 1.03), frames=150, backlog=lambda number: int(number >= 100)) == []


@cases(
    "lag",
    lambda number: 0.0,
    lambda number: 0.02 * (number % 3),
    after(100, 0.079),
    lambda number: 0.9 if number % 10 == 0 else 0.0,
    lambda number: max(0.0, 0.9 - 0.08 * (number - 100)) if number >= 100 else 0.0,
    lambda number: number * FRAME_SECONDS * 0.0005,
    after(0, 5.0),
    ids=["even", "uneven", "less than a frame", "held up", "catches up", "another clock", "late from the first"],
)
def test_what_is_only_late_is_not(lag: Callable[[int], float]) -> None:
    assert gaps(lag) == []


def test_what_comes_late_after_a_long_pause_of_all_frames_is_not_lost() -> None:
    """A process that was held for seconds reads on faster than real time, without a backlog that it could see."""
    held = 5.0
    assert gaps(lambda number: max(0.0, held - 0.04 * (number - 100)) if number >= 100 else 0.0, 900) == []


@pytest.mark.parametrize(("slept", "then"), [(3600.0, SLEPT_FOR_SECONDS + 0.16), (1.0, 1.16)])
def test_the_sessions_time_stands_still_while_the_computer_sleeps(slept: float, then: float) -> None:
    now = [50.0]
    timeline = Timeline(lambda: now[0])
    list(timeline.arrived(silence()))
    now[0] += FRAME_SECONDS + slept
    frames = list(timeline.arrived(silence()))
    assert timeline() == pytest.approx(then)
    assert len(frames) == (26 if slept > SLEPT_SECONDS else 1), "two seconds end an open turn"


@pytest.mark.parametrize("ppm", [-100, 100])
def test_the_clock_follows_a_device_for_hours(ppm: int) -> None:
    now = [50.0]
    timeline = Timeline(lambda: now[0])
    for number in range(45_000):  # an hour
        now[0] = 50.0 + (number + 1) * FRAME_SECONDS * (1 + ppm * 1e-6) + 0.004 * (number % 5)
        frames = list(timeline.arrived(silence()))
    assert timeline() == pytest.approx(frames[-1].at, abs=0.025) and len(frames) == 1


def test_the_clock_is_anchored_at_the_earliest_frames() -> None:
    """The first frame comes late: everything in between would be stamped too early for the whole conversation."""
    now = [50.0]
    timeline = Timeline(lambda: now[0])
    for number in range(50):
        now[0] = 50.0 + (number + 1) * FRAME_SECONDS + (0.1 if number == 0 else 0.0)
        frames = list(timeline.arrived(silence()))
    assert timeline() == pytest.approx(frames[-1].at, abs=0.002)


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


def test_while_nothing_is_said_all_that_is_not_loud_may_be_left_out() -> None:
    quiet: list[float] = []
    sink = SimpleNamespace(keeps_time=False, queued=0, flushed=0, underruns=0, quiet=0.003)
    sink.write = lambda samples: quiet.append(sink.quiet)
    playback = Playback(cast(Any, sink), lambda samples, words: None, replaceable=True)
    for speaking in (False, True, False):
        playback.write(np.full(FRAME_SAMPLES, 0.005, np.float32), speaking=speaking)
    assert quiet == [LOUD, 0.003, LOUD] and LOUD == 0.01


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


async def test_three_in_a_row_never_overlap_and_stopping_waits_for_all() -> None:
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await asyncio.sleep(0)
    task.start(log.work("third", 0.0))
    await task.wait()
    assert log == ["begin first", "end first", "begin third", "end third"]
    assert not task.running
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await task.stop()
    assert log == ["begin first", "end first"]


class Part:
    """A part that takes as long to open as `held` says."""

    loading = ""

    def __init__(self, name: str, log: list[str], held: threading.Event | None = None) -> None:
        self._name, self._log, self._held = name, log, held

    def __enter__(self) -> "Part":
        if self._held is not None:
            self._held.wait(10)
        self._log.append(f"{self._name} opened")
        return self

    def __exit__(self, *exc: object) -> None:
        self._log.append(f"{self._name} closed")

    async def open(self) -> None:
        self._log.append(f"{self._name} opened")


async def test_a_load_that_is_cancelled_closes_what_had_opened_and_what_opens_later() -> None:
    log: list[str] = []
    held = threading.Event()
    parts: Any = SimpleNamespace(
        recorder=None,
        frontend=Part("front-end", log, held),
        transcriber=Part("transcriber", log),
        backend=Part("back-end", log),
        sink=Part("sink", log),
        source=Part("source", log),
        edge=None,
        prepare=None,
        fallback=None,
    )
    loader = Loader(parts, simulated=False)
    loading = asyncio.create_task(loader.load(parts.backend.open))
    while "transcriber opened" not in log:
        await asyncio.sleep(0.01)
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    await loader.close()
    assert "transcriber closed" in log and "front-end opened" not in log
    held.set()
    while "front-end closed" not in log:
        await asyncio.sleep(0.01)


def test_parts_are_not_closed_while_a_step_still_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A front-end on a card would free the memory that its step computes with."""
    monkeypatch.setattr(frame_thread, "STOP_SECONDS", 0.01)
    log: list[str] = []
    stepping, held = threading.Event(), threading.Event()

    class Stepper:
        def step(self, frame: Frame) -> None:
            stepping.set()
            held.wait(10)
            log.append("step over")

    class Source:
        overruns = backlog = 0

        def read_frame(self, timeout: float) -> np.ndarray:
            return silence()

    parts: Any = SimpleNamespace(
        recorder=None,
        frontend=Part("front-end", log),
        transcriber=Part("transcriber", log),
        backend=Part("back-end", log),
        sink=Part("sink", log),
        source=Part("source", log),
        edge=None,
        prepare=None,
        fallback=None,
    )
    stepper, source = cast(Any, Stepper()), cast(Any, Source())
    reader = FrameReader(source, Timeline(), lambda: None)
    thread = FrameThread(stepper, reader, lambda message: None, log.append, now=time.perf_counter)

    async def session() -> None:
        loader = Loader(parts, simulated=False)
        await loader.load(parts.backend.open)
        thread.start()
        stepping.wait(10)
        assert not thread.stop()
        await loader.close(thread.join)

    asyncio.run(session())
    assert not [line for line in log if "closed" in line]
    held.set()
    (closing,) = [one for one in threading.enumerate() if one.name == "close parts later"]
    closing.join(10)
    assert log[-5:] == ["step over", "source closed", "sink closed", "transcriber closed", "front-end closed"]


def test_the_oracle_is_taken_from_the_queue_before_a_frame_and_nothing_else() -> None:
    mailbox = Mailbox()
    asked, hint, words = OracleAsked(1, 1, False), WordsHint(1, "What is", 1.0), OracleWords(1, 1, " It", 1.0)
    later, done = SetDuplex(True), OracleDone(1)
    for message in (asked, hint, words, later, done):
        mailbox.post(message)
    assert mailbox.take_oracle() == [asked, words]
    assert mailbox.take_oracle() == [], "what follows the setting keeps its place"
    assert mailbox.drain() == [hint, later, done]
