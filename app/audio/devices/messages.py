"""User-facing messages about device changes: what happened, what it means, and what to do.

`DeviceNotifier` reports each change once, after it has lasted for some time, and limits the rate of notices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.audio.devices import messages
from app.audio.devices.listing import Device, same_device
from app.conversation.events import DeviceKind, DeviceNotice

SETTLE_SECONDS, LOST_SECONDS = 0.3, 1.0
"""How long a switch to another device, or the loss of the last one, must last before it is reported."""

SUSPENDED_SECONDS = 2.0
"""How long a device must be suspended before it is reported."""

STORM_NOTICES, STORM_SECONDS, STORM_SETTLE_SECONDS = 4, 30.0, 5.0
"""After this many notices within this time (e.g. from a loose plug), changes must last longer to be reported."""


@dataclass(slots=True)
class DeviceStatus:
    """The device that the user prefers, and why another one may be in use.

    - `preferred`: the name of the preferred device, empty for the default.
    - `cause`: why another device is in use.
    - `refused`: whether the preferred device can't be opened.
    - `problem`: a message explaining why the preferred or another device can't be opened; cleared once reported.
    - `absent`: whether the preferred device has just been chosen but isn't connected.
    """

    preferred: str
    cause: Cause = "gone"
    refused: bool = False
    problem: str = ""
    absent: bool = False


class DeviceNotifier:
    """Reports changes to one kind of device by calling `notify`."""

    def __init__(self, kind: DeviceKind, notify: Callable[[DeviceNotice], None]) -> None:
        self._kind, self._notify = kind, notify
        self.reported: str | None = ""
        """The device in use as last reported; None until the first device, or the lack of one, is reported."""
        self._pending: tuple[str, float] | None = None  # another device, and the time since which it has been in use
        self._notified_at: deque[float] = deque(maxlen=STORM_NOTICES)
        self._lost = ""
        self._absent = False  # whether the lack of a device was reported
        self._narrowband = ""
        self._muted = self._suspended = False
        self._suspended_since: float | None = None

    def start(self, name: str | None) -> None:
        """Starts a session with the device `name`, without a notice.

        None means that no device could be opened. The next `update` reports this, or the substitute in use.
        """
        self.reported, self._pending, self._absent = name, None, False
        self._narrowband, self._muted, self._suspended = "", False, False
        self._notified_at.clear()

    def update(self, now: float, name: str, status: DeviceStatus) -> None:
        """Reports the device in use, `name` (empty: none), if it has changed. Clears reported fields of `status`."""
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
                status.cause = "gone"  # it was already in use
            return
        if self._pending is None or self._pending[0] != name:
            self._pending = (name, now)
        if now - self._pending[1] < self._must_last(now, name, status):
            return
        before, self.reported, self._pending = self.reported, name, None
        if before is None and not name:
            self._absent = True
            self._notify(messages.absent(self._kind, status.problem))
            return  # keep the reason for the notice about the next device
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
        """Reports that a microphone has telephone quality, or was muted or unmuted at the system level."""
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
        """Whether a substitute is in use because the preferred device can't be opened, and this isn't reported yet."""
        return status.refused and bool(status.problem) and not same_device(status.preferred, name)


Cause = Literal["gone", "default", "mixer", "chosen", "returned", "absent", "refused", "slow"]
"""Why another device is in use. In this order: the previous device is gone; the system's default changed; the app's
stream was moved in the system's sound settings; the user chose the device; the preferred device is back, wasn't
connected, or couldn't be opened; the same device was reopened (not reported)."""

NARROWBAND_RATE = 16_000
"""Microphones with at most this rate (Hz) have telephone quality; typically Bluetooth headsets in a call."""

_REMEDY = {
    "microphone": "Plug one in, or allow the app to use it in the system's privacy settings",
    "loudspeaker": "Plug in a loudspeaker or headphones",
}
_EFFECT = {
    "microphone": "you aren't heard",
    "loudspeaker": "the app makes no sound",
}


def absent(kind: DeviceKind, problem: str = "") -> DeviceNotice:
    """Returns the notice that the session starts without a device of this kind.

    `problem`: a message explaining why none can be opened; empty if none was found.
    """
    without = {"microphone": "You can type", "loudspeaker": "You can read the answers"}[kind]
    if problem:
        return DeviceNotice(kind, "absent", "", f"{problem} {without} meanwhile.")
    sentence = f"No {kind} was found. {without}; KAME notices one that you plug in."
    return DeviceNotice(kind, "absent", "", sentence)


def found(kind: DeviceKind, name: str) -> DeviceNotice:
    """Returns the notice that a device is now available in a session that started without one of its kind."""
    return DeviceNotice(kind, "back", name, f"The {kind} “{name}” is there now, and in use.")


def lost(kind: DeviceKind, name: str, problem: str = "") -> DeviceNotice:
    """Returns the notice that the last device of its kind is gone. `problem`: why no other can be opened, if known."""
    sentence = (
        f"The {kind} “{name}” is gone, and no other can be used: {_EFFECT[kind]} for now. {_REMEDY[kind]}; the "
        "conversation then continues by itself."
    )
    return DeviceNotice(kind, "lost", "", sentence if not problem else f"{sentence} ({problem})")


def changed(
    kind: DeviceKind, old: str, new: str, cause: Cause, preferred: str, problem: str = "", refused: bool = False
) -> DeviceNotice:
    """Returns the notice that another device is in use.

    - `kind`: the kind of device.
    - `old`, `new`: the previous device (empty: none) and the one now in use.
    - `cause`: why the device changed.
    - `preferred`: the user's choice; empty for the default.
    - `problem`: a message explaining why the preferred device can't be opened, if that is the cause.
    - `refused`: whether the preferred device can't be opened, so that the notice must not promise a return to it.
    """
    is_substitute = bool(preferred) and preferred != new
    later = f" “{preferred}” is taken when it is there." if is_substitute and not refused else ""
    if cause == "refused":
        sentence = (
            f"{problem} The conversation continues with the {kind} “{new}” meanwhile. “{preferred}” is tried once more "
            "when you choose it again, or when it was unplugged and is plugged in again."
        )
    elif cause == "chosen":
        sentence = f"The {kind} is now “{new}”."
    elif cause == "absent":
        sentence = f"The {kind} “{preferred}” isn't there. The conversation continues with “{new}”;{later[:-1]}."
    elif cause == "mixer":
        sentence = (
            f"In the system's sound settings “{new}” was made this app's {kind}: the conversation continues with it."
        )
    elif preferred and preferred == new:
        return back(kind, new)
    elif not old:
        sentence = f"There is a {kind} again: the conversation continues with “{new}”.{later}"
    elif cause == "default":
        sentence = f"The system's {kind} is now “{new}”: the conversation continues with it."
    elif is_substitute and preferred == old:
        sentence = (
            f"The {kind} “{old}” is gone. The conversation continues with “{new}”; yours is taken again when it is "
            "back."
        )
    else:
        sentence = f"The {kind} “{old}” is gone. The conversation continues with “{new}”.{later}"
    return DeviceNotice(kind, "moved", new, sentence)


def back(kind: DeviceKind, name: str) -> DeviceNotice:
    """Returns the notice that a lost device is in use again."""
    return DeviceNotice(kind, "back", name, f"The {kind} “{name}” is back, and in use again.")


def silent(kind: DeviceKind, name: str) -> str:
    """Returns the message for a device that opens but then neither delivers nor requests samples."""
    what = "gives no sound" if kind == "microphone" else "takes no sound"
    return f"The {kind} “{name}” {what}. See that it is switched on, and that no other program has it for itself."


def suspended(kind: DeviceKind, name: str, is_suspended: bool) -> DeviceNotice:
    """Returns the notice that the system has suspended or resumed the device."""
    sentence = (
        f"The {kind} “{name}” is suspended in the system, so {_EFFECT[kind]}. It continues by itself when the system "
        f"lets it; if it doesn't, choose another {kind}."
        if is_suspended
        else f"The {kind} “{name}” is no longer suspended, and in use again."
    )
    return DeviceNotice(kind, "note" if is_suspended else "back", name, sentence)


def narrowband(name: str, rate: int) -> DeviceNotice:
    """Returns the notice that the microphone has telephone quality. `rate`: in Hz."""
    return DeviceNotice(
        "microphone",
        "note",
        name,
        f"The microphone “{name}” works at {rate / 1000:g} kHz, as Bluetooth headsets do in calls, so you are "
        "understood less well. Another microphone helps, such as the computer's own.",
    )


def muted(name: str, is_muted: bool) -> DeviceNotice:
    """Returns the notice that the microphone was muted or unmuted at the system level."""
    sentence = (
        f"The microphone “{name}” is muted in the system, so you aren't heard. Unmute it in the system's sound "
        "settings, or with its own switch."
        if is_muted
        else f"The microphone “{name}” is no longer muted in the system: you are heard again."
    )
    return DeviceNotice("microphone", "note" if is_muted else "back", name, sentence)


def muted_talk(name: str) -> DeviceNotice:
    """Returns the notice that the user talks while the app has muted the microphone."""
    sentence = "You are talking, but the microphone is muted, so nothing is heard. Unmute it to be heard."
    return DeviceNotice("microphone", "muted", name, sentence)
