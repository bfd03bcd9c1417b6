"""The sound's edge on devices: what comes and goes, what drifts and what echoes, behind one source and one sink.

    microphone -> DeviceManager -> EchoCancelledSource -> frames
    samples -> DriftCompensatingSink -> DeviceManager -> loudspeaker, tapped for EchoCancelledSource

Puts these together and knows none of their inner parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from app.audio.devices.drift import DriftCompensatingSink
from app.audio.devices.manager import DeviceManager
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.store import EchoStore
from app.audio.io.base import AudioSink, AudioSource, TellsAhead
from app.audio.io.wrapped_source import WrappedSource
from app.conversation.sound_processing import DeviceNotice, Processing, SoundHealth


class MutedSource(WrappedSource):
    """`source`, or zeros while `muted()`: whatever stands before it holds some sound back, or adds noise of its own."""

    def __init__(self, source: AudioSource, muted: Callable[[], bool]) -> None:
        super().__init__(source)
        self._muted = muted
        self._told: Callable[[np.ndarray], None] | None = None

    @property
    def on_ahead(self) -> Callable[[np.ndarray], None] | None:
        """See `TellsAhead`."""
        return self._told

    @on_ahead.setter
    def on_ahead(self, told: Callable[[np.ndarray], None] | None) -> None:
        self._told = told
        if isinstance(self._source, TellsAhead):
            self._source.on_ahead = None if told is None else lambda samples: told(self._shut(samples))

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """See `AudioSource`."""
        frame = self._source.read_frame(timeout)
        return None if frame is None else self._shut(frame)

    def _shut(self, samples: np.ndarray) -> np.ndarray:
        return np.zeros_like(samples) if self._muted() else samples


class DeviceEdge:
    """A `SoundEdge` on the machine's devices (names; empty: the system's defaults).

    `echoes`: where what is learned of their echo is kept from talk to talk.
    """

    def __init__(
        self,
        microphone: str = "",
        loudspeaker: str = "",
        processing: Processing | None = None,
        *,
        muted: bool = False,
        echoes: EchoStore | None = None,
    ) -> None:
        self._devices = DeviceManager(microphone or None, loudspeaker or None)
        self._devices.muted = muted
        if echoes is not None:
            echoes.pair = lambda: f"{self._devices.source.name} < {self._devices.sink.name}"
        self._clean = EchoCancelledSource(self._devices.source, self._devices.tap, processing or Processing(), echoes)
        self._even = DriftCompensatingSink(self._devices.sink)
        self._shut = MutedSource(self._clean, lambda: self._devices.muted)
        self._problem = ""

    @property
    def source(self) -> AudioSource:
        """See `SoundEdge.source`."""
        return self._shut

    @property
    def sink(self) -> AudioSink:
        """See `SoundEdge.sink`."""
        return self._even

    @property
    def muted(self) -> bool:
        """See `SoundEdge.muted`."""
        return self._devices.muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self._devices.muted = muted

    @property
    def ready(self) -> bool:
        """See `SoundEdge.ready`."""
        return self._devices.ready

    def notices(self) -> Sequence[DeviceNotice]:
        """See `SoundEdge.notices`."""
        notices = [*self._devices.notices()]
        problem = self._clean.problem
        if problem != self._problem:
            self._problem = problem
            if problem:
                notices.append(DeviceNotice("microphone", "note", self._clean.name, problem))
        return notices

    def health(self) -> SoundHealth:
        """See `SoundEdge.health`."""
        return replace(self._clean.health, underruns=self._devices.underruns)

    @property
    def cushion_seconds(self) -> float:
        """How long the first samples of a talk wait before they are played, as of now."""
        return self._devices.cushion_seconds

    def set_processing(self, processing: Processing) -> None:
        """See `SoundEdge.set_processing`."""
        self._clean.set_processing(processing)

    def choose(self, microphone: str, loudspeaker: str) -> None:
        """See `SoundEdge.choose`."""
        self._devices.choose(microphone or None, loudspeaker or None)
