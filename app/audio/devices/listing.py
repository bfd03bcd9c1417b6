"""Which microphones and loudspeakers there are, and which one a name means.

Devices go by name: PortAudio's indexes change with every plug. Where a PulseAudio or PipeWire server answers, its
devices are offered, by the names that the system's own settings show; PortAudio reaches them all through one device
of ALSA's. Knows nothing of streams or samples.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.audio.devices import pulse
from app.audio.devices.pulse import PulseDevice, PulseState
from app.audio.io import portaudio_library
from app.audio.io.errors import DeviceError

WASAPI = "Windows WASAPI"
"""On Windows the same hardware shows up under four host APIs. This one has full names and the least delay."""

PULSE = "PulseAudio"
"""The host API that devices of a PulseAudio or PipeWire server are listed under."""

_PULSE_PCMS = ("pulse", "default", "pipewire")
"""ALSA's names for "whatever the sound server has", the most dependable first."""

_NAMED_AT_MOST = 6

_CARD = re.compile(r"\s*\((?:plug)?hw:\d+,\d+\)$")


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device. `inputs`, `outputs`: channels; `default_rate`: hertz."""

    name: str
    host_api: str
    inputs: int
    outputs: int
    default_rate: int
    is_default_input: bool
    is_default_output: bool
    index: int = field(compare=False)
    """PortAudio's number, good until the next `refresh`."""
    pulse_name: str = ""
    """The sound server's own name for it; empty where PortAudio's device is the thing itself."""
    muted: bool = field(default=False, compare=False)
    """Whether it is muted in the system, as far as that is known."""

    @property
    def is_default(self) -> bool:
        """Whether it is the system's default, for hearing or for speaking."""
        return self.is_default_input or self.is_default_output


_Either = TypeVar("_Either", Device, PulseDevice)


def list_devices(state: PulseState | None = None) -> list[Device]:
    """All devices: the sound server's as of now, or else those that PortAudio saw when it started.

    On Windows those of WASAPI, where there are any. `state`: what the sound server said, if it was asked already.
    Raises `DeviceError` where PortAudio is missing.
    """
    own = own_devices()
    through = through_pulse(own)
    if through is None:
        return own
    state = state or pulse.look()
    return own if state is None else [_of_pulse(device, through) for device in state.devices]


def own_devices() -> list[Device]:
    """The devices that PortAudio saw when it started, without any sound server's. Raises `DeviceError`."""
    sounddevice = portaudio_library.load()
    try:
        with portaudio_library.LOCK, portaudio_library.quiet_stderr():
            apis = sounddevice.query_hostapis()
            infos = sounddevice.query_devices()
            chosen = sounddevice.default.hostapi if apis else -1
    except sounddevice.PortAudioError as error:
        raise DeviceError(
            f"The sound devices couldn't be listed ({error}). Check that sound works in other programs, then try again."
        ) from error
    names = [api["name"] for api in apis]
    only = None
    if WASAPI in names and apis[names.index(WASAPI)]["devices"]:
        only = chosen = names.index(WASAPI)
    default_input = apis[chosen]["default_input_device"] if apis else -1
    default_output = apis[chosen]["default_output_device"] if apis else -1
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


def find_input(name: str | None = None, state: PulseState | None = None) -> Device:
    """The microphone that `name` means: exactly, whatever the case, else the only one whose name contains it.

    None: the system's default. A name that is none of the sound server's may be one of PortAudio's own. Raises
    `DeviceError` when there is none, or more than one.
    """
    devices = [device for device in list_devices(state) if device.inputs]
    if name is not None:
        return _find(name, devices, "microphone") if devices else _find_own(name, "microphone", _no_microphone())
    if not devices:
        raise _no_microphone()
    return next((device for device in devices if device.is_default_input), devices[0])


def find_output(name: str | None = None, state: PulseState | None = None) -> Device:
    """The loudspeaker that `name` means; as `find_input`."""
    devices = [device for device in list_devices(state) if device.outputs]
    if name is not None:
        return _find(name, devices, "loudspeaker") if devices else _find_own(name, "loudspeaker", _no_loudspeaker())
    if not devices:
        raise _no_loudspeaker()
    return next((device for device in devices if device.is_default_output), devices[0])


def same_device(name: str, other: str) -> bool:
    """Whether two names mean one device: ALSA's end in a card's number, which another plug may change."""
    return _bare(name) == _bare(other)


def identity(device: Device | PulseDevice) -> str:
    """What stays the same about a device from one list to the next."""
    return device.pulse_name or _bare(device.name)


def which(name: str, found: Sequence[_Either]) -> _Either | None:
    """The one of `found` that `name` means: exactly, whatever the case, else the only one whose name contains it."""
    wanted = name.strip().casefold()
    exact = [device for device in found if device.name.casefold() == wanted]
    exact = exact or [device for device in found if same_device(device.name, name)]
    if exact:
        # One name under two host APIs, or two devices of one make: no name can tell them apart. Take the default.
        return next((device for device in exact if device.is_default), exact[0])
    partial = _containing(name, found)
    return partial[0] if len({device.name for device in partial}) == 1 else None


def through_pulse(own: Sequence[Device]) -> Device | None:
    """PortAudio's device that leads to the sound server, if it has one."""
    by_name = {device.name: device for device in own if device.host_api == "ALSA" and device.inputs and device.outputs}
    return next((by_name[name] for name in _PULSE_PCMS if name in by_name), None)


def refresh() -> bool:
    """Look for devices anew; False, and nothing done, while a stream is open. All `index`es change."""
    return portaudio_library.restart()


def _of_pulse(device: PulseDevice, through: Device) -> Device:
    hears = device.kind == "microphone"
    return Device(
        name=device.name,
        host_api=PULSE,
        inputs=device.channels if hears else 0,
        outputs=0 if hears else device.channels,
        default_rate=device.rate,
        is_default_input=hears and device.is_default,
        is_default_output=not hears and device.is_default,
        index=through.index,
        pulse_name=device.pulse_name,
        muted=device.muted,
    )


def _find(name: str, devices: Sequence[Device], kind: str) -> Device:
    found = which(name, devices)
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


def _containing(name: str, found: Sequence[_Either]) -> list[_Either]:
    wanted = name.strip().casefold()
    return [device for device in found if wanted and wanted in device.name.casefold()]


def _find_own(name: str, kind: str, otherwise: DeviceError) -> Device:
    """PortAudio's own device of exactly this name, for one that is configured in ALSA. Raises `otherwise`."""
    for device in own_devices():
        if same_device(device.name, name) and (device.inputs if kind == "microphone" else device.outputs):
            return device
    raise otherwise


def _unknown(name: str, devices: Sequence[Device], kind: str) -> DeviceError:
    wanted = name.strip().casefold()
    known = [device.name.casefold() for device in devices]
    near = difflib.get_close_matches(wanted, known, n=_NAMED_AT_MOST, cutoff=0.5)
    likely = [device for device in devices if device.name.casefold() in near]
    return DeviceError(
        f"There is no {kind} named “{name}” (any more). There is {_named(likely or devices)}: choose one of "
        f"these, or plug yours in and try again."
    )


def _bare(name: str) -> str:
    return _CARD.sub("", name.strip()).casefold()


def _no_microphone() -> DeviceError:
    return DeviceError(
        "No microphone was found, so the app can't hear you. Plug one in (or allow the app to use it in "
        "the system's privacy settings), then try again."
    )


def _no_loudspeaker() -> DeviceError:
    return DeviceError(
        "No loudspeaker was found, so the app can't be heard. Plug in a loudspeaker or headphones, then try again."
    )


def _named(devices: Sequence[Device]) -> str:
    names = list(dict.fromkeys(device.name for device in devices))
    more = f" and {len(names) - _NAMED_AT_MOST} more" if len(names) > _NAMED_AT_MOST else ""
    return ", ".join(f"“{name}”" for name in names[:_NAMED_AT_MOST]) + more
