"""Queries a PulseAudio or PipeWire server for its devices and for the streams of this process.

Where there is no server (or no libpulse, or no Linux) the answer is None, never an error. Sound itself goes through
PortAudio.
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

from app.conversation.sound_processing import DeviceKind

ANSWER_SECONDS = 2.0
"""A server that doesn't answer within this time counts as absent. One that works answers in a millisecond."""

_NO_HARDWARE = "auto_null"
"""The server's stand-in where there is no loudspeaker at all."""

_NO_MONITOR = 0xFFFFFFFF

UNKNOWN_RATE = 48_000

TAG = "kame.stream"
"""The property that identifies which `DeviceStream` a stream of this process belongs to."""


@dataclass(frozen=True, slots=True)
class PulseDevice:
    """A source or sink. `pulse_name`: the server's name; `name`: for the user, unique within its kind; `rate`: Hz."""

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
    """A stream of this process: its `number`, and the number of the device it is connected to.

    `tag`: the value of its `TAG` property; empty where the server doesn't report it.
    """

    kind: DeviceKind
    number: int
    device: int
    tag: str = ""


@dataclass(frozen=True, slots=True)
class PulseState:
    """The server's state at one moment, without monitors and the stand-in for missing hardware."""

    devices: tuple[PulseDevice, ...]
    streams: tuple[PulseStream, ...]

    def of(self, kind: DeviceKind) -> list[PulseDevice]:
        """Returns the devices of one kind."""
        return [device for device in self.devices if device.kind == kind]

    def stream(self, kind: DeviceKind, tag: str, number: int | None) -> PulseStream | None:
        """Returns the stream with this tag, of two the later one: ALSA's plugin opens a new one after an underrun.

        If none has it: the one of this `number`, else the newest that has no tag at all.
        """
        ours = [s for s in self.streams if s.kind == kind and s.tag in ("", tag)]
        return max(ours, key=lambda s: (s.tag == tag != "", s.number == number, s.number), default=None)

    def device(self, stream: PulseStream) -> PulseDevice | None:
        """Returns the device of a stream; None if it isn't listed (a monitor, the stand-in)."""
        return next((d for d in self.devices if d.kind == stream.kind and d.number == stream.device), None)


class PulseServer:
    """A connection to the server, made on demand and again after the server restarted. For one thread."""

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
        """Returns the current state; None: no server answers."""
        was_connected, started = self._pulse is not None, time.monotonic()
        with contextlib.suppress(Exception):  # third-party library, another process: any error means "no server"
            return self._query()
        self._disconnect()
        # The old connection may be to a server that has died while another runs already: try once more.
        if was_connected and time.monotonic() - started <= ANSWER_SECONDS / 2:
            with contextlib.suppress(Exception):
                return self._query()
            self._disconnect()
        return None

    def wait(self, seconds: float) -> bool:
        """Waits until devices, defaults or streams have changed; False: nothing did within `seconds`.

        True at once if the server is gone; if there was none, it sleeps.
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
            if self._events == self._seen_events:  # none came during a query
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
        # libpulse would wait for ever for a server that is stopped.
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
            # Closing may fail if the server is gone already.
            self._deadline = time.monotonic() + ANSWER_SECONDS
            with contextlib.suppress(Exception):
                pulse.close()


def tag_environment(tag: str) -> dict[str, str]:
    """Returns the environment variables that make ALSA's plugins tag the streams they open."""
    # PulseAudio's plugin reads the first, PipeWire's the second, which the user may have set already.
    variables = {"PULSE_PROP": f"{os.environ.get('PULSE_PROP', '')} {TAG}={tag}".strip()}
    return variables if "PIPEWIRE_PROPS" in os.environ else variables | {"PIPEWIRE_PROPS": f'{{ {TAG} = "{tag}" }}'}


_numbers: dict[tuple[DeviceKind, str], dict[str, int]] = {}
_NUMBERS_LOCK = threading.Lock()


def distinct_names(kind: DeviceKind, descriptions: dict[str, str]) -> dict[str, str]:
    """Returns a name for the user for each pulse name: its description, numbered from the second of a make on.

    A device keeps its name as long as it is there, also when another of the same make comes or goes. A new one gets the
    lowest free number, so that a device may come back under another pulse name.
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
    """Returns the current state, over a connection of its own; None: no server."""
    with PulseServer() as server:
        return server.query()


@functools.cache
def _connection_class() -> Any:
    """The class for connections; None where the package pulsectl, libpulse or Linux is missing."""
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
