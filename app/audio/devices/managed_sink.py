"""A sink that outlives the loudspeakers behind it, and a tap on the audio that they play.

Another thread opens, attaches and closes the devices; no method in this module waits for it. If no loudspeaker becomes
available, a null device consumes the samples in real time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self

import numpy as np

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import DeviceError
from app.audio.io.ring import Playback, PlaybackCounters
from app.conversation.frame import SAMPLE_RATE


class SilentLoudspeaker:
    """A null device with the counters of a `Loudspeaker`. Consumes samples in real time. Not thread-safe."""

    finished = False
    underruns = 0
    prebuffer_seconds = 0.0
    name = "no loudspeaker"

    def __init__(self) -> None:
        self._written = self._flushed = self._played = 0
        self._dry_at = 0.0  # `time.monotonic`
        self._paused_at: float | None = None

    def playback(self) -> Playback:
        now = self._now()
        waiting = round(max(0.0, self._dry_at - now) * SAMPLE_RATE)
        self._played = max(self._played, self._written - self._flushed - waiting)  # must not decrease due to rounding
        queued = self._written - self._flushed - self._played
        return Playback(self._written, self._played, queued, self._flushed, 0)

    def write(self, samples: np.ndarray) -> None:
        self.playback()
        self._dry_at = max(self._dry_at, self._now()) + samples.size / SAMPLE_RATE
        self._written += samples.size

    def flush(self) -> int:
        queued = self.playback().queued
        self._flushed += queued
        self._dry_at, self._paused_at = 0.0, None
        return queued

    def pause_playback(self) -> None:
        if self._paused_at is None:
            self._paused_at = time.monotonic()

    def resume_playback(self) -> None:
        if self._paused_at is not None:
            if self._dry_at > self._paused_at:
                self._dry_at += time.monotonic() - self._paused_at
            self._paused_at = None

    def _now(self) -> float:
        return time.monotonic() if self._paused_at is None else self._paused_at


class ManagedSink(PlaybackCounters):
    """An `AudioSink` for the current loudspeaker. Without one, it drops samples unless `play_unheard` was called.

    `written == played + queued + flushed + overruns` holds across all devices. Samples written while there is no
    device, or still queued when it was lost, count as flushed. A pause (see `PausesPlayback`) ends with its device.
    """

    keeps_time = False

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self.name = "no loudspeaker"
        self._enter, self._leave = enter, leave
        # Held only for microseconds, never while a device opens or closes.
        self._lock = threading.Lock()
        self.moves = 0
        """How often the sound server has moved a stream to another device."""
        self._loudspeaker: Loudspeaker | SilentLoudspeaker | None = None
        self._suspended = False
        self._closing: list[Loudspeaker] = []
        self._earlier = Playback(0, 0, 0, 0, 0)
        self._earlier_underruns = 0

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(self, *exc: object) -> None:
        self._leave()

    # The device thread

    def attach(self, loudspeaker: Loudspeaker | None) -> None:
        """Sets the device to play on, if any. The caller must close the previous device and then call `closed`."""
        with self._lock:
            before, self._loudspeaker = self._loudspeaker, loudspeaker
            if before is not None:
                before.flush()
            if isinstance(before, Loudspeaker):
                self._closing.append(before)
            elif before is not None:
                self._earlier = _sum(self._earlier, before.playback())
            if loudspeaker is not None:
                self.name = loudspeaker.name
                self._suspended = False

    def play_unheard(self) -> None:
        """Plays on a null device until a real one is attached. No-op if a device is attached."""
        with self._lock:
            if self._loudspeaker is None:
                self._loudspeaker = SilentLoudspeaker()
                self.name, self._suspended = self._loudspeaker.name, False

    def moved(self, name: str) -> None:
        """Records that the sound server has moved the stream to another device."""
        self.name = name
        self.moves += 1

    def closed(self, loudspeaker: Loudspeaker) -> None:
        """Records that a previously attached device has been closed, so its counters are final."""
        with self._lock:
            if loudspeaker in self._closing:
                self._closing.remove(loudspeaker)
                self._earlier = _sum(self._earlier, _final(loudspeaker.playback()))
                self._earlier_underruns += loudspeaker.underruns

    def set_suspended(self, suspended: bool) -> None:
        """Sets whether the system has suspended the device. If so, samples are dropped, so that none play late."""
        with self._lock:
            if suspended and not self._suspended and self._loudspeaker is not None:
                self._loudspeaker.flush()
            self._suspended = suspended

    # Any thread

    @property
    def loudspeaker(self) -> Loudspeaker | None:
        """The loudspeaker in use; None if there is none or only a null device."""
        loudspeaker = self._loudspeaker
        return loudspeaker if isinstance(loudspeaker, Loudspeaker) else None

    @property
    def ready(self) -> bool:
        """Whether a working loudspeaker or a null device is attached and not suspended."""
        loudspeaker = self._loudspeaker
        return loudspeaker is not None and not loudspeaker.finished and not self._suspended

    @property
    def underruns(self) -> int:
        with self._lock:
            devices = [*self._closing, *([self._loudspeaker] if self._loudspeaker is not None else [])]
            return self._earlier_underruns + sum(device.underruns for device in devices)

    @property
    def prebuffer_seconds(self) -> float:
        """Current prebuffering delay of the device in use, in seconds; 0 without a device."""
        loudspeaker = self._loudspeaker
        return loudspeaker.prebuffer_seconds if loudspeaker is not None else 0.0

    def playback(self) -> Playback:
        with self._lock:
            total = self._earlier
            for loudspeaker in self._closing:
                total = _sum(total, _final(loudspeaker.playback()))
            return _sum(total, self._loudspeaker.playback()) if self._loudspeaker is not None else total

    # The writer

    def write(self, samples: np.ndarray) -> None:
        """Queues samples. Never blocks or raises."""
        with self._lock:
            if self._loudspeaker is not None and not self._suspended:
                try:
                    self._loudspeaker.write(samples)
                    return
                except DeviceError:
                    pass  # the device has just disappeared
            count = samples.size
            self._earlier = _sum(self._earlier, Playback(count, 0, 0, count, 0))

    def flush(self) -> int:
        with self._lock:
            return self._loudspeaker.flush() if self._loudspeaker is not None else 0

    def pause_playback(self) -> None:
        with self._lock:
            if self._loudspeaker is not None:
                self._loudspeaker.pause_playback()

    def resume_playback(self) -> None:
        with self._lock:
            if self._loudspeaker is not None:
                self._loudspeaker.resume_playback()


class ManagedTap:
    """A `Tap` that follows the current loudspeaker."""

    def __init__(self, sink: ManagedSink) -> None:
        self._sink = sink
        self._loudspeaker: Loudspeaker | None = None
        self._changes = self._lost = 0

    @property
    def rate(self) -> int:
        return self._loudspeaker.rate if self._loudspeaker is not None else SAMPLE_RATE

    @property
    def generation(self) -> int:
        """Incremented whenever the device changes or samples are lost."""
        return self._changes + self._sink.moves

    def take(self) -> np.ndarray:
        loudspeaker = self._sink.loudspeaker
        if loudspeaker is None:
            return np.zeros(0, np.float32)
        if loudspeaker is not self._loudspeaker:
            self._loudspeaker, self._lost = loudspeaker, 0
            self._changes += 1
        taken = np.empty(loudspeaker.tap.queued, np.float32)
        got = loudspeaker.tap.read_into(taken)
        lost = loudspeaker.tap.counts().lost
        if lost != self._lost:
            self._lost = lost
            self._changes += 1
        return taken[:got]


def _sum(one: Playback, other: Playback) -> Playback:
    return Playback(*map(sum, zip(one, other, strict=True)))


def _final(last: Playback) -> Playback:
    """Returns the counters of a device that has stopped: queued samples count as flushed."""
    return last._replace(queued=0, flushed=last.flushed + last.queued)
