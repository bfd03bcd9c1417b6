"""A source that outlives the microphones behind it: without one it gives silence at the pace of time.

Who opens and closes devices, on another thread, attaches them here; nothing here waits for that. Knows nothing of why
devices change.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np

from app.audio.io.portaudio import POLL_SECONDS, Microphone
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, silence

QUIET_SECONDS = 0.3
"""A microphone that has given nothing for this long is replaced by silence until it gives again. Working ones come
every 10 ms, unevenly by some tens."""

CATCH_UP_SECONDS = 0.8
"""As much silence is given at once, to catch up with the clock. After more (the computer slept) time goes on as of
now: a burst of silence helps nobody."""

REVIVAL_SECONDS = 0.02
"""How often a silent microphone is looked at."""

OBSERVED_SECONDS = 0.1
"""No single wait counts as more: a thread that was held up says nothing about the device."""


class ManagedSource:
    """An `AudioSource` over whichever microphone there is."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self.name = "no microphone"
        self._enter, self._leave = enter, leave
        self._microphone: Microphone | None = None
        self._reading: Microphone | None = None
        self._muted = False
        # Held for some microseconds: whoever mutes and whoever attaches must not undo each other.
        self._lock = threading.Lock()
        self._lost_before = 0
        # The reader's: when the last given frame ended; whether silence is given; for how long nothing has come.
        self._changes = self._moves = 0
        self._ended = 0.0
        self._silent = False
        self._quiet = 0.0
        self._heard = -1

    def __enter__(self) -> Self:
        self._enter()
        self._ended = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def attach(self, microphone: Microphone | None) -> None:
        """From now on this is the device; None: none. For the thread that opens devices."""
        with self._lock:
            before, self._microphone = self._microphone, microphone
            if before is not None:
                self._lost_before += before.overruns
            if microphone is not None and microphone.muted != self._muted:
                microphone.muted = self._muted
        if microphone is not None:
            self.name = microphone.name

    def moved(self, name: str) -> None:
        """The sound server has put the stream on another device. For the thread that opens devices."""
        self.name = name
        self._moves += 1

    @property
    def generation(self) -> int:
        """Rises when another device is heard, and when silence begins or ends."""
        return self._changes + self._moves

    @property
    def muted(self) -> bool:
        """While True only zeros are given, and the device's samples are dropped as they come. Any thread may set it."""
        return self._muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        with self._lock:
            self._muted = muted
            if self._microphone is not None:
                self._microphone.muted = muted

    @property
    def overruns(self) -> int:
        """Samples (24 kHz) lost so far, over all devices."""
        with self._lock:  # no device is counted twice while it goes, or not at all
            microphone = self._microphone
            return self._lost_before + (microphone.overruns if microphone is not None else 0)

    @property
    def backlog(self) -> int:
        """Whole frames that wait."""
        microphone = self._microphone
        if self._silent or microphone is None:
            return int(min(time.monotonic() - self._ended, CATCH_UP_SECONDS) / FRAME_SECONDS)
        return microphone.backlog

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """The next frame, or None after `timeout` seconds; raises nothing. See `AudioSource`."""
        now = time.monotonic()
        give_up = now + timeout
        while True:
            frame = self._next(now)
            if frame is not None:
                if self._muted:
                    frame.fill(0.0)
                return frame
            if now >= give_up:
                return None
            time.sleep(max(0.0, min(self._until_due(now), give_up - now)))
            before, now = now, time.monotonic()
            self._quiet += min(now - before, OBSERVED_SECONDS)

    def ahead(self) -> np.ndarray:
        """See `ShowsAhead`."""
        microphone = self._microphone
        if self._silent or microphone is None or microphone is not self._reading:
            return silence()[:0]
        samples = microphone.ahead()
        if self._muted:
            samples.fill(0.0)
        return samples

    def drop_to_newest(self) -> int:
        """Forget all waiting frames but the newest; how many were dropped."""
        microphone = self._microphone
        if self._silent or microphone is None:
            dropped = max(0, self.backlog - 1)
            self._ended += dropped * FRAME_SECONDS
            return dropped
        return microphone.drop_to_newest()

    def _until_due(self, now: float) -> float:
        """Seconds until it is worth looking again."""
        microphone = self._reading
        if self._silent or microphone is None:
            return min(max(self._ended + FRAME_SECONDS - now, POLL_SECONDS), REVIVAL_SECONDS)
        return max((FRAME_SAMPLES - microphone.waiting) / SAMPLE_RATE - POLL_SECONDS, POLL_SECONDS)

    def _next(self, now: float) -> np.ndarray | None:
        microphone = self._microphone
        if microphone is not self._reading:
            if self._reading is not None and not self._silent:
                self._silent = True  # until the next one has a whole frame
                self._changes += 1
            self._reading, self._heard, self._quiet = microphone, -1, 0.0
        if microphone is None:
            return self._silence(now)
        heard = microphone.heard
        if heard != self._heard:
            self._heard, self._quiet = heard, 0.0
        if self._silent:
            if now < self._ended + FRAME_SECONDS or microphone.waiting < FRAME_SAMPLES:
                return self._silence(now)
            # What it heard while silence was given in its place would only make the talk late, or early.
            microphone.drop_to_now()
            self._silent = False
            self._changes += 1
        frame = microphone.take()
        if frame is not None:
            self._ended = now
            return frame
        return self._silence(now) if self._quiet > QUIET_SECONDS or microphone.finished else None

    def _silence(self, now: float) -> np.ndarray | None:
        if not self._silent:
            self._silent = True
            self._changes += 1
        if now - self._ended > CATCH_UP_SECONDS:
            self._ended = now - FRAME_SECONDS
        if now < self._ended + FRAME_SECONDS:
            return None
        self._ended += FRAME_SECONDS
        return silence()
