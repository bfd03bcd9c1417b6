"""Notifies the user of changes to one device: each once, when it has lasted, and never in quick succession."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from app.audio.devices import messages
from app.audio.devices.listing import Device, same_device
from app.audio.devices.messages import Cause
from app.conversation.sound_processing import DeviceKind, DeviceNotice

SETTLE_SECONDS, LOST_SECONDS = 0.3, 1.0
"""How long a new state must last before it is reported: with another device, and without any."""

SUSPENDED_SECONDS = 2.0
"""How long a device must be suspended before it is reported."""

STORM_NOTICES, STORM_SECONDS, STORM_SETTLE_SECONDS = 4, 30.0, 5.0
"""After so many changes within this time (a loose plug), a state must last longer before it is reported."""


@dataclass(slots=True)
class DeviceStatus:
    """Which device the user prefers, and why another one may be in use.

    `preferred`: its name, empty for the default; `refused`: it can't be opened; `problem`: the sentence why it, or any,
    can't be opened, until it is reported; `absent`: it was chosen just now, and isn't there.
    """

    preferred: str
    cause: Cause = "gone"
    refused: bool = False
    problem: str = ""
    absent: bool = False


class DeviceNotifier:
    """Reports changes to one kind of device; `notify` receives the notices."""

    def __init__(self, kind: DeviceKind, notify: Callable[[DeviceNotice], None]) -> None:
        self._kind, self._notify = kind, notify
        self.reported: str | None = ""
        """The device in use according to the last notice; None before anything is known."""
        self._pending: tuple[str, float] | None = None  # another device, and since when it is in use
        self._notified_at: deque[float] = deque(maxlen=STORM_NOTICES)
        self._lost = ""
        self._absent = False  # it was reported that there is none
        self._narrowband = ""
        self._muted = self._suspended = False
        self._suspended_since: float | None = None

    def start(self, name: str | None) -> None:
        """Starts a session with this device, without a notice; None: it could not be opened, which is still to be
        reported, or which other one is in use.
        """
        self.reported, self._pending, self._absent = name, None, False
        self._narrowband, self._muted, self._suspended = "", False, False
        self._notified_at.clear()

    def update(self, now: float, name: str, status: DeviceStatus) -> None:
        """Reports that the device in use is `name` (empty: none), and clears in `status` what was reported."""
        if name == self.reported:
            self._pending = None
            if name and status.absent:
                self._notify(messages.changed(self._kind, name, name, "absent", status.preferred))
            elif name and status.cause == "chosen" and self._is_refused(name, status):
                self._notify(messages.changed(self._kind, name, name, "refused", status.preferred, status.problem))
            status.absent = False
            if name:
                status.problem = ""
            if status.cause == "chosen":
                status.cause = "gone"  # it was in use already
            return
        if self._pending is None or self._pending[0] != name:
            self._pending = (name, now)
        if now - self._pending[1] < self._must_last(now, name, status):
            return
        before, self.reported, self._pending = self.reported, name, None
        if before is None and not name:
            self._absent = True
            self._notify(messages.absent(self._kind, status.problem))
            return  # why it is so is still to be said of what comes
        before, was_absent, self._absent = before or "", before is None or self._absent, False
        self._muted = self._suspended = False
        self._notified_at.append(now)
        no_other = not status.preferred or same_device(status.preferred, name)
        if was_absent and name and no_other:
            self._notify(messages.found(self._kind, name))
        else:
            self._notify(self._notice(before, name, status))
        status.absent, status.problem, status.cause = False, "", "gone"

    def update_quality(self, device: Device, muted: bool) -> None:
        """Reports a microphone in use that has telephone quality, or is muted in the system."""
        if device.default_rate <= messages.NARROWBAND_RATE and self._narrowband != device.name:
            self._narrowband = device.name
            self._notify(messages.narrowband(device.name, device.default_rate))
        if muted != self._muted:
            self._muted = muted
            self._notify(messages.muted(device.name, muted))

    def update_suspended(self, now: float, name: str, is_suspended: bool) -> None:
        """Reports that the system has suspended the device in use, or resumed it."""
        if is_suspended == self._suspended:
            self._suspended_since = None
            return
        if self._suspended_since is None:
            self._suspended_since = now
        if not is_suspended or now - self._suspended_since >= SUSPENDED_SECONDS:
            self._suspended, self._suspended_since = is_suspended, None
            self._notify(messages.suspended(self._kind, name, is_suspended))

    def _must_last(self, now: float, name: str, status: DeviceStatus) -> float:
        if name and status.cause == "chosen":
            return 0.0
        if len(self._notified_at) == STORM_NOTICES and now - self._notified_at[0] < STORM_SECONDS:
            return STORM_SETTLE_SECONDS
        return SETTLE_SECONDS if name else LOST_SECONDS

    def _notice(self, before: str, name: str, status: DeviceStatus) -> DeviceNotice:
        if not name:
            self._lost = before
            return messages.lost(self._kind, before, status.problem)
        preferred = name if status.preferred and same_device(status.preferred, name) else status.preferred
        if not before and not preferred and name == self._lost:
            return messages.back(self._kind, name)
        cause = status.cause
        if preferred and preferred != name:
            if self._is_refused(name, status):
                cause = "refused"
            elif cause == "chosen":
                cause = "absent"
        return messages.changed(self._kind, before, name, cause, preferred, status.problem, status.refused)

    def _is_refused(self, name: str, status: DeviceStatus) -> bool:
        """Whether a substitute is in use because the preferred device can't be opened, and that is not reported yet."""
        return status.refused and bool(status.problem) and not same_device(status.preferred, name)
