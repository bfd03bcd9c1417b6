"""Which microphones and loudspeakers there are, and which one a name means.

Devices go by name: PortAudio's indexes change with every plug. Knows nothing of streams or samples.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.audio import native
from app.audio.errors import DeviceError

WASAPI = "Windows WASAPI"
"""On Windows the same hardware shows up under four host APIs. This one has full names and the least delay."""

_NAMED_AT_MOST = 6


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


def list_devices() -> list[Device]:
    """All devices that PortAudio saw when it started; on Windows those of WASAPI, where there are any.

    Raises `DeviceError` where PortAudio is missing.
    """
    sounddevice = native.load()
    with native.LOCK, native.quiet_stderr():
        apis = sounddevice.query_hostapis()
        infos = sounddevice.query_devices()
        chosen = sounddevice.default.hostapi if apis else -1
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


def find_input(name: str | None = None) -> Device:
    """The microphone that `name` means: exactly, whatever the case, else the only one whose name contains it.

    None: the system's default. Raises `DeviceError` when there is none, or more than one.
    """
    devices = [device for device in list_devices() if device.inputs]
    if not devices:
        raise DeviceError(
            "No microphone was found, so the app can't hear you. Plug one in (or allow the app to use it in "
            "the system's privacy settings), then try again."
        )
    if name is None:
        return next((device for device in devices if device.is_default_input), devices[0])
    return _find(name, devices, "microphone")


def find_output(name: str | None = None) -> Device:
    """The loudspeaker that `name` means; as `find_input`."""
    devices = [device for device in list_devices() if device.outputs]
    if not devices:
        raise DeviceError(
            "No loudspeaker was found, so the app can't be heard. Plug in a loudspeaker or headphones, then "
            "try again."
        )
    if name is None:
        return next((device for device in devices if device.is_default_output), devices[0])
    return _find(name, devices, "loudspeaker")


def refresh() -> bool:
    """Look for devices anew; False, and nothing done, while a stream is open. All `index`es change."""
    return native.restart()


def _find(name: str, devices: Sequence[Device], kind: str) -> Device:
    wanted = name.strip().casefold()
    exact = [device for device in devices if device.name.casefold() == wanted]
    if exact:
        # One name under two host APIs, or two devices of one make: no name can tell them apart. Take the
        # default.
        return next((d for d in exact if d.is_default_input or d.is_default_output), exact[0])
    partial = [device for device in devices if wanted and wanted in device.name.casefold()]
    if len({device.name for device in partial}) == 1:
        return partial[0]
    if partial:
        raise DeviceError(
            f"“{name}” could be any of {_named(partial)}. Give the whole name of the {kind} that you mean."
        )
    known = [device.name.casefold() for device in devices]
    near = difflib.get_close_matches(wanted, known, n=_NAMED_AT_MOST, cutoff=0.5)
    likely = [device for device in devices if device.name.casefold() in near]
    raise DeviceError(
        f"There is no {kind} named “{name}” (any more). There is {_named(likely or devices)}: choose one of "
        f"these, or plug yours in and try again."
    )


def _named(devices: Sequence[Device]) -> str:
    names = list(dict.fromkeys(device.name for device in devices))
    more = f" and {len(names) - _NAMED_AT_MOST} more" if len(names) > _NAMED_AT_MOST else ""
    return ", ".join(f"“{name}”" for name in names[:_NAMED_AT_MOST]) + more
