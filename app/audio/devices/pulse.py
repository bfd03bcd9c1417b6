"""The microphones and loudspeakers of a PulseAudio or PipeWire server, and where this process's streams are.

Where there is no server (or no libpulse, or no Linux) the answer is None, never an error. Knows nothing of PortAudio:
sound itself goes through it; this only asks.
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
from types import TracebackType
from typing import Any, Self

from app.conversation.sound_processing import DeviceKind

ANSWER_SECONDS = 2.0
"""A server that hangs is taken for none after this long. One that works answers in a millisecond."""

_NO_HARDWARE = "auto_null"
"""What the server makes up where there is no loudspeaker at all: nobody hears it."""

_NO_MONITOR = 0xFFFFFFFF

UNKNOWN_RATE = 48_000

MARK = "kame.stream"
"""The property of a stream of ours that says which opening it comes from."""


@dataclass(frozen=True, slots=True)
class PulseDevice:
    """A source or sink. `pulse_name`: the server's; `name`: for the user, one of its kind; `rate`: hertz."""

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
    """A stream of this process: its `number`, and that of the device it is connected to.

    `token`: what it was marked with when it was opened; empty where the server doesn't say.
    """

    kind: DeviceKind
    number: int
    device: int
    token: str = ""


@dataclass(frozen=True, slots=True)
class PulseState:
    """What the server says at one moment; monitors and the stand-in for missing hardware are left out."""

    devices: tuple[PulseDevice, ...]
    streams: tuple[PulseStream, ...]

    def of(self, kind: DeviceKind) -> list[PulseDevice]:
        """The devices of one kind."""
        return [device for device in self.devices if device.kind == kind]

    def stream(self, kind: DeviceKind, token: str, number: int | None) -> PulseStream | None:
        """The stream marked with `token`, of two the later one: ALSA's plugin makes a new one after an underrun.

        Where none is marked so: the one of this `number`, else the newest that isn't marked at all.
        """
        ours = [s for s in self.streams if s.kind == kind and s.token in ("", token)]
        return max(ours, key=lambda s: (s.token == token != "", s.number == number, s.number), default=None)

    def device(self, stream: PulseStream) -> PulseDevice | None:
        """Where a stream of ours is; None on something that isn't offered (a monitor, the stand-in)."""
        return next((d for d in self.devices if d.kind == stream.kind and d.number == stream.device), None)


class PulseServer:
    """A connection, made when it is wanted and made anew after the server's death. For one thread."""

    def __init__(self) -> None:
        self._pulse: Any = None
        self._listens = False
        self._events = self._known_events = 0
        self._give_up = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    def look(self) -> PulseState | None:
        """How things are now; None: no server answers."""
        had_one, begun = self._pulse is not None, time.monotonic()
        try:
            return self._look()
        except Exception:  # a foreign library over a foreign process: whatever it says, it means "none"
            self._drop()
        # The connection of a moment ago may be one to a server that has died, and another runs already.
        if not had_one or time.monotonic() - begun > ANSWER_SECONDS / 2:
            return None
        try:
            return self._look()
        except Exception:
            self._drop()
            return None

    def wait(self, seconds: float) -> bool:
        """Waits for a word that devices, defaults or streams have changed; False: none came within `seconds`.

        True at once where the server is gone; where there was none it waits.
        """
        try:
            if not self._connect():
                time.sleep(seconds)
                return False
            if not self._listens:
                self._pulse.event_mask_set("sink", "source", "server", "card")
                self._pulse.event_callback_set(self._on_event)
                self._listens = True
                return True  # what happened before we listened
            if self._events == self._known_events:  # none came while something else was asked
                self._give_up = time.monotonic() + seconds + ANSWER_SECONDS
                self._pulse.event_listen(timeout=seconds)
            before, self._known_events = self._known_events, self._events
            return self._events != before
        except Exception:
            self._drop()
            return True

    def _on_event(self, event: Any) -> None:
        self._events += 1

    def _connect(self) -> bool:
        self._give_up = time.monotonic() + ANSWER_SECONDS
        if self._pulse is not None:
            return True
        make = _load()
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
        left = self._give_up - time.monotonic()
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

    def _look(self) -> PulseState | None:
        if not self._connect():
            return None
        server = self._pulse.server_info()
        found = [
            *self._devices("microphone", self._pulse.source_list(), server.default_source_name),
            *self._devices("loudspeaker", self._pulse.sink_list(), server.default_sink_name),
        ]
        own = str(os.getpid())
        streams = [
            PulseStream(kind, stream.index, getattr(stream, place), stream.proplist.get(MARK, ""))
            for kind, place, all_streams in (
                ("microphone", "source", self._pulse.source_output_list()),
                ("loudspeaker", "sink", self._pulse.sink_input_list()),
            )
            for stream in all_streams
            if stream.proplist.get("application.process.id") == own
        ]
        return PulseState(tuple(found), tuple(streams))

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

    def _drop(self) -> None:
        pulse, self._pulse, self._listens = self._pulse, None, False
        if pulse is not None:
            # Its disconnection may complain about what is gone already.
            self._give_up = time.monotonic() + ANSWER_SECONDS
            with contextlib.suppress(Exception):
                pulse.close()


def mark(token: str) -> dict[str, str]:
    """The environment that makes ALSA's plugins mark the streams they open with `token`."""
    # PulseAudio's plugin reads the first, PipeWire's the second, which somebody may have set to something of theirs.
    marks = {"PULSE_PROP": f"{os.environ.get('PULSE_PROP', '')} {MARK}={token}".strip()}
    return marks if "PIPEWIRE_PROPS" in os.environ else marks | {"PIPEWIRE_PROPS": f'{{ {MARK} = "{token}" }}'}


_given: dict[tuple[DeviceKind, str], dict[str, int]] = {}
_GIVEN_LOCK = threading.Lock()


def distinct_names(kind: DeviceKind, descriptions: dict[str, str]) -> dict[str, str]:
    """A name for the user for each pulse name: its description, with a number from the second of a make on.

    A device keeps its name as long as it is there, whichever of its twins comes or goes; what comes takes the lowest
    number that is free, so that a device may come back under another pulse name.
    """
    with _GIVEN_LOCK:
        names = {}
        for pulse_name, description in sorted(descriptions.items()):
            twins = _given.setdefault((kind, description.casefold()), {})
            for gone in [twin for twin in twins if twin not in descriptions]:
                del twins[gone]
            if pulse_name not in twins:
                twins[pulse_name] = min(set(range(1, len(twins) + 2)) - set(twins.values()))
            number = twins[pulse_name]
            names[pulse_name] = description if number == 1 else f"{description} ({number})"
        return names


def look() -> PulseState | None:
    """How things are now, by a connection of its own; None: no server."""
    with PulseServer() as server:
        return server.look()


@functools.cache
def _load() -> Any:
    """The class for connections; None where the package pulsectl, libpulse or Linux is missing."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import pulsectl
    except (ImportError, OSError, AttributeError):  # the last two: libpulse is missing or very old
        return None

    class Connection(pulsectl.Pulse):
        def _pulse_info_cb(self, info_class, found, done, context, info, eof, userdata) -> None:
            # pulsectl keeps a reference to the sample rate in memory that is libpulse's again after this call, and
            # whoever reads it later reads anything. So it is copied here.
            before = len(found)
            super()._pulse_info_cb(info_class, found, done, context, info, eof, userdata)
            if len(found) > before and hasattr(info[0], "sample_spec"):
                found[-1].rate = int(info[0].sample_spec.rate)

    return Connection
