"""Remembers devices of one kind that couldn't be opened, until they were unplugged or chosen again."""

from __future__ import annotations

from collections.abc import Iterable

from app.audio.devices.listing import Device, identity
from app.audio.devices.pulse import PulseDevice

MAX_RETRY_SECONDS = 8.0


class RefusedDevices:
    """Such a device is tried again only if there is no other, and not before `retry_at` (`time.monotonic`)."""

    def __init__(self) -> None:
        self.retry_at = 0.0
        self._silent_openings = 0
        self._devices: dict[str, tuple[bool, bool]] = {}
        """By identity: whether it is the sound server's, and whether it is the preferred one."""

    def __bool__(self) -> bool:
        return bool(self._devices)

    def __contains__(self, device: Device | PulseDevice) -> bool:
        return identity(device) in self._devices

    def add(self, device: Device, is_preferred: bool) -> None:
        self._devices[identity(device)] = (bool(device.pulse_name), is_preferred)

    def delay(self, now: float) -> None:
        """Delays the next try, each time longer: the device opened and then delivered nothing."""
        self._silent_openings += 1
        self.retry_at = now + min(2.0**self._silent_openings, MAX_RETRY_SECONDS)

    @property
    def has_preferred(self) -> bool:
        return any(is_preferred for _, is_preferred in self._devices.values())

    def reset_delay(self) -> None:
        """The device in use delivers: the next one that does not is tried again soon."""
        self._silent_openings = 0

    def keep(self, present: Iterable[Device | PulseDevice], of_server: bool) -> None:
        """Forgets those that are not present; `present`: the sound server's devices, or else PortAudio's own."""
        still = {identity(device) for device in present}
        self._devices = {key: one for key, one in self._devices.items() if one[0] != of_server or key in still}

    def clear(self) -> None:
        """Forgets all of them: the user has chosen again."""
        self._devices.clear()
        self._silent_openings = 0
        self.retry_at = 0.0
