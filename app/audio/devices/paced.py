"""A scripted microphone and a null loudspeaker, for unattended sessions in the demo and the benchmarks.

Both run in real time, as actual devices do.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol, Self

import numpy as np

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

LEAD_SECONDS = 0.6
"""Silence before each question, so that the question doesn't overlap the last word of the answer."""


class Spoken(Protocol):
    """An object with speech samples."""

    @property
    def samples(self) -> np.ndarray:
        """The samples as float32, mono, 24 kHz."""
        ...


class PacedAsker:
    """A scripted microphone that delivers silence, and a question whenever `ask` is called.

    `paced`: whether to deliver frames in real time; False for sessions in simulated time.
    """

    name = "bench"
    overruns = 0

    def __init__(self, *, paced: bool = True) -> None:
        self._paced = paced
        self._frames: deque[np.ndarray] = deque()
        self._begin = 0.0
        self._given = 0
        self._lock = threading.Lock()

    def ask(self, question: Spoken) -> float:
        """Queues a question, starting with the next frame. Returns the session time at which its speech begins."""
        lead = np.zeros(round(LEAD_SECONDS * SAMPLE_RATE), np.float32)
        sound = np.concatenate([lead, question.samples])
        sound = np.pad(sound, (0, -len(sound) % FRAME_SAMPLES))
        with self._lock:
            self._frames.extend(sound.reshape(-1, FRAME_SAMPLES))
            return self._given * FRAME_SECONDS + LEAD_SECONDS

    @property
    def backlog(self) -> int:
        """The number of frames that are due but haven't been read."""
        if not self._paced:
            return 0
        return max(0, int((time.perf_counter() - self._begin) / FRAME_SECONDS) - self._given)

    def read_frame(self, timeout: float) -> np.ndarray | None:
        wait = self._begin + (self._given + 1) * FRAME_SECONDS - time.perf_counter()
        if wait > 0 and self._paced:
            time.sleep(min(wait, timeout))
            if wait > timeout:
                return None
        with self._lock:
            self._given += 1
            return self._frames.popleft() if self._frames else np.zeros(FRAME_SAMPLES, np.float32)

    def drop_to_newest(self) -> int:
        dropped = 0
        with self._lock:
            while self.backlog > 1:
                self._given += 1
                dropped += 1
                if self._frames:
                    self._frames.popleft()
        return dropped

    def __enter__(self) -> PacedAsker:
        self._begin = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class PacedListener:
    """A null loudspeaker that consumes samples in real time, as measured by the clock `now`, and counts underruns."""

    name = "bench"
    keeps_time = False
    overruns = 0

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self.written = self.flushed = self.underruns = 0
        self._dry_at = 0.0  # when the queue will be empty

    @property
    def queued(self) -> int:
        return max(0, round((self._dry_at - self._now()) * SAMPLE_RATE))

    @property
    def played(self) -> int:
        return self.written - self.queued - self.flushed

    def write(self, samples: np.ndarray) -> None:
        """Queues samples. Playback starts after the same initial prebuffering delay as in `Loudspeaker`."""
        if not len(samples):
            return
        now = self._now()
        if self._dry_at < now:
            if now - self._dry_at < 0.5 and self.written:
                self.underruns += 1
            self._dry_at = now + PREBUFFER_SECONDS
        self._dry_at += len(samples) / SAMPLE_RATE
        self.written += len(samples)

    def flush(self) -> int:
        thrown = self.queued
        self.flushed += thrown
        self._dry_at = -1e9
        return thrown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None
