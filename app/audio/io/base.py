"""Protocols and errors for a session's audio: `AudioSource` delivers frames, `AudioSink` accepts samples.

Both are context managers that open on entry and close on exit; constructors open nothing. Devices, files and test
doubles implement the same protocols. The text of an error is a user-facing message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import numpy as np

from app.conversation.events import DeviceNotice, Processing, SoundHealth


class AudioError(Exception):
    """An audio error. `str(error)` is a user-facing message: what happened, what it means and what to do."""


class AudioFileError(AudioError):
    """An audio file can't be read or written, or contains no audible sound."""


class DeviceError(AudioError):
    """A microphone or loudspeaker is missing, busy, not permitted or gone."""


class WrappedSource:
    """An `AudioSource` that delegates everything to `source`; subclasses override what they change."""

    def __init__(self, source: AudioSource) -> None:
        self._source = source

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def overruns(self) -> int:
        return self._source.overruns

    @property
    def backlog(self) -> int:
        return self._source.backlog

    def read_frame(self, timeout: float) -> np.ndarray | None:
        return self._source.read_frame(timeout)

    def drop_to_newest(self) -> int:
        return self._source.drop_to_newest()

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.__exit__(kind, error, trace)


class EndOfAudio(Exception):
    """Raised after the last frame of a finite source. This isn't an error."""


class AudioSource(Protocol):
    """The source of the user's audio. Must be read by one thread only."""

    @property
    def name(self) -> str:
        """The user-facing name of the device or file."""
        ...

    @property
    def overruns(self) -> int:
        """Samples (24 kHz) lost so far because they weren't read in time."""
        ...

    @property
    def backlog(self) -> int:
        """The number of whole frames waiting to be read. More than one means that the reader is late."""
        ...

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """Returns the next frame, which the caller owns: float32 (1920,), mono, 24 kHz, in [-1, 1].

        Returns None if no whole frame arrives within `timeout` seconds. Raises `EndOfAudio` after the last frame of a
        finite source (padded with zeros), `DeviceError` if the device is gone, and `AudioFileError` if a file is
        truncated.
        """
        ...

    def drop_to_newest(self) -> int:
        """Drops all queued frames but the newest and returns how many it dropped. They don't count as `overruns`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class PeekableSource(Protocol):
    """An `AudioSource` that also gives access to the incomplete frame. For use on the reading thread."""

    def ahead(self) -> np.ndarray:
        """Returns a copy of those samples of the next frame that have arrived: float32 (n,), n < 1920, possibly empty.

        Consumes nothing and never blocks or raises. The frame that `read_frame` returns later may start differently if
        the microphone was muted or samples were lost in between.
        """
        ...


@runtime_checkable
class EarlySampleSource(Protocol):
    """An `AudioSource` that also delivers parts of the next frame early, from inside `read_frame`."""

    on_early_samples: Callable[[np.ndarray], None] | None
    """Called on the reading thread with consecutive parts of the next frame, float32 (n,), from its start. Must be set
    on the same thread; None disables early delivery."""


class AudioSink(Protocol):
    """The destination of the app's voice. One thread writes and flushes; any thread may read the counters.

    Every sample written is included in exactly one counter: `written == played + queued + flushed + overruns`.
    """

    @property
    def name(self) -> str:
        """The user-facing name of the device or file."""
        ...

    @property
    def keeps_time(self) -> bool:
        """Whether silence must be written as well (a file), or the sink may be left idle (a loudspeaker)."""
        ...

    @property
    def written(self) -> int:
        """Samples (24 kHz) passed to `write` so far."""
        ...

    @property
    def played(self) -> int:
        """Samples passed to the loudspeaker; never decreases.

        They become audible tens of milliseconds later, because the device has its own buffer.
        """
        ...

    @property
    def queued(self) -> int:
        """Samples waiting to be played."""
        ...

    @property
    def flushed(self) -> int:
        """Samples discarded by `flush` before they were played."""
        ...

    @property
    def overruns(self) -> int:
        """Samples lost because the queue was full (the oldest are dropped first)."""
        ...

    @property
    def underruns(self) -> int:
        """How often the queue ran empty during speech."""
        ...

    def write(self, samples: np.ndarray) -> None:
        """Queues float32 samples of shape (n,), mono, 24 kHz, in [-1, 1]. Never blocks.

        An empty array means that there is no speech in this step; a resampling sink then plays the few milliseconds
        that it has buffered. Raises `DeviceError` if the device is gone, or `AudioFileError` if writing a file fails.
        """
        ...

    def flush(self) -> int:
        """Discards the queued samples on a barge-in, and returns their number.

        If the device consumes a block at the same moment, the result may be one block too high, but `flushed` and
        `played` are exact.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class PausesPlayback(Protocol):
    """An `AudioSink` that can also pause playback without losing its queue. For use on the writing thread."""

    def pause_playback(self) -> None:
        """Fades out in the next block, then plays silence until `resume_playback` or `flush`.

        The queue is kept and may grow. A pause doesn't count as an underrun. No-op if there is no device.
        """
        ...

    def resume_playback(self) -> None:
        """Resumes playback from where it was paused."""
        ...


@runtime_checkable
class LeavesOutQuiet(Protocol):
    """An `AudioSink` that leaves out quiet frames while its queue is longer than usual. For use on the writing thread.

    `quiet`: the RMS below which a frame may be left out; at first one that suits speech.
    """

    quiet: float


class Tap(Protocol):
    """The far end: every sample passed to the loudspeaker, including silence. Must be read by one thread only."""

    @property
    def rate(self) -> int:
        """The sample rate in Hz, according to the loudspeaker's clock."""
        ...

    @property
    def generation(self) -> int:
        """Incremented when the device is reopened; later samples aren't aligned with earlier ones."""
        ...

    def take(self) -> np.ndarray:
        """Returns all samples played since the last call, which the caller owns: float32 mono (n,).

        Never blocks. Samples not taken within a few seconds are lost, oldest first, and `generation` is incremented.
        """
        ...


class DuplexAudio(Protocol):
    """Full-duplex audio: a source and a sink that outlive the devices behind them.

    Without a microphone, the source delivers silence in real time. While a loudspeaker is expected but unavailable,
    `ready` is False and nothing should be written; if none is expected, the sink acts as a null device that consumes
    samples in real time. `notices` reports device changes.
    """

    @property
    def source(self) -> AudioSource:
        """The user's audio after processing."""
        ...

    @property
    def sink(self) -> AudioSink:
        """The destination of the app's voice."""
        ...

    muted: bool
    """Whether the source delivers zeros instead of microphone samples. Any thread may set it."""

    @property
    def ready(self) -> bool:
        """Whether samples may be written: there is a loudspeaker, or none is expected."""
        ...

    def notices(self) -> Sequence[DeviceNotice]:
        """Returns the notices since the last call, oldest first. Called by the frame thread."""
        ...

    def health(self) -> SoundHealth:
        """Returns the current measurements. Called by the frame thread."""
        ...

    def set_processing(self, processing: Processing) -> None:
        """Applies these settings as soon as possible. Thread-safe."""
        ...

    def choose(self, microphone: str, loudspeaker: str) -> None:
        """Switches to the devices with these names (empty: the system's defaults). Thread-safe and non-blocking."""
        ...
