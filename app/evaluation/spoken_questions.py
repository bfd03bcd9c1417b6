"""Spoken questions, a microphone that a script speaks into in real time, and a loudspeaker that plays to nobody.

For benches and the demo: the sound enters and leaves as on devices, paced by the clock.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.audio.devices.loudspeaker import CUSHION_SECONDS
from app.audio.io.base import EndOfAudio
from app.audio.io.files import FileSource
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.platform.resources import resource
from app.session.session import Session

LEAD_SECONDS = 0.6
"""Silence before each question, so that it does not begin in the answer's last word."""
VOICE_FLOOR = 0.01
"""Amplitude above which a recording is taken to be voice: -40 dBFS, its noise is below -70."""

MakeSession = Callable[..., Session]


@dataclass(frozen=True, slots=True)
class Question:
    """A spoken question: `samples` float32 24 kHz; its voice ends `end` seconds after the first one."""

    name: str
    text: str
    samples: np.ndarray
    end: float


class Spoken(Protocol):
    """Something with a sound."""

    @property
    def samples(self) -> np.ndarray:
        """float32 mono 24 kHz."""
        ...


def load_questions(count: int | None = None, *, names: Sequence[str] = ()) -> list[Question]:
    """The first `count` questions of the bench; with `names`, these, in their order."""
    entries = json.loads(resource("bench", "questions.json").read_text("utf-8"))
    if names:
        known = {f"{entry['question']}_{entry['turn']}": entry for entry in entries}
        entries = [known[name] for name in names]
    out = []
    for entry in entries[:count]:
        frames = []
        with FileSource(resource("bench", *entry["file"].split("/"))) as source:
            while True:
                try:
                    frames.append(source.read_frame(0.0))
                except EndOfAudio:
                    break
        samples = np.concatenate(frames)
        end = float(np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[-1] + 1) / SAMPLE_RATE
        out.append(Question(f"{entry['question']}_{entry['turn']}", entry["text"], samples, end))
    return out


class PacedAsker:
    """A microphone that the bench speaks into: silence, and a question whenever it is told to ask. `paced` False: it
    never waits, for sessions that have a time of their own.
    """

    name = "bench"
    overruns = 0

    def __init__(self, *, paced: bool = True) -> None:
        self._paced = paced
        self._frames: deque[np.ndarray] = deque()
        self._begin = 0.0
        self._given = 0
        self._asked: deque[float] = deque()
        self._lock = threading.Lock()

    def ask(self, question: Spoken) -> float:
        """Asks from the next frame on; returns the session time at which its sound begins, as `asked_at` does."""
        lead = np.zeros(round(LEAD_SECONDS * SAMPLE_RATE), np.float32)
        sound = np.concatenate([lead, question.samples])
        sound = np.pad(sound, (0, -len(sound) % FRAME_SAMPLES))
        with self._lock:
            self._asked.append((self._given * FRAME_SECONDS) + LEAD_SECONDS)
            self._frames.extend(sound.reshape(-1, FRAME_SAMPLES))
            return self._asked[-1]

    def asked_at(self) -> float:
        """Session time at which the sound of the last question begins."""
        return self._asked[-1]

    @property
    def backlog(self) -> int:
        """Frames that are due and were not fetched."""
        if not self._paced:
            return 0
        return max(0, int((time.perf_counter() - self._begin) / FRAME_SECONDS) - self._given)

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """See `AudioSource.read_frame`."""
        wait = self._begin + (self._given + 1) * FRAME_SECONDS - time.perf_counter()
        if wait > 0 and self._paced:
            time.sleep(wait)
        with self._lock:
            self._given += 1
            return self._frames.popleft() if self._frames else np.zeros(FRAME_SAMPLES, np.float32)

    def drop_to_newest(self) -> int:
        """See `AudioSource.drop_to_newest`."""
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
    """A loudspeaker that plays to nobody at the pace of sound, by the clock `now`, and counts where it ran dry."""

    name = "bench"
    keeps_time = False
    overruns = 0

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self.written = self.flushed = self.underruns = 0
        self._dry_at = 0.0  # when what was written will have been played

    @property
    def queued(self) -> int:
        """See `AudioSink.queued`."""
        return max(0, round((self._dry_at - self._now()) * SAMPLE_RATE))

    @property
    def played(self) -> int:
        """See `AudioSink.played`."""
        return self.written - self.queued - self.flushed

    def write(self, samples: np.ndarray) -> None:
        """See `AudioSink.write`. Waits for the same cushion as `Loudspeaker` before it starts."""
        if not len(samples):
            return
        now = self._now()
        if self._dry_at < now:
            if now - self._dry_at < 0.5 and self.written:
                self.underruns += 1
            self._dry_at = now + CUSHION_SECONDS
        self._dry_at += len(samples) / SAMPLE_RATE
        self.written += len(samples)

    def flush(self) -> int:
        """See `AudioSink.flush`."""
        thrown = self.queued
        self.flushed += thrown
        self._dry_at = -1e9
        return thrown

    def __enter__(self) -> PacedListener:
        return self

    def __exit__(self, *exc: object) -> None:
        return None
