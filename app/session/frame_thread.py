"""Reads a session's frames from its source, and steps them in real time on a thread of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame, silence
from app.session.clock import Timeline
from app.session.frame_loop import FrameStepper, StepMessage

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
