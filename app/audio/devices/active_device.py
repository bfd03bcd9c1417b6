"""Manages the open device of a slot: opens it, finds where the sound server has routed it, and checks that it works.

For use on the device thread only.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Literal

from app.audio.devices.listing import Device
from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.devices.managed_sink import ManagedSink
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.microphone import STALLED_SECONDS, Microphone
from app.audio.devices.portaudio_stream import use_longer_blocks
from app.audio.devices.pulse import PulseDevice, PulseState
from app.conversation.events import DeviceKind

OBSERVED_SECONDS = 0.3
"""Maximum time counted between two checks, so that devices get their full timeout after the computer wakes up."""

CLOSE_WAIT_SECONDS = 0.3
"""How long to wait for a lost device to close before opening the next one; closing continues in the background."""

SLOW_XRUNS, SLOW_SECONDS = 4, 10.0
"""A device with this many underruns or overruns within this time is reopened with longer blocks."""

Condition = Literal["works", "lost", "stalled", "slow"]
"""`stalled`: the device neither delivers nor requests samples; `slow`: it must be reopened with longer blocks."""


class ActiveDevice:
    """The open device behind `managed`, if any."""

    def __init__(self, kind: DeviceKind, managed: ManagedSource | ManagedSink) -> None:
        self._kind = kind
        self._managed = managed
        self._opened: Microphone | Loudspeaker | None = None
        self.device: Device | None = None
        """The device that is open or was open last."""
        self.suspended = False
        """Whether the system has suspended the device."""
        self._had_stream = False
        self._stream_number: int | None = None
        self._position, self._idle = -1, 0.0
        self._xruns: tuple[float, int] = (0.0, 0)

    @property
    def is_open(self) -> bool:
        return self._opened is not None

    @property
    def name(self) -> str:
        """The user-facing name of the device in use; empty if none is open."""
        return self.device.name if self._opened is not None and self.device is not None else ""

    @property
    def delivers(self) -> bool:
        """Whether the device has delivered or requested any samples since it was opened."""
        return self._position > 0

    def open(self, device: Device, by_name: bool) -> None:
        """Opens and attaches `device`. Without `by_name` the sound server may move the stream. Raises `DeviceError`."""
        name = device.name if by_name else None
        if isinstance(self._managed, ManagedSource):
            microphone = Microphone(name, device)
            microphone.muted = self._managed.muted
            self._opened = microphone.__enter__()
            self._managed.attach(microphone)
        else:
            loudspeaker = Loudspeaker(name, device)
            self._opened = loudspeaker.__enter__()
            self._managed.attach(loudspeaker)
        self.device = device
        self._stream_number = None
        self.suspended = self._had_stream = False
        self._position, self._idle = -1, 0.0
        self._xruns = (time.monotonic(), 0)

    def close(self, wait: float | None = CLOSE_WAIT_SECONDS) -> None:
        """Detaches and closes the device if it is open. `wait`: see `DeviceStream.close`."""
        opened, self._opened = self._opened, None
        if opened is None:
            return
        self._managed.attach(None)
        opened.close(wait)
        if isinstance(opened, Loudspeaker) and isinstance(self._managed, ManagedSink):
            self._managed.closed(opened)

    def placed(self, state: PulseState) -> PulseDevice | None:
        """Returns the device to which the sound server has routed the stream, or None if unknown."""
        return self._find_stream(state)[1]

    def set_placed(self, placed: PulseDevice, *, moved: bool) -> None:
        """Adopts the properties of the device returned by `placed`. `moved`: whether the stream was moved to it."""
        assert self.device is not None
        if self.device.pulse_name:
            self.device = dataclasses.replace(
                self.device,
                name=placed.name,
                default_rate=placed.rate,
                pulse_name=placed.pulse_name,
                muted=placed.muted,
            )
        if moved:
            self._managed.moved(self.name)
        else:
            self._managed.name = self.name

    def check(self, state: PulseState | None, passed: float) -> Condition:
        """Returns the condition of the open device. `passed`: seconds since the last check."""
        opened = self._opened
        assert opened is not None
        lost, suspended = self._check_stream(state) if state is not None else (False, False)
        lost = lost or opened.finished
        if opened.position == self._position:
            self._idle += min(passed, OBSERVED_SECONDS)
        else:
            self._position, self._idle = opened.position, 0.0
        self.suspended = suspended and self._idle > OBSERVED_SECONDS
        if isinstance(self._managed, ManagedSink):
            self._managed.set_suspended(self.suspended)
        if not suspended and self._idle > STALLED_SECONDS:
            return "stalled"
        if lost:
            return "lost"
        return "slow" if self._is_slow(opened) else "works"

    def _check_stream(self, state: PulseState) -> tuple[bool, bool]:
        """Returns whether the sound server has dropped the stream, and whether it has suspended the device."""
        has_stream, placed = self._find_stream(state)
        if not has_stream:
            # A brief absence is normal: ALSA's plugin opens a new stream after an underrun.
            return self._had_stream and self._idle > OBSERVED_SECONDS, False
        self._had_stream = True
        # If the stream is on no listed device and none is left, the server has moved it to its dummy device.
        return placed is None and not state.of(self._kind), placed is not None and placed.suspended

    def _find_stream(self, state: PulseState) -> tuple[bool, PulseDevice | None]:
        """Returns whether our stream exists (the process may have others), and the device that it is connected to."""
        if self._opened is None:
            return False, None
        stream = state.stream(self._kind, self._opened.tag, self._stream_number)
        self._stream_number = stream.number if stream is not None else None
        return stream is not None, state.device(stream) if stream is not None else None

    def _is_slow(self, opened: Microphone | Loudspeaker) -> bool:
        since, before = self._xruns
        now = time.monotonic()
        if now - since > SLOW_SECONDS:
            self._xruns = (now, opened.xruns)
            return False
        return opened.xruns - before >= SLOW_XRUNS and use_longer_blocks(opened.name)
