"""Steps a session's frames in real time on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation.frame import FRAME_SECONDS, Frame, silence
from app.session.frame_stepper import FrameStepper
from app.session.lost_sound import LostSound
from app.session.step_message import StepMessage

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
