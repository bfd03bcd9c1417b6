"""The two ends of a conversation's sound: `AudioSource` gives frames, `AudioSink` takes samples.

Both are context managers: constructing one touches nothing, `with` opens it, leaving closes it. Devices,
files and the stand-ins of tests follow the same two protocols. Knows nothing of how any of them does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import numpy as np

from app.conversation.sound_processing import DeviceNotice, Processing, SoundHealth


class EndOfAudio(Exception):
    """A finite source has given its last frame. No error: the natural end of a file."""


class AudioSource(Protocol):
    """Where the user's sound comes from. One thread reads it."""

    @property
    def name(self) -> str:
        """The device's or the file's name, for the user."""
        ...

    @property
    def overruns(self) -> int:
        """Samples (24 kHz) lost so far because nobody read them in time."""
        ...

    @property
    def backlog(self) -> int:
        """Whole frames that wait to be read. More than one means that the reader is late."""
        ...

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """The next frame: float32 of shape (1920,), mono, 24 kHz, in [-1, 1]; the caller's to keep.

        None when no whole frame came within `timeout` seconds. Raises `EndOfAudio` after the last frame of a
        finite source (whose end is filled up with zeros), `DeviceError` when the device is gone and
        `AudioFileError` when a file breaks off.
        """
        ...

    def drop_to_newest(self) -> int:
        """Forget all waiting frames but the newest one; how many were dropped. They aren't `overruns`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class ShowsAhead(Protocol):
    """What an `AudioSource` may be besides: it shows the frame that is under way. For the thread that reads it."""

    def ahead(self) -> np.ndarray:
        """The next frame as far as it has come: float32 of shape (n,), n < 1920; the caller's to keep.

        Takes nothing, never waits and raises nothing. Empty where nothing has come or nothing can be told. What
        `read_frame` gives then may begin otherwise, where the sound was muted or samples were lost meanwhile.
        """
        ...


@runtime_checkable
class TellsAhead(Protocol):
    """What an `AudioSource` may be besides: it hands over what of the next frame is ready, while `read_frame` waits."""

    on_ahead: Callable[[np.ndarray], None] | None
    """Called with float32 of shape (n,), behind what it was called with since the last frame; together they are the
    next frame's beginning. On the thread that reads, which sets it, too; None: nobody listens."""


class AudioSink(Protocol):
    """Where the app's voice goes. One thread writes and flushes; any thread may read the counters.

    Every written sample is in exactly one of four places, so that at any moment
    `written == played + queued + flushed + overruns`.
    """

    @property
    def name(self) -> str:
        """The device's or the file's name, for the user."""
        ...

    keeps_time: bool
    """Whether silence is part of it (a file) or it may idle while there is nothing to say (a loudspeaker)."""

    @property
    def written(self) -> int:
        """Samples (24 kHz) that `write` was given so far."""
        ...

    @property
    def played(self) -> int:
        """Samples that have left towards the loudspeaker; never falls.

        They are heard a little later: add the device's own buffer, some tens of milliseconds.
        """
        ...

    @property
    def queued(self) -> int:
        """Samples that wait to be played."""
        ...

    @property
    def flushed(self) -> int:
        """Samples that `flush` took back before they were played."""
        ...

    @property
    def overruns(self) -> int:
        """Samples that had no room: the oldest give way to the newest."""
        ...

    @property
    def underruns(self) -> int:
        """How often the device wanted samples in the middle of talk and got silence."""
        ...

    def write(self, samples: np.ndarray) -> None:
        """Queue float32 samples of shape (n,), mono, 24 kHz, in [-1, 1]; never waits.

        An empty array is welcome: it says that there is nothing to say at this step, and lets a sink that
        resamples play the few milliseconds that it holds back. Raises `DeviceError` when the device is gone,
        `AudioFileError` when the file can't grow.
        """
        ...

    def flush(self) -> int:
        """Forget what is queued, for a barge-in; how many samples that was.

        Where the device takes a block at this very moment, the answer may be that block too high: `flushed`
        and `played` have the exact figures.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class Hushes(Protocol):
    """What an `AudioSink` may be besides: it can fall silent and keep what is queued. For the thread that writes."""

    def hush(self) -> None:
        """Plays silence from the next block on, behind a fade; what is queued waits, and what is written joins it.

        Until `unhush` or `flush`. No underrun; without a device nothing happens.
        """
        ...

    def unhush(self) -> None:
        """Plays on from where it fell silent."""
        ...


class Tap(Protocol):
    """What a loudspeaker really plays, silence included, sample by sample at its own pace: the echo's origin.

    One thread takes from it.
    """

    @property
    def rate(self) -> int:
        """Hertz, by the loudspeaker's clock."""
        ...

    @property
    def generation(self) -> int:
        """Rises when the device was opened anew: what comes is in no fixed relation to what came before."""
        ...

    def take(self) -> np.ndarray:
        """All that was handed to the device since the last call: float32 mono of shape (n,), the caller's to keep.

        Never waits. What nobody takes for some seconds is lost, oldest first, and `generation` rises.
        """
        ...


class SoundEdge(Protocol):
    """Microphone and loudspeaker as one thing. Its source and sink outlive the devices behind them.

    While there is no microphone the source gives silence at the pace of time; while there is no loudspeaker the sink
    is not `ready` and nobody should write to it. Whatever happens is told in `notices`.
    """

    @property
    def source(self) -> AudioSource:
        """The user's sound, as it is after processing."""
        ...

    @property
    def sink(self) -> AudioSink:
        """Where the app's voice goes."""
        ...

    muted: bool
    """While True the source gives zeros: no sample of the microphone leaves the edge. Any thread may set it."""

    @property
    def ready(self) -> bool:
        """Whether there is a loudspeaker."""
        ...

    def notices(self) -> Sequence[DeviceNotice]:
        """What happened since the last call, oldest first. Called by the frame thread."""
        ...

    def health(self) -> SoundHealth:
        """How it does. Called by the frame thread."""
        ...

    def set_processing(self, processing: Processing) -> None:
        """Processes in this way from the next frame on. Any thread may call."""
        ...

    def choose(self, microphone: str, loudspeaker: str) -> None:
        """Goes on with these devices (names; empty: the system's defaults). Any thread may call; never waits."""
        ...
