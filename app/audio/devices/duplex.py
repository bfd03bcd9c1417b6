"""Full-duplex audio on devices: a source and a sink with device management, drift compensation and echo cancellation.

microphone -> DeviceManager -> EchoCancelledSource -> MutedSource -> frames
samples -> DriftCompensatingSink -> DeviceManager -> loudspeaker, tapped for EchoCancelledSource
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from app.audio.devices.drift import DriftCompensatingSink
from app.audio.devices.manager import DeviceManager
from app.audio.devices.messages import muted_talk
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.store import EchoStore
from app.audio.io.base import AudioSink, AudioSource, EarlySampleSource, WrappedSource
from app.conversation.events import DeviceNotice, Processing, SoundHealth


class MutedSource(WrappedSource):
    """Replaces the audio of `source` with zeros while `muted()` returns True.

    Muting further upstream isn't enough, since the processing in between may delay the effect or add noise.
    """

    def __init__(self, source: AudioSource, muted: Callable[[], bool]) -> None:
        super().__init__(source)
        self._muted = muted
        self._listener: Callable[[np.ndarray], None] | None = None

    @property
    def on_early_samples(self) -> Callable[[np.ndarray], None] | None:
        return self._listener

    @on_early_samples.setter
    def on_early_samples(self, listener: Callable[[np.ndarray], None] | None) -> None:
        self._listener = listener
        if isinstance(self._source, EarlySampleSource):
            self._source.on_early_samples = None if listener is None else lambda samples: listener(self._mute(samples))

    def read_frame(self, timeout: float) -> np.ndarray | None:
        frame = self._source.read_frame(timeout)
        return None if frame is None else self._mute(frame)

    def _mute(self, samples: np.ndarray) -> np.ndarray:
        return np.zeros_like(samples) if self._muted() else samples


TALK_FRAMES, TALK_BLOCKS = 25, 60
"""A user who is loud for 0.6 of 2 seconds while muted is probably talking."""


class MutedTalk:
    """Notices once, for each time that the microphone is muted, that the user talks."""

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=TALK_FRAMES)
        self._told = False

    def heard(self, muted: bool, loud_blocks: int) -> bool:
        """Returns whether the user talks; to be called once a frame. `loud_blocks`: see `Microphone`."""
        if not muted:
            self._counts.clear()
            self._told = False
            return False
        self._counts.append(loud_blocks)
        talks = loud_blocks - self._counts[0] >= TALK_BLOCKS and not self._told
        self._told = self._told or talks
        return talks


class DeviceDuplexAudio:
    """A `DuplexAudio` that uses the machine's devices.

    - `microphone`, `loudspeaker`: device names; empty for the system's defaults.
    - `processing`: the audio processing, `Processing()` by default.
    - `muted`: whether to start with the microphone muted.
    - `required`: whether entering raises `DeviceError` if a device is missing; if not, the session starts without it.
    - `echoes`: stores the devices' echo paths between sessions.
    """

    def __init__(
        self,
        microphone: str = "",
        loudspeaker: str = "",
        processing: Processing | None = None,
        *,
        muted: bool = False,
        required: bool = True,
        echoes: EchoStore | None = None,
    ) -> None:
        self._devices = DeviceManager(microphone, loudspeaker, required=required)
        self.muted = muted
        if echoes is not None:
            echoes.pair = lambda: f"{self._devices.source.name} < {self._devices.sink.name}"
        self._cancelled = EchoCancelledSource(
            self._devices.source, self._devices.tap, processing or Processing(), echoes
        )
        self.source: AudioSource = MutedSource(self._cancelled, lambda: self.muted)
        self.sink: AudioSink = DriftCompensatingSink(self._devices.sink)
        self._problem = ""
        self._muted_talk = MutedTalk()

    @property
    def muted(self) -> bool:
        return self._devices.source.muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self._devices.source.muted = muted

    @property
    def ready(self) -> bool:
        return self._devices.sink.ready

    def notices(self) -> Sequence[DeviceNotice]:
        notices = [*self._devices.notices()]
        problem = self._cancelled.problem
        if problem != self._problem:
            self._problem = problem
            if problem:
                notices.append(DeviceNotice("microphone", "note", self._cancelled.name, problem))
        if self._muted_talk.heard(self.muted, self._devices.source.loud_blocks):
            notices.append(muted_talk(self._cancelled.name))
        return notices

    def health(self) -> SoundHealth:
        return replace(self._cancelled.health, underruns=self._devices.sink.underruns)

    @property
    def prebuffer_seconds(self) -> float:
        """Current prebuffering delay at the start of speech, in seconds."""
        return self._devices.sink.prebuffer_seconds

    def set_processing(self, processing: Processing) -> None:
        self._cancelled.set_processing(processing)

    def choose(self, microphone: str, loudspeaker: str) -> None:
        self._devices.choose(microphone, loudspeaker)
