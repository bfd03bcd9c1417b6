"""Queries a PulseAudio or PipeWire server for its devices and for the streams of this process.

Without a server (or libpulse, or Linux), the result is None, not an error. The audio itself goes through PortAudio.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any, Self

from app.conversation.events import DeviceKind

ANSWER_SECONDS = 2.0
"""A server that doesn't respond within this time is considered absent. A working one responds in a millisecond."""

_NO_HARDWARE = "auto_null"
"""The name of the dummy sink that the server creates if there is no loudspeaker."""

_NO_MONITOR = 0xFFFFFFFF

UNKNOWN_RATE = 48_000

TAG = "kame.stream"
"""The name of the property that identifies the `DeviceStream` behind a stream of this process."""


@dataclass(frozen=True, slots=True)
class PulseDevice:
    """A source or sink of the server.

    `pulse_name`: the server's name; `name`: the user-facing name, unique within its kind; `rate`: in Hz.
    """

    kind: DeviceKind
    pulse_name: str
    name: str
    rate: int
    channels: int
    muted: bool
    suspended: bool
    is_default: bool
    number: int


@dataclass(frozen=True, slots=True)
class PulseStream:
    """A stream of this process: its `number`, and the number of the device that it is connected to.

    `tag`: the value of its `TAG` property; empty if the server doesn't report it.
    """

    kind: DeviceKind
    number: int
    device: int
    tag: str = ""


@dataclass(frozen=True, slots=True)
class PulseState:
    """A snapshot of the server's state, excluding monitors and the dummy sink."""

    devices: tuple[PulseDevice, ...]
    streams: tuple[PulseStream, ...]

    def of(self, kind: DeviceKind) -> list[PulseDevice]:
        """Returns the devices of one kind."""
        return [device for device in self.devices if device.kind == kind]

    def stream(self, kind: DeviceKind, tag: str, number: int | None) -> PulseStream | None:
        """Returns the stream with this tag, else an untagged one, else None.

        If there are several, prefers the one with this `number`, then the newest, because ALSA's plugin opens a new
        stream after an underrun.
        """
        ours = [s for s in self.streams if s.kind == kind and s.tag in ("", tag)]
        return max(ours, key=lambda s: (s.tag == tag != "", s.number == number, s.number), default=None)

    def device(self, stream: PulseStream) -> PulseDevice | None:
        """Returns the device of a stream, or None if it isn't listed (a monitor or the dummy sink)."""
        return next((d for d in self.devices if d.kind == stream.kind and d.number == stream.device), None)


class PulseServer:
    """A connection to the server, opened on demand and reopened after the server restarts. Not thread-safe."""

    def __init__(self) -> None:
        self._pulse: Any = None
        self._subscribed = False
        self._events = self._seen_events = 0
        self._deadline = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._disconnect()

    def query(self) -> PulseState | None:
        """Returns the current state, or None if no server responds."""
        was_connected, started = self._pulse is not None, time.monotonic()
        with contextlib.suppress(Exception):  # a third-party library and another process: any error means "no server"
            return self._query()
        self._disconnect()
        # The connection may be to a server that has died while a new one is already running, so try once more.
        if was_connected and time.monotonic() - started <= ANSWER_SECONDS / 2:
            with contextlib.suppress(Exception):
                return self._query()
            self._disconnect()
        return None

    def wait(self, seconds: float) -> bool:
        """Waits until devices or defaults change. Returns False if nothing changes within `seconds`.

        Returns True immediately if the server is gone. If there was no server, sleeps and returns False.
        """
        try:
            if not self._connect():
                time.sleep(seconds)
                return False
            if not self._subscribed:
                self._pulse.event_mask_set("sink", "source", "server", "card")
                self._pulse.event_callback_set(self._on_event)
                self._subscribed = True
                return True  # something may have changed before the subscription
            if self._events == self._seen_events:  # none arrived during a query
                self._deadline = time.monotonic() + seconds + ANSWER_SECONDS
                self._pulse.event_listen(timeout=seconds)
            before, self._seen_events = self._seen_events, self._events
            return self._events != before
        except Exception:
            self._disconnect()
            return True

    def _on_event(self, event: Any) -> None:
        self._events += 1

    def _connect(self) -> bool:
        self._deadline = time.monotonic() + ANSWER_SECONDS
        if self._pulse is not None:
            return True
        make = _connection_class()
        if make is None:
            return False
        pulse = make("kame-desktop", connect=False)
        try:
            pulse.set_poll_func(self._poll, lambda *error: None)
            pulse.connect(autospawn=False)
        except Exception:
            pulse.close()
            return False
        self._pulse = pulse
        return True

    def _poll(self, waiting: list[Any], timeout: float) -> int:
        # libpulse would wait forever for a stopped server.
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        poller = select.poll()
        for entry in waiting:
            entry.revents = 0
            poller.register(entry.fd, entry.events)
        ready = dict(poller.poll(1000 * (left if timeout < 0 else min(timeout, left))))
        for entry in waiting:
            entry.revents = ready.get(entry.fd, 0)
        return len(ready)

    def _query(self) -> PulseState | None:
        if not self._connect():
            return None
        server = self._pulse.server_info()
        devices = (
            *self._devices("microphone", self._pulse.source_list(), server.default_source_name),
            *self._devices("loudspeaker", self._pulse.sink_list(), server.default_sink_name),
        )
        streams = (
            *self._streams("microphone", "source", self._pulse.source_output_list()),
            *self._streams("loudspeaker", "sink", self._pulse.sink_input_list()),
        )
        return PulseState(devices, streams)

    def _streams(self, kind: DeviceKind, device_field: str, infos: list[Any]) -> list[PulseStream]:
        return [
            PulseStream(kind, info.index, getattr(info, device_field), info.proplist.get(TAG, ""))
            for info in infos
            if info.proplist.get("application.process.id") == str(os.getpid())
        ]

    def _devices(self, kind: DeviceKind, infos: list[Any], default: str) -> list[PulseDevice]:
        shown = [
            info
            for info in infos
            if info.name != _NO_HARDWARE and getattr(info, "monitor_of_sink", _NO_MONITOR) == _NO_MONITOR
        ]
        names = distinct_names(kind, {info.name: info.description or info.name for info in shown})
        return [
            PulseDevice(
                kind=kind,
                pulse_name=info.name,
                name=names[info.name],
                rate=getattr(info, "rate", UNKNOWN_RATE),
                channels=info.channel_count,
                muted=bool(info.mute) or not any(info.volume.values),
                suspended=info.state == "suspended",
                is_default=info.name == default,
                number=info.index,
            )
            for info in shown
        ]

    def _disconnect(self) -> None:
        pulse, self._pulse, self._subscribed = self._pulse, None, False
        if pulse is not None:
            # Closing may fail if the server is already gone.
            self._deadline = time.monotonic() + ANSWER_SECONDS
            with contextlib.suppress(Exception):
                pulse.close()


def tag_environment(tag: str) -> dict[str, str]:
    """Returns the environment variables that make ALSA's plugins tag the streams that they open."""
    # PulseAudio's plugin reads the first, PipeWire's the second, which the user may have set already.
    variables = {"PULSE_PROP": f"{os.environ.get('PULSE_PROP', '')} {TAG}={tag}".strip()}
    return variables if "PIPEWIRE_PROPS" in os.environ else variables | {"PIPEWIRE_PROPS": f'{{ {TAG} = "{tag}" }}'}


_numbers: dict[tuple[DeviceKind, str], dict[str, int]] = {}
_NUMBERS_LOCK = threading.Lock()


def distinct_names(kind: DeviceKind, descriptions: dict[str, str]) -> dict[str, str]:
    """Maps each pulse name to a user-facing name: its description, with a number if several devices share it.

    A device keeps its name while it is present, even if others with the same description appear and disappear. A new
    device gets the lowest free number, so a device that returns under another pulse name has the same name as before.
    """
    with _NUMBERS_LOCK:
        names = {}
        for pulse_name, description in sorted(descriptions.items()):
            numbers = _numbers.setdefault((kind, description.casefold()), {})
            for gone in [other for other in numbers if other not in descriptions]:
                del numbers[gone]
            if pulse_name not in numbers:
                numbers[pulse_name] = min(set(range(1, len(numbers) + 2)) - set(numbers.values()))
            number = numbers[pulse_name]
            names[pulse_name] = description if number == 1 else f"{description} ({number})"
        return names


def query() -> PulseState | None:
    """Returns the current state over a temporary connection, or None if there is no server."""
    with PulseServer() as server:
        return server.query()


@functools.cache
def _connection_class() -> Any:
    """Returns the connection class, or None without pulsectl, libpulse or Linux."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import pulsectl
    except (ImportError, OSError, AttributeError):  # the last two: libpulse is missing or very old
        return None

    class Connection(pulsectl.Pulse):
        def _pulse_info_cb(self, info_class, found, done, context, info, eof, userdata) -> None:
            # pulsectl keeps a reference to the sample rate in memory that libpulse reuses after this call, so that a
            # later read returns garbage. It is copied here.
            before = len(found)
            super()._pulse_info_cb(info_class, found, done, context, info, eof, userdata)
            if len(found) > before and hasattr(info[0], "sample_spec"):
                found[-1].rate = int(info[0].sample_spec.rate)

    return Connection
