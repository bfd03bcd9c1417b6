"""A session's slot for a microphone or loudspeaker: selects the device, tracks the reason, and notifies the user.

For use on the device thread only. Devices that couldn't be opened are remembered until they are unplugged or chosen
again.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Sequence

from app.audio.devices import listing, messages
from app.audio.devices.active_device import ActiveDevice
from app.audio.devices.listing import Device, identity, match_name, same_device
from app.audio.devices.managed_sink import ManagedSink
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import Cause, DeviceNotifier, DeviceStatus
from app.audio.devices.pulse import PulseDevice, PulseState
from app.audio.io.base import DeviceError
from app.conversation.events import DeviceKind, DeviceNotice

MAX_RETRY_SECONDS = 8.0


class RefusedDevices:
    """Devices that couldn't be opened. They are retried only as a last resort, and not before `retry_at`."""

    def __init__(self) -> None:
        self.retry_at = 0.0
        self._silent_openings = 0
        self._devices: dict[str, tuple[bool, bool]] = {}
        """Maps identities to (listed by the sound server, preferred by the user)."""

    def __bool__(self) -> bool:
        return bool(self._devices)

    def __contains__(self, device: Device | PulseDevice) -> bool:
        return identity(device) in self._devices

    def add(self, device: Device, is_preferred: bool) -> None:
        self._devices[identity(device)] = (bool(device.pulse_name), is_preferred)

    def delay(self, now: float) -> None:
        """Delays the next attempt, with exponential backoff, after a device has opened but delivered nothing."""
        self._silent_openings += 1
        self.retry_at = now + min(2.0**self._silent_openings, MAX_RETRY_SECONDS)

    @property
    def has_preferred(self) -> bool:
        return any(is_preferred for _, is_preferred in self._devices.values())

    def reset_delay(self) -> None:
        """Resets the backoff once the device in use delivers samples."""
        self._silent_openings = 0

    def keep(self, present: Iterable[Device | PulseDevice], of_server: bool) -> None:
        """Forgets the sound server's devices (`of_server`) or PortAudio's devices that are not in `present`."""
        still = {identity(device) for device in present}
        self._devices = {key: one for key, one in self._devices.items() if one[0] != of_server or key in still}

    def clear(self) -> None:
        """Forgets all devices. Called after the user has made a new choice."""
        self._devices.clear()
        self._silent_openings = 0
        self.retry_at = 0.0


class DeviceSlot:
    """Selects the microphone or loudspeaker behind `managed`.

    - `kind`: the kind of device.
    - `preferred`: the name of the user's choice; empty for the default.
    - `managed`: the source or sink that devices are attached to.
    - `notify`: called with each notice for the user.
    """

    def __init__(
        self,
        kind: DeviceKind,
        preferred: str,
        managed: ManagedSource | ManagedSink,
        notify: Callable[[DeviceNotice], None],
    ) -> None:
        self.kind = kind
        self.used = False
        self.retry_at = 0.0
        self.tries = 0
        self.lost_at = 0.0
        """When the last device was lost (`time.monotonic`); -inf if the session started without one."""
        self.active = ActiveDevice(kind, managed)
        self.refused = RefusedDevices()
        self._status = DeviceStatus(preferred)
        self._notifier = DeviceNotifier(kind, notify)
        self._moved_by_user = False
        self._default = ""
        self._default_changed = False
        self._preferred_was_there = True
        self._switch_at: float | None = None

    @property
    def preferred(self) -> str:
        """The name chosen by the user; empty for the system's default."""
        return self._status.preferred

    @property
    def was_absent(self) -> bool:
        """Whether the session started without a device and none has been lost since."""
        return self.lost_at == -math.inf

    @property
    def cause(self) -> Cause:
        """The reason reported to the user for opening the next device. Setting it doesn't overwrite "chosen"."""
        return self._status.cause

    @cause.setter
    def cause(self, cause: Cause) -> None:
        if self._status.cause != "chosen":
            self._status.cause = cause

    def find(self, name: str | None, state: PulseState | None) -> Device:
        """Finds the device that a name refers to; see `listing.find_device`."""
        return listing.find_device(self.kind, name, state)

    def choose(self, name: str) -> None:
        """Sets the user's choice. A device that couldn't be opened before is retried."""
        if name == self.preferred and self.active.is_open and not self.refused:
            return
        self.refused.clear()
        self._status = DeviceStatus(name, "chosen")
        self._moved_by_user = False
        self._preferred_was_there = False
        self._default_changed = True  # even if unchanged, since the user may have chosen the default
        self._switch_at = 0.0

    # Opening and checking

    def open(self, device: Device, by_name: bool) -> None:
        """Opens the device. Without `by_name` the sound server may move the stream. Raises `DeviceError`."""
        self.active.open(device, by_name)
        self._moved_by_user = False

    def opened(self, state: PulseState | None) -> None:
        """Finds where the sound server has routed the stream. Must be called after `open`, with the latest state."""
        self.tries = 0
        self._switch_at = None
        self._default_changed = False
        if state is not None:
            self._default = _default(state, self.kind)
            placed = self.active.placed(state)
            if placed is not None:
                self.active.set_placed(placed, moved=False)
        else:
            with contextlib.suppress(DeviceError):
                self._default = self._own_default(listing.own_devices())

    def start_use(self, state: PulseState | None) -> None:
        """Starts a session with the open device."""
        self.used = True
        self.refused.reset_delay()
        self.opened(state)
        self._notifier.start(self.active.name)
        self._preferred_was_there = True

    def start_without(self, problem: str) -> None:
        """Starts a session without a device. `problem`: the error message, or empty if none was found."""
        self.used = True
        self.refused.reset_delay()
        self.retry_at, self.lost_at = 0.0, -math.inf
        self.tries = 1  # the list is current, so don't interrupt anything to refresh it
        self._status.problem, self._status.cause = problem, "chosen" if self.preferred else "gone"
        self._preferred_was_there = False
        self._notifier.start(None)

    def end_use(self) -> None:
        """Ends the session."""
        self.used = False
        self.active.close(wait=None)

    def refuse(self, device: Device, problem: str) -> None:
        """Records that `device` can't be opened, or opens but delivers nothing. `problem`: the error message."""
        is_preferred = bool(self.preferred) and match_name(self.preferred, [device]) is not None
        if is_preferred or not self._status.problem:
            self._status.problem = problem
        self.refused.add(device, is_preferred)
        self._status.refused = self.refused.has_preferred

    def forget_refused(self, present: Iterable[Device | PulseDevice], of_server: bool) -> None:
        """Forgets refused devices that aren't present; see `RefusedDevices.keep`."""
        self.refused.keep(present, of_server)
        self._status.refused = self.refused.has_preferred

    def check(self, state: PulseState | None, passed: float) -> None:
        """Closes the device if it is lost or slow. `passed`: seconds since the last check."""
        self.forget_refused(state.of(self.kind) if state is not None else (), of_server=True)
        if not self.active.is_open:
            return
        condition = self.active.check(state, passed)
        if self.active.delivers:
            self.refused.reset_delay()
        if condition == "works":
            return
        self._status.cause = "slow" if condition == "slow" else "gone"
        self.active.close()
        self.retry_at = 0.0
        if condition == "slow":
            return
        self.tries = 0
        self.lost_at = time.monotonic()
        device = self.active.device
        if condition == "stalled" and not self.active.delivers and device is not None:
            # The device opens but delivers nothing: prefer others, and don't keep reopening it.
            self.refuse(device, messages.silent(self.kind, device.name))
            self.refused.delay(self.lost_at)

    # Choosing the device

    def needs_switch(self, state: PulseState, now: float, grace: float) -> bool:
        """Records where the sound server has moved our stream; returns whether to open another device.

        `grace`: how many seconds to give the server to move the stream itself.
        """
        default = _default(state, self.kind)
        if default != self._default:
            self._default, self._default_changed = default, True
        preferred = match_name(self.preferred, state.of(self.kind)) if self.preferred else None
        if preferred is not None and not self._preferred_was_there:
            self._moved_by_user = False
        self._preferred_was_there = preferred is not None
        self._note_move(state, preferred)
        if self._status.cause == "chosen" and self.preferred and preferred is None:
            try:  # the device may be configured in ALSA
                return not same_device(self.find(self.preferred, state).name, self.active.name)
            except DeviceError:
                self._status.absent = True
        current = self.active.device
        assert current is not None
        target = None
        if preferred is not None:
            if not self._moved_by_user and preferred not in self.refused:
                target = preferred
        elif self._default_changed:
            target = next((d for d in state.of(self.kind) if d.is_default), None)
        if target is None or target.pulse_name == current.pulse_name:
            self._switch_at = None
            self._default_changed = False
            return False
        if not current.pulse_name and preferred is None and same_device(current.name, self.preferred):
            return False  # a device configured in ALSA and chosen by name stays in use, wherever it is routed
        if self._switch_at is None:
            self._switch_at = now + grace
        if now < self._switch_at:
            return False
        self.cause = "returned" if preferred is not None else "default"
        return True

    def _note_move(self, state: PulseState, preferred: PulseDevice | None) -> None:
        placed = self.active.placed(state)
        before = self.active.device
        if placed is None or before is None or not before.pulse_name or placed.pulse_name == before.pulse_name:
            return
        if not any(d.pulse_name == before.pulse_name for d in state.of(self.kind)):
            self._status.cause, self._moved_by_user = "gone", False
        elif preferred is not None and placed.pulse_name == preferred.pulse_name:
            self._status.cause = "returned"
        elif self._default_changed and placed.is_default:
            self._status.cause = "default"
        else:
            self._status.cause, self._moved_by_user = "mixer", True
        self.active.set_placed(placed, moved=True)

    def cause_to_switch(self, listed: Sequence[Device]) -> Cause | None:
        """Returns the reason to switch to a device in a new list, or None to keep the current device.

        Only used without a sound server.
        """
        self.forget_refused(listed, of_server=False)
        chosen = self._status.cause == "chosen"
        self._status.absent = chosen and bool(self.preferred)  # unless it is found below
        default = self._own_default(listed)
        changed = default != self._default or chosen
        preferred = match_name(self.preferred, listed) if self.preferred else None
        name = self.active.name
        if preferred is not None:
            self._status.absent = False
            if same_device(name, preferred.name) or preferred in self.refused:
                return None
            return "chosen" if chosen else "returned"
        if changed and default and not same_device(name, default):
            still = any(same_device(device.name, name) for device in listed)
            return "chosen" if chosen else "default" if still else "gone"
        self._default = default or self._default  # otherwise updated once the new device is open
        return None

    def _own_default(self, listed: Sequence[Device]) -> str:
        return next((device.name for device in listed if device.is_default_for(self.kind)), "")

    # Reporting

    def report(self, now: float, state: PulseState | None) -> None:
        """Notifies the user of changes that have lasted long enough to report."""
        active = self.active
        if state is not None and self._status.cause == "default":
            # An unplugged device stops being the default before it disappears.
            there = any(device.name == self._notifier.reported for device in state.of(self.kind))
            self._status.cause = "default" if there else "gone"
        if not active.is_open or active.delivers or active.suspended:  # an open device may still deliver nothing
            self._notifier.update(now, active.name, self._status)
        if active.device is None or not active.name or active.name != self._notifier.reported:
            return
        self._notifier.update_suspended(now, active.name, active.suspended)
        if self.kind == "microphone":
            placed = active.placed(state) if state is not None else None
            self._notifier.update_quality(active.device, placed is not None and placed.muted)


def _default(state: PulseState, kind: DeviceKind) -> str:
    return next((d.pulse_name for d in state.of(kind) if d.is_default), "")
