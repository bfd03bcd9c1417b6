"""The protocols of a session's audio, and their errors: `AudioSource` delivers frames, `AudioSink` accepts samples.

Both are context managers: the constructor opens nothing, entering opens, leaving closes. Devices, files and the
stand-ins of tests implement the same protocols. The text of an error is a sentence for the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import numpy as np

from app.conversation.sound_processing import DeviceNotice, Processing, SoundHealth


class AudioError(Exception):
    """`str(error)` tells the user what happened, what it means and what to do."""


class AudioFileError(AudioError):
    """A sound file can't be read or written, or contains nothing audible."""


class DeviceError(AudioError):
    """A microphone or loudspeaker is missing, busy, refused or gone."""


class WrappedSource:
    """An `AudioSource` that passes everything on to `source`; subclasses override what they change."""

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
    """Raised after the last frame of a finite source. Not an error."""


class AudioSource(Protocol):
    """Where the user's sound comes from. One thread reads it."""

    @property
    def name(self) -> str:
        """The name of the device or file, for the user."""
        ...

    @property
    def overruns(self) -> int:
        """Samples (24 kHz) lost so far because they were not read in time."""
        ...

    @property
    def backlog(self) -> int:
        """Whole frames waiting to be read. More than one means that the reader is late."""
        ...

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """Returns the next frame, which then belongs to the caller: float32 (1920,), mono, 24 kHz, in [-1, 1].

        None if no whole frame came within `timeout` seconds. Raises `EndOfAudio` after the last frame of a finite
        source (padded with zeros), `DeviceError` when the device is gone and `AudioFileError` when a file breaks off.
        """
        ...

    def drop_to_newest(self) -> int:
        """Drops all waiting frames but the newest and returns how many. They do not count as `overruns`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class PeekableSource(Protocol):
    """An `AudioSource` that also shows the incomplete frame. Called by the thread that reads."""

    def ahead(self) -> np.ndarray:
        """Returns a copy of the next frame as far as it has arrived: float32 (n,), n < 1920, possibly empty.

        Consumes nothing, never waits and never raises. The frame that `read_frame` returns later may begin differently
        if the microphone was muted or samples were lost in between.
        """
        ...


@runtime_checkable
class EarlySampleSource(Protocol):
    """An `AudioSource` that also hands out parts of the next frame early, from inside `read_frame`."""

    on_early_samples: Callable[[np.ndarray], None] | None
    """Called with consecutive float32 (n,) parts of the beginning of the next frame, on the thread that reads. That
    thread also sets it; None turns it off."""


class AudioSink(Protocol):
    """Where the app's voice goes. One thread writes and flushes; any thread may read the counters.

    Every sample written is counted in exactly one place: `written == played + queued + flushed + overruns`.
    """

    @property
    def name(self) -> str:
        """The name of the device or file, for the user."""
        ...

    @property
    def keeps_time(self) -> bool:
        """True if silence must be written too (a file); False if the sink may idle (a loudspeaker)."""
        ...

    @property
    def written(self) -> int:
        """Samples (24 kHz) passed to `write` so far."""
        ...

    @property
    def played(self) -> int:
        """Samples handed to the loudspeaker; never falls.

        They become audible after the device's own buffer, some tens of milliseconds later.
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
        """Samples lost because the queue was full; the oldest are dropped first."""
        ...

    @property
    def underruns(self) -> int:
        """How often the queue ran empty in the middle of speech."""
        ...

    def write(self, samples: np.ndarray) -> None:
        """Queues float32 samples of shape (n,), mono, 24 kHz, in [-1, 1]; never waits.

        An empty array means that there is nothing to say at this step: a sink that resamples then plays the few
        milliseconds that it holds back. Raises `DeviceError` when the device is gone, `AudioFileError` when the file
        can't grow.
        """
        ...

    def flush(self) -> int:
        """Discards what is queued, for a barge-in, and returns how many samples that was.

        If the device takes a block at this very moment, the result may be one block too high; `flushed` and `played`
        are exact.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class PausesPlayback(Protocol):
    """An `AudioSink` that can also pause playback without losing its queue. Called by the thread that writes."""

    def pause_playback(self) -> None:
        """Fades out in the next block, then plays silence until `resume_playback` or `flush`; the queue stays and may
        grow.

        Counts no underrun. Does nothing if there is no device.
        """
        ...

    def resume_playback(self) -> None:
        """Resumes playback where it was paused."""
        ...


class Tap(Protocol):
    """The far end: every sample handed to the loudspeaker, silence included. One thread takes from it."""

    @property
    def rate(self) -> int:
        """Sample rate in hertz, by the loudspeaker's clock."""
        ...

    @property
    def generation(self) -> int:
        """Rises when the device was opened again: earlier and later samples are no longer aligned."""
        ...

    def take(self) -> np.ndarray:
        """Returns all samples played since the last call: float32 mono (n,), which then belong to the caller.

        Never waits. Samples not taken within some seconds are lost, oldest first, and `generation` rises.
        """
        ...


class DuplexAudio(Protocol):
    """Full-duplex audio: a source and a sink that outlive the devices behind them.

    Without a microphone the source delivers silence in real time. While a loudspeaker is waited for, `ready` is False
    and nothing should be written; where there is none, the sink takes samples in real time, unheard. Changes are
    reported by `notices`.
    """

    @property
    def source(self) -> AudioSource:
        """The user's sound after processing."""
        ...

    @property
    def sink(self) -> AudioSink:
        """Where the app's voice goes."""
        ...

    muted: bool
    """While True the source delivers zeros and no microphone sample leaves it. Any thread may set it."""

    @property
    def ready(self) -> bool:
        """Whether there is a loudspeaker, or none is waited for."""
        ...

    def notices(self) -> Sequence[DeviceNotice]:
        """Returns what happened since the last call, oldest first. Called by the frame thread."""
        ...

    def health(self) -> SoundHealth:
        """Returns the current measurements. Called by the frame thread."""
        ...

    def set_processing(self, processing: Processing) -> None:
        """Applies this processing from the next frame on. Any thread may call it."""
        ...

    def choose(self, microphone: str, loudspeaker: str) -> None:
        """Switches to these devices (names; empty: the system's defaults). Any thread may call it; never waits."""
        ...
