"""Steps a session's frames: on a thread of their own in real time, otherwise on the event loop.

`FrameDriver` chooses the way, and ends a session whose source is finite. The messages of the steps are passed on on the
event loop.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from app.audio.io.base import AudioError, AudioSource
from app.session.clock import FrameReader, Timeline
from app.session.early_sound import EarlyBlock, EarlySound
from app.session.frame_loop import FrameStepper, StepMessage
from app.session.parts import Pace

PREPARE_SECONDS = 0.02
"""How often a step is prepared while its frame isn't complete."""
STOP_SECONDS = 5.0
"""How long the end of a session waits for the step that is running."""
STILL_RUNS = (
    "The voice engine is still busy with its last step, so its memory is freed later. If the next conversation can't "
    "load it, restart the app."
)


class FrameThread:
    """Runs until `stop`. Begins with what was said while the session was loading, faster than it was said.

    - `stepper`: steps the frames that `reader` yields.
    - `deliver`: gets each StepMessage. Like `failed`, it is called on this thread and must only hand over.
    - `failed`: gets a message for the user when the sound devices are gone.
    - `early`: what was said, if that was kept.
    """

    def __init__(
        self,
        stepper: FrameStepper,
        reader: FrameReader,
        deliver: Callable[[StepMessage], object],
        failed: Callable[[str], object],
        *,
        now: Callable[[], float],
        early: EarlySound | None = None,
    ) -> None:
        self._stepper = stepper
        self._reader = reader
        self._early = early
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
            if self._early is not None:
                self._catch_up(self._early)
            while not self._stop.is_set():
                if self._reader.ended:
                    # The file is over: silence, at the pace of the audio before it.
                    due = (self._now() if due is None else due) + self._reader.frame_seconds
                    self._stop.wait(max(0.0, due - self._now()))
                waits = True
                for frame in self._reader.read(PREPARE_SECONDS):
                    self._deliver(self._stepper.step(frame))
                    waits = False
                if waits:
                    self._stepper.prepare()
        except AudioError as error:
            self._failed(str(error))
        except Exception as error:
            self._failed(
                f"The frame loop broke ({type(error).__name__}: {error}). This is a fault of the app: the conversation "
                "has ended, and what was said stays. Start it again."
            )

    def _catch_up(self, early: EarlySound) -> None:
        blocks = early.take()
        self._reader.timeline.begin_behind(sum(len(block) for block, _ in blocks))
        while blocks and not self._stop.is_set():
            self._step_early(blocks)
            blocks = early.take()  # what was said meanwhile
        early.stop()
        self._step_early(early.take())

    def _step_early(self, blocks: list[EarlyBlock]) -> None:
        for block, messages in blocks:
            for frame in self._reader.timeline.early(block):
                self._deliver(self._stepper.step(frame, messages))
                messages = ()


QUIET_SECONDS = 0.4
"""A session on a file ends when all has been silent for this long after the file's end."""


class FrameDriver:
    """Steps a session's frames: on a thread in real time, else on the event loop.

    - `stepper`, `source`, `timeline`: what steps the frames, where they come from, and what numbers them.
    - `pace`: see `Pace`.
    - `handle`: gets each message on the event loop's thread.
    - `quiet`: whether nobody speaks and nothing has begun that could make a sound.
    - `busy`: whether something that a frame has started has not ended.
    - `max_answer_seconds`: how long after the end of the source the session may last; None: it doesn't end with it.
    - `early`: what was said while the session was loading, if that was kept.
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
        early: EarlySound | None,
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
        self._early = early
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
            early=self._early,
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
                await self._until_next_block(reader.block_seconds)

    async def _until_next_block(self, seconds: float) -> None:
        """Waits in simulated time, and prepares the next step meanwhile, as the thread does."""
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        while (left := due - loop.time()) > PREPARE_SECONDS + 1e-9:
            await asyncio.sleep(PREPARE_SECONDS)
            self._stepper.prepare()
        await asyncio.sleep(left)

    def _pass_on(self, message: StepMessage) -> None:
        self._handle(message)
        at, most = message.frame.at, self._max_answer_seconds
        if self._over_at is None or most is None:
            return
        if not self._quiet():
            self._last_activity = at
        if at - self._last_activity >= QUIET_SECONDS or at - self._over_at > most:
            self.done.set()
