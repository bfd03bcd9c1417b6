"""The way of a frame around its step: reads it from the source, steps it, and handles the message about it.

In real time, frames are stepped on a thread of their own; the messages are handled on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame, silence
from app.session.clock import Timeline
from app.session.frame_loop import FrameStepper, StepMessage
from app.session.parts import Pace, SessionParts
from app.session.recorder import SoundMemory

_log = logging.getLogger(__name__)

WINDOW_SECONDS = 10.0
SKIPPED_SECONDS = 0.2
UNDERRUNS = 20
"""The user is told when this much of their voice was skipped within the window, or when the loudspeaker ran dry this
often."""
REPEAT_SECONDS = 60.0


class Overload:
    """Notices that the machine is too slow, over a sliding window."""

    def __init__(self) -> None:
        self._skipped: deque[tuple[float, float]] = deque()
        self._underruns: deque[tuple[float, int]] = deque()
        self._told_at = float("-inf")

    def skipped(self, at: float, seconds: float) -> e.Failure | None:
        """Notes that audio was skipped. Returns what the user should be told, at most once a minute."""
        self._skipped.append((at, seconds))
        return self._failure(at)

    def underrun(self, at: float, count: int) -> e.Failure | None:
        """Notes that the loudspeaker ran dry. Returns what the user should be told, at most once a minute."""
        self._underruns.append((at, count))
        return self._failure(at)

    def _failure(self, at: float) -> e.Failure | None:
        for noted in (self._skipped, self._underruns):
            while noted and at - noted[0][0] > WINDOW_SECONDS:
                noted.popleft()
        skipped = sum(seconds for _, seconds in self._skipped)
        underruns = sum(count for _, count in self._underruns)
        if skipped + 1e-9 >= SKIPPED_SECONDS:
            what = f"{skipped:.1f} s of your voice were skipped"
        elif underruns >= UNDERRUNS:
            what = f"the app's voice broke off {underruns} times"
        else:
            return None
        if at - self._told_at < REPEAT_SECONDS:
            return None
        self._told_at = at
        return e.Failure(
            at,
            "frontend",
            f"This machine can't keep up: {what} in the last {WINDOW_SECONDS:.0f} s. Close other programs, or choose a "
            "smaller precision, a shorter context or the built-in voice in the settings.",
        )


STOP_SECONDS = 5.0
"""How long the end of a session waits for the step that is running."""
STILL_RUNS = (
    "The voice engine is still busy with its last step, so its memory is freed later. If the next conversation can't "
    "load it, restart the app."
)
BACKLOG_SECONDS = 0.4
"""With more audio than this waiting, the loop has fallen behind: it continues with the newest frame."""


class FrameReader:
    """Reads `source` as frames of `timeline`, without gaps. Used by one thread.

    The source's blocks are as long as a frame, or several frames long.

    `over`: called when a finite source has ended. The user is silent from then on.
    """

    def __init__(self, source: AudioSource, timeline: Timeline, over: Callable[[], object]) -> None:
        self._source = source
        self._timeline = timeline
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
        timeline = self._timeline
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


class FrameThread:
    """Runs until `stop`.

    `deliver` gets each StepMessage, and `failed` a message for the user when the sound devices are gone. They are
    called on this thread and must only hand over.
    """

    def __init__(
        self,
        stepper: FrameStepper,
        reader: FrameReader,
        deliver: Callable[[StepMessage], object],
        failed: Callable[[str], object],
        *,
        now: Callable[[], float],
    ) -> None:
        self._stepper = stepper
        self._reader = reader
        self._deliver = deliver
        self._failed = failed
        self._now = now
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)

    def start(self) -> None:
        """Starts stepping."""
        self._thread.start()

    def stop(self) -> bool:
        """Ends the thread and waits up to `STOP_SECONDS` for it; returns whether it has ended.

        If a step still runs, the parts that it uses must not be closed before `join` has returned.
        """
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_SECONDS)
        return not self._thread.is_alive()

    def join(self) -> None:
        """Waits until the thread has ended, however long that takes."""
        self._thread.join()

    def _run(self) -> None:
        due = None
        try:
            while not self._stop.is_set():
                if self._reader.ended:
                    # The file is over: silence, at the pace of the audio before it.
                    due = (self._now() if due is None else due) + self._reader.frame_seconds
                    self._stop.wait(max(0.0, due - self._now()))
                for frame in self._reader.read(0.2):
                    self._deliver(self._stepper.step(frame))
        except AudioError as error:
            self._failed(str(error))
        except Exception as error:
            self._failed(
                f"The frame loop broke ({type(error).__name__}: {error}). This is a fault of the app: the conversation "
                "has ended, and what was said stays. Start it again."
            )


BROKEN_PART = (
    "Something in the app broke. The conversation continues, but part of what was said may be missing. If it happens "
    "again, start the conversation again and report this"
)


class StepHandlers:
    """Handles the messages of the frame loop, on the event loop's thread. A handler that raises affects no other.

    First, lost frames are counted, and both sides' audio is kept and recorded. Then come the session's `handlers`, in
    order, and at last the levels are measured.

    - `sound`: keeps audio to play again, if there is any.
    - `handlers`: each with the part of the app that is named if it raises.
    """

    def __init__(
        self,
        parts: SessionParts,
        sound: SoundMemory | None,
        emit: Callable[[e.Event], None],
        handlers: Sequence[tuple[e.Source, Callable[[StepMessage], None]]],
    ) -> None:
        self.frames = 0
        """How many frames have been handled."""
        self._parts = parts
        self._sound = sound
        self._emit = emit
        self._overload = Overload()
        self._lost: Counter[str] = Counter()  # frames lost since the last one that wasn't, by cause
        self._shed = 0
        self._broken: set[str] = set()  # parts whose faults the user knows
        self._handlers: tuple[tuple[e.Source, Callable[[StepMessage], None]], ...] = (
            ("audio", self._count_lost),
            ("recorder", self._keep),
            *handlers,
            ("audio", self._measure),
        )

    def handle(self, message: StepMessage) -> None:
        """Calls the handlers."""
        if message.frame.index != self.frames:
            _log.error("Frame %d follows frame %d", message.frame.index, self.frames - 1)
        self.frames = message.frame.index + 1
        for part, handler in self._handlers:
            try:
                handler(message)
            except Exception as error:
                self._on_broken_part(part, message, error)

    def _on_broken_part(self, part: e.Source, message: StepMessage, error: Exception) -> None:
        """Logs a fault of the app, and tells the user once."""
        _log.error("The %s part broke at frame %d", part, message.frame.index, exc_info=error)
        if part not in self._broken:
            self._broken.add(part)
            self._emit(e.Failure(message.frame.at, part, f"{BROKEN_PART} ({type(error).__name__}: {error})"))

    def _count_lost(self, message: StepMessage) -> None:
        """Counts lost frames, and emits how many there were once the next frame is there."""
        frame = message.frame
        for event in message.events:
            if isinstance(event, e.Underrun):
                self._tell(self._overload.underrun(event.at, event.count))
        if frame.lost:
            self._lost[frame.lost] += 1
            return
        late, device = self._lost["late"], self._lost["device"]
        self._lost.clear()
        if late:
            self._emit(e.FramesDropped(frame.at, late))
            self._tell(self._overload.skipped(frame.at, late * frame.seconds))
        if device:
            self._emit(e.SoundLost(frame.at, device))

    def _tell(self, failure: e.Failure | None) -> None:
        if failure is not None:
            self._emit(failure)

    def _keep(self, message: StepMessage) -> None:
        if self._sound is not None:
            self._sound.add(message.frame.index, message.frame.samples, message.samples, message.flushed)
        if self._parts.recorder is not None:
            self._parts.recorder.sound(message.frame.samples, message.samples, message.flushed)

    def _measure(self, message: StepMessage) -> None:
        at, transcriber = message.frame.at, self._parts.transcriber
        if transcriber.shed > self._shed:
            self._emit(e.RecognitionSkipped(at, transcriber.shed - self._shed))
            self._shed = transcriber.shed
        self._emit(e.LevelMeasured(at, message.user_dbfs, message.assistant_dbfs, message.late_ms, message.clipped))


QUIET_SECONDS = 0.4
"""A session on a file ends when all has been silent for this long after the file's end."""


class FrameDriver:
    """Steps a session's frames: on a thread in real time, else on the event loop.

    - `stepper`, `source`, `timeline`: what steps the frames, where they come from, and what numbers them.
    - `pace`: see `Pace`.
    - `handle`: gets each message on the event loop's thread.
    - `quiet`: whether nobody speaks and nothing is under way that could make a sound.
    - `busy`: whether something that a frame has started is still under way.
    - `max_answer_seconds`: how long after the end of the source the session may last; None: it doesn't end with it.
    """

    def __init__(
        self,
        stepper: FrameStepper,
        source: AudioSource,
        timeline: Timeline,
        pace: Pace,
        handle: Callable[[StepMessage], None],
        *,
        quiet: Callable[[], bool],
        busy: Callable[[], bool],
        max_answer_seconds: float | None,
    ) -> None:
        self.done = asyncio.Event()
        """Set when the session ends, by whoever ends it."""
        self._stepper = stepper
        self._source = source
        self._timeline = timeline
        self._pace = pace
        self._handle = handle
        self._quiet = quiet
        self._busy = busy
        self._max_answer_seconds = max_answer_seconds
        self._thread: FrameThread | None = None
        self._over_at: float | None = None
        self._last_activity = 0.0

    async def run(self) -> None:
        """Steps frames until the session is done. Raises AudioError if the sound devices are gone."""
        await (self._follow_sound() if self._pace == "real" else self._drive())

    async def stop(self) -> FrameThread | None:
        """Ends the stepping. Returns the thread if its last step still runs after a while."""
        if self._thread is None or await asyncio.to_thread(self._thread.stop):
            return None
        return self._thread

    def input_over(self) -> None:
        """The source has given its last frame: the session ends when both sides have finished."""
        if self._over_at is None:
            self._over_at = self._last_activity = self._timeline()

    async def _follow_sound(self) -> None:
        loop, failure = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def failed(sentence: str) -> None:
            if not failure.done():
                failure.set_result(sentence)
            self.done.set()

        self._thread = FrameThread(
            self._stepper,
            FrameReader(self._source, self._timeline, lambda: loop.call_soon_threadsafe(self.input_over)),
            lambda message: loop.call_soon_threadsafe(self._pass_on, message),
            lambda sentence: loop.call_soon_threadsafe(failed, sentence),
            now=time.perf_counter,
        )
        self._thread.start()
        await self.done.wait()
        await asyncio.to_thread(self._thread.stop)
        await asyncio.sleep(0)  # the thread's last messages
        if failure.done():
            raise AudioError(failure.result())

    async def _drive(self) -> None:
        reader = FrameReader(self._source, self._timeline, self.input_over)
        while not self.done.is_set():
            for frame in reader.read(self._timeline.frame_seconds):  # time that passes in the source alone
                self._pass_on(self._stepper.step(frame))
                if self._pace == "fast":  # as if recogniser and voice took no time at all
                    await asyncio.sleep(0)
                    while self._busy() and not self.done.is_set():
                        await asyncio.sleep(0.002)
            if self._pace == "simulated" and not reader.backlog:
                await asyncio.sleep(reader.block_seconds)

    def _pass_on(self, message: StepMessage) -> None:
        self._handle(message)
        at, most = message.frame.at, self._max_answer_seconds
        if self._over_at is None or most is None:
            return
        if not self._quiet():
            self._last_activity = at
        if at - self._last_activity >= QUIET_SECONDS or at - self._over_at > most:
            self.done.set()
