"""A source that outlives the microphones behind it and, without one, delivers silence in real time.

Another thread opens, attaches and closes the devices; no method in this module waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self

import numpy as np

from app.audio.devices.microphone import POLL_SECONDS, Microphone
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, silence

QUIET_SECONDS = 0.3
"""After a microphone has delivered nothing for this long, the source delivers silence until the microphone resumes.
Working microphones deliver every 10 ms, with tens of milliseconds of jitter."""

CATCH_UP_SECONDS = 0.8
"""Maximum silence delivered in a burst to catch up with real time. After a longer gap (the computer was asleep), the
source continues from the current time, because a long burst would be useless."""

SILENT_POLL_SECONDS = 0.02
"""How often a silent microphone is polled."""

OBSERVED_SECONDS = 0.1
"""Maximum time that one wait adds to the quiet time, since a delayed thread doesn't mean that the device stalled."""


class ManagedSource:
    """An `AudioSource` for the current microphone."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self.name = "no microphone"
        self._enter, self._leave = enter, leave
        self._microphone: Microphone | None = None
        self._muted = False
        # Held only for microseconds. Keeps muting and attaching from undoing each other.
        self._lock = threading.Lock()
        self._earlier_overruns = 0
        self._moves = 0
        # Used only by the reader.
        self._reading: Microphone | None = None
        self._changes = 0
        self._frame_ended = 0.0  # when the last delivered frame ended
        self._silent = False  # whether silence is being delivered
        self._quiet = 0.0  # seconds since the device last delivered
        self._position = -1

    def __enter__(self) -> Self:
        self._enter()
        self._frame_ended = time.monotonic()
        return self

    def __exit__(self, *exc: object) -> None:
        self._leave()

    # The device thread

    def attach(self, microphone: Microphone | None) -> None:
        """Sets the microphone to read from, if any."""
        with self._lock:
            before, self._microphone = self._microphone, microphone
            if before is not None:
                self._earlier_overruns += before.overruns
            if microphone is not None and microphone.muted != self._muted:
                microphone.muted = self._muted
        if microphone is not None:
            self.name = microphone.name

    def moved(self, name: str) -> None:
        """Records that the sound server has moved the stream to another device."""
        self.name = name
        self._moves += 1

    # Any thread

    @property
    def microphone(self) -> Microphone | None:
        """The microphone in use."""
        return self._microphone

    @property
    def generation(self) -> int:
        """Incremented when the device changes, and when silence starts or ends."""
        return self._changes + self._moves

    @property
    def muted(self) -> bool:
        """Whether only zeros are delivered. The device's samples are then discarded in the callback."""
        return self._muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        with self._lock:
            self._muted = muted
            if self._microphone is not None:
                self._microphone.muted = muted

    @property
    def loud_blocks(self) -> int:
        """How many of the current microphone's blocks were loud while it was muted."""
        microphone = self._microphone
        return microphone.loud_blocks if microphone is not None else 0

    @property
    def overruns(self) -> int:
        with self._lock:  # so that a device being replaced counts exactly once
            microphone = self._microphone
            return self._earlier_overruns + (microphone.overruns if microphone is not None else 0)

    # The reader

    @property
    def backlog(self) -> int:
        microphone = self._microphone
        if self._silent or microphone is None:
            return int(min(time.monotonic() - self._frame_ended, CATCH_UP_SECONDS) / FRAME_SECONDS)
        return microphone.backlog

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """Returns the next frame, or None after `timeout` seconds. Never raises."""
        now = time.monotonic()
        deadline = now + timeout
        while True:
            frame = self._next(now)
            if frame is not None:
                if self._muted:
                    frame.fill(0.0)
                return frame
            if now >= deadline:
                return None
            time.sleep(max(0.0, min(self._seconds_until_due(now), deadline - now)))
            before, now = now, time.monotonic()
            self._quiet += min(now - before, OBSERVED_SECONDS)

    def ahead(self) -> np.ndarray:
        microphone = self._microphone
        if self._silent or microphone is None or microphone is not self._reading:
            return silence()[:0]
        samples = microphone.ahead()
        if self._muted:
            samples.fill(0.0)
        return samples

    def drop_to_newest(self) -> int:
        microphone = self._microphone
        if self._silent or microphone is None:
            dropped = max(0, self.backlog - 1)
            self._frame_ended += dropped * FRAME_SECONDS
            return dropped
        return microphone.drop_to_newest()

    def _seconds_until_due(self, now: float) -> float:
        microphone = self._reading
        if self._silent or microphone is None:
            return min(max(self._frame_ended + FRAME_SECONDS - now, POLL_SECONDS), SILENT_POLL_SECONDS)
        return max((FRAME_SAMPLES - microphone.waiting) / SAMPLE_RATE - POLL_SECONDS, POLL_SECONDS)

    def _next(self, now: float) -> np.ndarray | None:
        microphone = self._microphone
        if microphone is not self._reading:
            if self._reading is not None:
                self._set_silent(True)  # until the new microphone has a whole frame
            self._reading, self._position, self._quiet = microphone, -1, 0.0
        if microphone is None:
            return self._silence(now)
        position = microphone.position
        if position != self._position:
            self._position, self._quiet = position, 0.0
        if self._silent:
            if now < self._frame_ended + FRAME_SECONDS or microphone.waiting < FRAME_SAMPLES:
                return self._silence(now)
            # Drop the audio recorded while silence was delivered, as it would delay everything that follows.
            microphone.drop_to_now()
            self._set_silent(False)
        frame = microphone.take()
        if frame is not None:
            self._frame_ended = now
            return frame
        return self._silence(now) if self._quiet > QUIET_SECONDS or microphone.finished else None

    def _silence(self, now: float) -> np.ndarray | None:
        self._set_silent(True)
        if now - self._frame_ended > CATCH_UP_SECONDS:
            self._frame_ended = now - FRAME_SECONDS
        if now < self._frame_ended + FRAME_SECONDS:
            return None
        self._frame_ended += FRAME_SECONDS
        return silence()

    def _set_silent(self, silent: bool) -> None:
        if silent != self._silent:
            self._silent = silent
            self._changes += 1
