"""A sink that outlives the loudspeakers behind it, and the tap on what they play.

Without a loudspeaker the sink drops what it is given. Who opens and closes devices, on another thread, attaches them
here; nothing here waits for that. Knows nothing of why devices change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np

from app.audio.io.errors import DeviceError
from app.audio.io.playback_position import Playback
from app.audio.io.portaudio import Loudspeaker
from app.conversation.frame import SAMPLE_RATE


class ManagedSink:
    """An `AudioSink`. `written == played + queued + flushed + overruns` holds over all devices together.

    What is written while there is none, and what was queued when one went, counts as flushed.
    """

    keeps_time = False

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self.name = "no loudspeaker"
        self._enter, self._leave = enter, leave
        # Held for some microseconds at a time, never while a device opens or closes.
        self._lock = threading.Lock()
        self.moves = 0
        """How often the sound server has put a stream on another device."""
        self._box: Loudspeaker | None = None
        self._paused = False
        self._closing: list[Loudspeaker] = []
        self._before = Playback(0, 0, 0, 0, 0)
        self._underruns_before = 0

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def attach(self, box: Loudspeaker | None) -> None:
        """From now on this is the device; None: none. The one before is to be closed, and `closed` told."""
        with self._lock:
            before, self._box = self._box, box
            if before is not None:
                before.flush()
                self._closing.append(before)
            if box is not None:
                self.name = box.name
                self._paused = False

    def moved(self, name: str) -> None:
        """The sound server has put the stream on another device. For the thread that opens devices."""
        self.name = name
        self.moves += 1

    def closed(self, box: Loudspeaker) -> None:
        """`box`, which was attached before, asks for samples no more: its counters are final."""
        with self._lock:
            if box in self._closing:
                self._closing.remove(box)
                self._before = _sum(self._before, _settled(box.look()))
                self._underruns_before += box.underruns

    def pause(self, paused: bool) -> None:
        """Whether the device takes nothing for now: what it would play later is dropped, for it would come too late."""
        with self._lock:
            if paused and not self._paused and self._box is not None:
                self._box.flush()
            self._paused = paused

    @property
    def box(self) -> Loudspeaker | None:
        """The device in use."""
        return self._box

    @property
    def ready(self) -> bool:
        """Whether there is a loudspeaker."""
        box = self._box
        return box is not None and not box.finished and not self._paused

    @property
    def written(self) -> int:
        """Samples (24 kHz) that `write` was given."""
        return self.look().written

    @property
    def played(self) -> int:
        """Samples that devices have taken."""
        return self.look().played

    @property
    def queued(self) -> int:
        """Samples that wait to be played."""
        return self.look().queued

    @property
    def flushed(self) -> int:
        """Samples that were taken back, or that no device was there for."""
        return self.look().flushed

    @property
    def overruns(self) -> int:
        """Samples that had no room."""
        return self.look().overruns

    @property
    def underruns(self) -> int:
        """How often talk was interrupted by silence."""
        with self._lock:
            open_ones = [*self._closing, *([self._box] if self._box is not None else [])]
            return self._underruns_before + sum(box.underruns for box in open_ones)

    @property
    def cushion_seconds(self) -> float:
        """How long the first samples of a talk wait on the device in use; 0 without one."""
        box = self._box
        return box.cushion_seconds if box is not None else 0.0

    def look(self) -> Playback:
        """All counters at one moment."""
        with self._lock:
            total = self._before
            for box in self._closing:
                total = _sum(total, _settled(box.look()))
            return _sum(total, self._box.look()) if self._box is not None else total

    def write(self, samples: np.ndarray) -> None:
        """Queue samples; never waits and raises nothing. See `AudioSink`."""
        with self._lock:
            if self._box is not None and not self._paused:
                try:
                    self._box.write(samples)
                    return
                except DeviceError:
                    pass  # it went this moment
            count = samples.size
            self._before = _sum(self._before, Playback(count, 0, 0, count, 0))

    def flush(self) -> int:
        """Forget what is queued; how many samples."""
        with self._lock:
            return self._box.flush() if self._box is not None else 0

    def hush(self) -> None:
        """See `Hushes`. It ends with the device: what that had queued is flushed, and the next one has nothing yet."""
        with self._lock:
            if self._box is not None:
                self._box.hush()

    def unhush(self) -> None:
        """See `Hushes`."""
        with self._lock:
            if self._box is not None:
                self._box.unhush()


class ManagedTap:
    """A `Tap` on whichever loudspeaker there is."""

    def __init__(self, sink: ManagedSink) -> None:
        self._sink = sink
        self._box: Loudspeaker | None = None
        self._changes = self._lost = 0

    @property
    def rate(self) -> int:
        """Hertz, of what `take` gives."""
        return self._box.rate if self._box is not None else SAMPLE_RATE

    @property
    def generation(self) -> int:
        """Rises with another device, and when samples were lost."""
        return self._changes + self._sink.moves

    def take(self) -> np.ndarray:
        """What was played since the last call; see `Tap`."""
        box = self._sink.box
        if box is None:
            return np.zeros(0, np.float32)
        if box is not self._box:
            self._box, self._lost = box, 0
            self._changes += 1
        taken = np.empty(box.tap.queued, np.float32)
        taken = taken[: box.tap.read_into(taken)]
        lost = box.tap.counts().lost
        if lost != self._lost:
            self._lost = lost
            self._changes += 1
        return taken


def _sum(one: Playback, other: Playback) -> Playback:
    return Playback(*map(sum, zip(one, other, strict=True)))


def _settled(last: Playback) -> Playback:
    """What a device's counters come to when it plays no more."""
    return last._replace(queued=0, flushed=last.flushed + last.queued)
