"""Opens the best device for a slot: the preferred one, else the default, else any, else one that was refused before."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from app.audio.devices import listing, portaudio_library
from app.audio.devices.listing import Device, identity
from app.audio.devices.server_monitor import ServerMonitor
from app.audio.devices.slot import DeviceSlot
from app.audio.io.errors import DeviceError


def open_best(slot: DeviceSlot, server: ServerMonitor, *, listed_now: bool = True, refused_only: bool = False) -> None:
    """Opens the first device that works, or none.

    Without `listed_now` the list of devices is an old one: a device that can't be opened may simply not be there.
    """
    if server.state is None and server.expected:
        return  # a sound server that is being restarted must find its hardware free
    with portaudio_library.LOCK:  # or another thread restarts PortAudio between finding and opening
        found: dict[str, tuple[Device, bool]] = {}
        for candidate in _candidates(slot, server):
            found.setdefault(identity(candidate[0]), candidate)
        for device, by_name in sorted(found.values(), key=lambda candidate: candidate[0] in slot.refused):
            if device in slot.refused:
                if time.monotonic() < slot.refused.retry_at:
                    continue
            elif refused_only:
                continue
            if _open(slot, server, device, by_name, listed_now):
                return


def _open(slot: DeviceSlot, server: ServerMonitor, device: Device, by_name: bool, listed_now: bool) -> bool:
    try:
        slot.open(device, by_name)
    except DeviceError as error:
        server.query()
        gone = isinstance(error, portaudio_library.DeviceGone) or not listed_now
        if server.state is not None and device.pulse_name:
            gone = all(d.pulse_name != device.pulse_name for d in server.state.of(slot.kind))
        if not gone:
            slot.refuse(device, str(error))
        return False
    server.query()
    slot.opened(server.state)
    return True


def _candidates(slot: DeviceSlot, server: ServerMonitor) -> Iterator[tuple[Device, bool]]:
    """Yields devices, best first, and whether each is to be opened by name; without it the sound server may move it."""
    if slot.preferred:
        with contextlib.suppress(DeviceError):
            yield slot.find(slot.preferred, server.state), True
    with contextlib.suppress(DeviceError):
        yield slot.find(None, server.state), False
    with contextlib.suppress(DeviceError):
        for device in listing.list_devices(server.state):
            if device.channels(slot.kind):
                yield device, True
