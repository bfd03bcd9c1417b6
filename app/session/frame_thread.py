"""Reads a session's frames from its source, and steps them in real time on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, Frame, silence
from app.session.clock import Timeline
from app.session.frame_loop import FrameStepper, StepMessage

WINDOW_SECONDS = 10.0
DROPPED_SECONDS = 1.0
"""The user is told when this much sound was dropped within the window."""
REPEAT_SECONDS = 60.0


class Overload:
    """Counts dropped frames over a sliding window."""

    def __init__(self) -> None:
        self._drops: list[tuple[float, int]] = []
        self._told_at = float("-inf")

    def dropped(self, at: float, frames: int) -> e.Failure | None:
        """Count dropped frames; return what the user should be told, at most once a minute."""
        self._drops = [(then, n) for then, n in self._drops if at - then <= WINDOW_SECONDS] + [(at, frames)]
        lost = sum(n for _, n in self._drops) * FRAME_SECONDS
        if lost < DROPPED_SECONDS or at - self._told_at < REPEAT_SECONDS:
            return None
        self._told_at = at
        return e.Failure(
            at,
            "frontend",
            f"This machine can't keep up: {lost:.1f} s of your voice were skipped in the last {WINDOW_SECONDS:.0f} s. "
            "Close other programs, or choose a smaller precision, a shorter context or the built-in voice in the "
            "settings.",
        )


BACKLOG_FRAMES = 5
"""With more frames than this waiting (0.4 s) the loop has fallen behind: it continues with the newest one."""


class FrameReader:
    """Reads `source` as frames of `timeline`, without gaps. Used by one thread.

    `over`: called when a finite source has ended. The user is silent from then on.
    """

    def __init__(self, source: AudioSource, timeline: Timeline, over: Callable[[], object]) -> None:
        self._source = source
        self._timeline = timeline
        self._over = over
        self._overruns = source.overruns
        self.ended = False

    @property
    def backlog(self) -> int:
        """Frames that can be read without waiting."""
        return 0 if self.ended else self._source.backlog

    def read(self, timeout: float) -> Iterator[Frame]:
        """Yields the next frame, after those that were lost before it.

        Yields none if no frame arrives within `timeout` seconds. Raises AudioError.
        """
        if self.ended:
            yield self._timeline.follow(silence())
            return
        dropped = self._source.drop_to_newest() if self._source.backlog > BACKLOG_FRAMES else 0
        samples = None
        try:
            samples = self._source.read_frame(timeout)
        except EndOfAudio:
            self.ended = True
            self._over()
        if samples is None:
            yield from self._timeline.gap(dropped, "late")
            return
        overrun, self._overruns = self._source.overruns - self._overruns, self._source.overruns
        yield from self._timeline.arrived(samples, dropped=dropped, overrun=overrun, backlog=self._source.backlog)


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

    def stop(self) -> None:
        """Ends the thread and waits for it."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        due = None
        try:
            while not self._stop.is_set():
                if self._reader.ended:
                    # The file is over: silence, at the pace of the audio before it.
                    due = (self._now() if due is None else due) + FRAME_SECONDS
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
