"""The audio endpoints of a session over a network: a source fed by `push`, and a sink that sends frames."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

CATCH_UP_SECONDS = 5.0
"""Frames that are late by up to this much may pass in a burst when they arrive."""
FASTER = 1.01
"""Maximum sustained frame rate relative to real time. Clocks never differ by more, so frames don't accumulate."""


class Pacer:
    """Determines when the next frame may pass. Times are in seconds and may come from any monotonic clock."""

    def __init__(self) -> None:
        self._due: float | None = None  # no frame has passed yet

    def early(self, now: float) -> float:
        """Returns the number of seconds until a frame may pass; 0 or less if one may pass now."""
        return 0.0 if self._due is None else self._due - now

    def passed(self, now: float) -> None:
        """Records that a frame has passed."""
        due = now if self._due is None else max(self._due, now - CATCH_UP_SECONDS)
        self._due = due + FRAME_SECONDS / FASTER


MOST_SECONDS = 10.0
"""Maximum length of the queued audio. If it is exceeded, the oldest frames are dropped."""


class PushedSource:
    """An `AudioSource` into which one thread pushes audio and from which the frame thread reads.

    Frames are delivered in real time, except to catch up after a network delay. Late frames aren't dropped, since the
    network delays audio but doesn't lose it.
    """

    backlog = 0
    """Always 0, since queued frames don't indicate that the reader is late."""

    def __init__(self, name: str, now: Callable[[], float] = time.perf_counter) -> None:
        self.name = name
        self.overruns = 0
        self._now = now
        self._pacer = Pacer()
        self._frames: deque[np.ndarray] = deque()
        self._rest: np.ndarray = np.zeros(0, np.float32)
        self._closed = False
        self._changed = threading.Condition()

    def push(self, samples: np.ndarray) -> None:
        """Appends float32 samples of shape (n,) at 24 kHz. Thread-safe and non-blocking."""
        with self._changed:
            sound = np.concatenate([self._rest, samples]) if len(self._rest) else samples
            whole = len(sound) // FRAME_SAMPLES * FRAME_SAMPLES
            self._frames.extend(np.array(sound[:whole], np.float32).reshape(-1, FRAME_SAMPLES))
            self._rest = np.array(sound[whole:], np.float32)
            while len(self._frames) * FRAME_SAMPLES > MOST_SECONDS * SAMPLE_RATE:
                self._frames.popleft()
                self.overruns += FRAME_SAMPLES
            self._changed.notify()

    def close(self) -> None:
        """Ends the audio: `read_frame` raises EndOfAudio once all queued frames have been read."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def read_frame(self, timeout: float) -> np.ndarray | None:
        until = self._now() + timeout
        with self._changed:
            while True:
                now = self._now()
                early = self._pacer.early(now)
                if self._frames and early <= 0:
                    self._pacer.passed(now)
                    return self._frames.popleft()
                if self._closed and not self._frames:
                    raise EndOfAudio
                if now >= until:
                    return None
                self._changed.wait(min(until - now, early if self._frames else timeout))

    def drop_to_newest(self) -> int:
        return 0

    def __enter__(self) -> PushedSource:
        with self._changed:  # drop audio that arrived before the session started
            self._frames.clear()
            self._rest = np.zeros(0, np.float32)
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class SendingSink:
    """An `AudioSink` that passes everything written, including silence, to `send` immediately.

    Sent samples count as played, since they can't be recalled.
    """

    keeps_time = True
    queued = flushed = overruns = underruns = 0

    def __init__(self, name: str, send: Callable[[np.ndarray], object]) -> None:
        self.name = name
        self.written = 0
        self._send = send

    @property
    def played(self) -> int:
        return self.written

    def write(self, samples: np.ndarray) -> None:
        if len(samples):
            self.written += len(samples)
            self._send(samples.copy())

    def flush(self) -> int:
        """Returns 0, since nothing is ever queued."""
        return 0

    def __enter__(self) -> SendingSink:
        return self

    def __exit__(self, *exc: object) -> None:
        return None
