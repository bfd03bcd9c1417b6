"""Lists microphones and loudspeakers, and finds the device that a name refers to.

Devices are identified by name, because PortAudio's indexes change whenever a device is plugged in. If a PulseAudio or
PipeWire server responds, its devices are listed under the names shown in the system settings, and PortAudio reaches all
of them through one ALSA device.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.audio.devices import portaudio_library, pulse
from app.audio.devices.pulse import PulseDevice, PulseState
from app.audio.io.base import DeviceError
from app.conversation.events import DeviceKind

WASAPI = "Windows WASAPI"
"""Windows lists the same hardware under four host APIs. WASAPI has full names and the lowest latency."""

PULSE = "PulseAudio"
"""The host API name used for devices of a PulseAudio or PipeWire server."""

_PULSE_PCMS = ("pulse", "default", "pipewire")
"""ALSA's names for the sound server, most reliable first."""

_NAMED_AT_MOST = 6

_CARD = re.compile(r"\s*\((?:plug)?hw:\d+,\d+\)$")


class NoDevice(DeviceError):
    """The system has no microphone or no loudspeaker at all."""


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device. `inputs`, `outputs`: number of channels; `default_rate`: in Hz."""

    name: str
    host_api: str
    inputs: int
    outputs: int
    default_rate: int
    is_default_input: bool
    is_default_output: bool
    index: int = field(compare=False)
    """PortAudio's index, valid until PortAudio is restarted."""
    pulse_name: str = ""
    """The sound server's identifier; empty for a device listed by PortAudio itself."""
    muted: bool = field(default=False, compare=False)
    """Whether the device is muted at the system level, if known."""

    @property
    def is_default(self) -> bool:
        """Whether this is the system's default microphone or loudspeaker."""
        return self.is_default_input or self.is_default_output

    def is_default_for(self, kind: DeviceKind) -> bool:
        return self.is_default_input if kind == "microphone" else self.is_default_output

    def channels(self, kind: DeviceKind) -> int:
        """Returns the number of input or output channels; 0 if the device isn't of this kind."""
        return self.inputs if kind == "microphone" else self.outputs


_Either = TypeVar("_Either", Device, PulseDevice)


def list_devices(state: PulseState | None = None) -> list[Device]:
    """Lists all devices: the sound server's current ones, or without a server, those PortAudio found when it started.

    On Windows only WASAPI devices are listed, if there are any. `state`: the sound server's state, if already queried.
    Raises `DeviceError` if PortAudio is missing.
    """
    own = own_devices()
    gateway = pulse_gateway(own)
    if gateway is None:
        return own
    state = state or pulse.query()
    return own if state is None else [_from_pulse(device, gateway) for device in state.devices]


def own_devices() -> list[Device]:
    """Lists the devices that PortAudio itself found when it started. Raises `DeviceError`."""
    sounddevice = portaudio_library.load()
    try:
        with portaudio_library.LOCK, portaudio_library.quiet_stderr():
            apis = sounddevice.query_hostapis()
            infos = sounddevice.query_devices()
            default_api = sounddevice.default.hostapi if apis else -1
    except sounddevice.PortAudioError as error:
        raise DeviceError(
            f"The sound devices couldn't be listed ({error}). Check that sound works in other programs, then try again."
        ) from error
    names = [api["name"] for api in apis]
    only = None
    if WASAPI in names and apis[names.index(WASAPI)]["devices"]:
        only = default_api = names.index(WASAPI)
    default_input = apis[default_api]["default_input_device"] if apis else -1
    default_output = apis[default_api]["default_output_device"] if apis else -1
    return [
        Device(
            name=info["name"],
            host_api=names[info["hostapi"]],
            inputs=info["max_input_channels"],
            outputs=info["max_output_channels"],
            default_rate=round(info["default_samplerate"]),
            is_default_input=index == default_input,
            is_default_output=index == default_output,
            index=index,
        )
        for index, info in enumerate(infos)
        if only is None or info["hostapi"] == only
    ]


def find_device(kind: DeviceKind, name: str | None = None, state: PulseState | None = None) -> Device:
    """Finds the microphone or loudspeaker that `name` refers to, or the system's default if it is None.

    An exact match takes precedence, ignoring case; otherwise `name` must be a substring of exactly one device's name. A
    name unknown to the sound server may be one of PortAudio's own devices. Raises `DeviceError` if no device or more
    than one matches.
    """
    devices = [device for device in list_devices(state) if device.channels(kind)]
    if name is not None:
        return _find(name, devices, kind) if devices else _find_own(name, kind, _none_found(kind))
    if not devices:
        raise _none_found(kind)
    return next((device for device in devices if device.is_default_for(kind)), devices[0])


def same_device(name: str, other: str) -> bool:
    """Whether two names refer to the same device, ignoring ALSA's card number, which changes when it is replugged."""
    return _without_card(name) == _without_card(other)


def identity(device: Device | PulseDevice) -> str:
    """Returns an identifier for the device that is stable across listings."""
    return device.pulse_name or _without_card(device.name)


def match_name(name: str, devices: Sequence[_Either]) -> _Either | None:
    """Returns the device that matches `name` exactly, or else the only one whose name contains it, or None."""
    key = name.strip().casefold()
    exact = [device for device in devices if device.name.casefold() == key]
    exact = exact or [device for device in devices if same_device(device.name, name)]
    if exact:
        # One device under two host APIs, or two devices of the same model: prefer the default.
        return next((device for device in exact if device.is_default), exact[0])
    partial = _containing(name, devices)
    return partial[0] if len({device.name for device in partial}) == 1 else None


def pulse_gateway(own: Sequence[Device]) -> Device | None:
    """Returns the PortAudio device that connects to the sound server, or None."""
    by_name = {device.name: device for device in own if device.host_api == "ALSA" and device.inputs and device.outputs}
    return next((by_name[name] for name in _PULSE_PCMS if name in by_name), None)


def _from_pulse(device: PulseDevice, gateway: Device) -> Device:
    is_input = device.kind == "microphone"
    return Device(
        name=device.name,
        host_api=PULSE,
        inputs=device.channels if is_input else 0,
        outputs=0 if is_input else device.channels,
        default_rate=device.rate,
        is_default_input=is_input and device.is_default,
        is_default_output=not is_input and device.is_default,
        index=gateway.index,
        pulse_name=device.pulse_name,
        muted=device.muted,
    )


def _find(name: str, devices: Sequence[Device], kind: DeviceKind) -> Device:
    found = match_name(name, devices)
    if found is not None:
        return found
    partial = _containing(name, devices)
    if partial:
        raise DeviceError(
            f"“{name}” could be any of {_named(partial)}. Give the whole name of the {kind} that you mean."
        )
    if devices[0].host_api == PULSE:
        return _find_own(name, kind, _unknown(name, devices, kind))
    raise _unknown(name, devices, kind)


def _containing(name: str, devices: Sequence[_Either]) -> list[_Either]:
    key = name.strip().casefold()
    return [device for device in devices if key and key in device.name.casefold()]


def _find_own(name: str, kind: DeviceKind, otherwise: DeviceError) -> Device:
    """Finds the PortAudio device with exactly this name, such as one configured in ALSA, or raises `otherwise`."""
    for device in own_devices():
        if same_device(device.name, name) and device.channels(kind):
            return device
    raise otherwise


def _unknown(name: str, devices: Sequence[Device], kind: DeviceKind) -> DeviceError:
    known = [device.name.casefold() for device in devices]
    near = difflib.get_close_matches(name.strip().casefold(), known, n=_NAMED_AT_MOST, cutoff=0.5)
    likely = [device for device in devices if device.name.casefold() in near]
    return DeviceError(
        f"There is no {kind} named “{name}” (any more). There is {_named(likely or devices)}: choose one of "
        f"these, or plug yours in and try again."
    )


def _without_card(name: str) -> str:
    return _CARD.sub("", name.strip()).casefold()


def _none_found(kind: DeviceKind) -> NoDevice:
    if kind == "microphone":
        return NoDevice(
            "No microphone was found, so the app can't hear you. Plug one in (or allow the app to use it in "
            "the system's privacy settings), then try again."
        )
    return NoDevice(
        "No loudspeaker was found, so the app can't be heard. Plug in a loudspeaker or headphones, then try again."
    )


def _named(devices: Sequence[Device]) -> str:
    names = list(dict.fromkeys(device.name for device in devices))
    more = f" and {len(names) - _NAMED_AT_MOST} more" if len(names) > _NAMED_AT_MOST else ""
    return ", ".join(f"“{name}”" for name in names[:_NAMED_AT_MOST]) + more
