"""Steps a session's frames in real time on a thread of its own.

It notices sound that was lost before it reached the app, which not every driver reports. A frame that comes late
although none was waiting has been preceded by a gap: all later frames come late by as much, and the session's time,
which counts frames, falls behind.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import takewhile

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation.frame import FRAME_SECONDS, Frame, silence
from app.session.clock import SLEPT_SECONDS
from app.session.frame_stepper import FrameStepper
from app.session.step_message import StepMessage

LOOK_SECONDS = 1.0
"""All frames must have been late for this long: a thread or driver that was only held up catches up sooner."""

REMEMBERED_SECONDS = 10.0
"""What frames are compared with. Two clocks 300 ppm apart drift by 3 ms meanwhile, 4 % of a frame."""


class LostSound:
    """Takes every frame's arrival, and says how many are missing before it."""

    def __init__(self) -> None:
        self._lags: deque[tuple[float, float]] = deque()
        """When a frame arrived with none waiting behind it, and how much later than its number says; the oldest first.
        """

    def missing(self, now: float, index: int, backlog: int) -> int:
        """Return how many frames were lost before the frame `index`, which arrived `now` with `backlog` more behind
        it.
        """
        if backlog:
            return 0  # it waited here, and lateness says nothing about the device
        lag = now - index * FRAME_SECONDS
        if self._lags and lag - self._lags[-1][1] > SLEPT_SECONDS:
            self._lags.clear()  # the clock of the session begins again as well
        self._lags.append((now, lag))
        while self._lags[0][0] < now - REMEMBERED_SECONDS:
            self._lags.popleft()
        since = now - LOOK_SECONDS
        before = min((lag for _, lag in takewhile(lambda one: one[0] < since, self._lags)), default=None)
        if before is None:
            return 0
        middle = now - LOOK_SECONDS / 2
        earlier = min((lag for at, lag in self._lags if since <= at < middle), default=None)
        later = min(lag for at, lag in self._lags if at >= middle)
        if earlier is None or earlier - later > FRAME_SECONDS / 2:
            return 0  # the frames after a pause catch up, or it isn't seen yet whether they do
        lost = int((min(earlier, later) - before) / FRAME_SECONDS)
        if lost <= 0:
            return 0
        self._lags.clear()
        self._lags.append((now, lag - lost * FRAME_SECONDS))
        return lost


BACKLOG_FRAMES = 5
"""With more frames than this waiting (0.4 s) the loop has fallen behind: it goes on with the newest one."""


class FrameThread:
    """Runs until `stop`.

    `deliver` gets each StepMessage, `failed` a sentence when the sound devices are gone; `over` is called when a finite
    source has ended (the user is silent from then on). They are called on this thread and must only hand over.
    """

    def __init__(
        self,
        stepper: FrameStepper,
        source: AudioSource,
        deliver: Callable[[StepMessage], object],
        failed: Callable[[str], object],
        over: Callable[[], object],
        *,
        now: Callable[[], float],
    ) -> None:
        self._stepper = stepper
        self._source = source
        self._deliver = deliver
        self._failed = failed
        self._over = over
        self._now = now
        self._lost = LostSound()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)

    def start(self) -> None:
        """Start to step."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        index, ended_at = 0, None
        try:
            while not self._stop.is_set():
                dropped = missing = 0
                if ended_at is not None:
                    # The file is over: silence, at the pace of the sound before it.
                    ended_at += FRAME_SECONDS
                    self._stop.wait(max(0.0, ended_at - self._now()))
                    samples = silence()
                else:
                    if self._source.backlog > BACKLOG_FRAMES:
                        dropped = self._source.drop_to_newest()
                    try:
                        taken = self._source.read_frame(0.2)
                    except EndOfAudio:
                        ended_at = self._now()
                        self._over()
                        continue
                    if taken is None:
                        continue
                    samples = taken
                    index += dropped
                    missing = self._lost.missing(self._now(), index, self._source.backlog)
                    index += missing
                self._deliver(self._stepper.step(Frame(index, samples), dropped=dropped, missing=missing))
                index += 1
        except AudioError as error:
            self._failed(str(error))
        except Exception as error:
            self._failed(
                f"The frame loop broke ({type(error).__name__}: {error}). This is a fault of the app: the conversation "
                "has ended, and what was said stays. Start it again."
            )
