"""Tells when devices come, go, or become the default, without a restart of PortAudio.

PortAudio reads the list of devices when it is initialised, and can only be restarted while no stream is open. So the
system is asked directly, and cheaply: a sound server, ALSA's files, or Windows' oldest sound interface. Knows nothing
of streams, nor who wants to know.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from app.audio.devices import listing, pulse
from app.audio.devices.listing import Device
from app.audio.devices.pulse import PulseServer, PulseState
from app.audio.io import portaudio_library
from app.audio.io.errors import DeviceError
from app.platform.children import killed_after, python_module_command, quiet_child

POLL_SECONDS = 0.5
"""How often the system is asked where nothing tells of itself."""

LISTEN_SECONDS = 0.2
"""How long one wait for the sound server's word lasts: leaving the watch takes no longer."""

SETTLE_SECONDS = 0.05
"""One plug is several changes within milliseconds: the card, its loudspeaker, its microphone, the defaults."""

CHILD_SECONDS = 15.0

CHILD_POLL_SECONDS = 0.02

READER_SECONDS = 2.0
"""How long an ended child's pipe is waited for: another process may hold it open, as Wine's desktop does."""

ALSA_FILES = ("/proc/asound/cards", "/proc/asound/pcm")

Signature = tuple[Any, ...]


def signature(state: PulseState | None) -> Signature:
    """Which devices there are, and which are the defaults: it differs when they do. `state`: the sound server's."""
    if state is not None:
        return ("pulse", *((d.kind, d.pulse_name, d.name, d.rate, d.is_default) for d in state.devices))
    if sys.platform == "win32":
        return ("windows", *windows_names(ctypes.windll.winmm))
    return ("alsa", *map(_text_of, ALSA_FILES))


class _Caps(ctypes.Structure):
    """WAVEINCAPSW, and the beginning of WAVEOUTCAPSW, which has one number more."""

    _fields_ = [
        ("manufacturer", ctypes.c_ushort),
        ("product", ctypes.c_ushort),
        ("version", ctypes.c_uint),
        ("name", ctypes.c_wchar * 32),
        ("formats", ctypes.c_uint),
        ("channels", ctypes.c_ushort),
        ("reserved", ctypes.c_ushort),
        ("support", ctypes.c_uint),
    ]


_IN_CAPS_BYTES = ctypes.sizeof(_Caps) - ctypes.sizeof(ctypes.c_uint)


def windows_names(winmm: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(microphones, loudspeakers) by the first 31 letters of their names, each with the default first.

    This old interface keeps no list of its own: it always answers as of now.
    """

    def names(count: int, ask: Any, size: int) -> tuple[str, ...]:
        found = []
        for number in range(count):
            caps = _Caps()
            # The number is as wide as a pointer; the answer 0 means that all is well.
            if ask(ctypes.c_size_t(number), ctypes.byref(caps), size) == 0:
                found.append(caps.name)
        return tuple(found)

    return (
        names(winmm.waveInGetNumDevs(), winmm.waveInGetDevCapsW, _IN_CAPS_BYTES),
        names(winmm.waveOutGetNumDevs(), winmm.waveOutGetDevCapsW, ctypes.sizeof(_Caps)),
    )


class DeviceWatch:
    """Calls `changed()`, on a thread of its own, whenever devices or defaults have changed, while in its `with`.

    Survives a sound server's death, and notices its return. `changed` must only hand over.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audio-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave.set()
        self._thread.join()

    def _run(self) -> None:
        with PulseServer() as server:
            state = server.look()
            last = signature(state)
            while not self._leave.is_set():
                if state is None:
                    self._leave.wait(POLL_SECONDS)
                elif not server.wait(LISTEN_SECONDS):
                    continue
                else:
                    self._leave.wait(SETTLE_SECONDS)
                state = server.look()
                now = signature(state)
                if now != last and not self._leave.is_set():
                    last = now
                    self._changed()


def list_now() -> list[Device]:
    """The devices as of now, even while streams are open. Takes up to a second; raises `DeviceError`.

    Where PortAudio's own list is frozen by an open stream, a child process with a fresh one is asked; the `index` of
    what it names means nothing here.
    """
    state = pulse.look()
    if (state is not None and listing.through_pulse(listing.own_devices())) or portaudio_library.restart():
        return listing.list_devices(state)
    child = AskedChild()
    try:
        while (listed := child.poll()) is None:
            time.sleep(CHILD_POLL_SECONDS)
        return listed
    finally:
        child.stop()


class AskedChild:
    """A child process that lists the devices as PortAudio sees them when it starts. Nothing here waits for it."""

    def __init__(self) -> None:
        """Raises `DeviceError`."""
        try:
            self._process = subprocess.Popen(
                python_module_command("app", "devices", "--json"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **quiet_child(),
            )
        except OSError as error:
            raise _unread(error) from error
        self._said = b""
        self._reader = threading.Thread(target=self._read, name="audio-asked", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe, killed_after(self._process, CHILD_SECONDS):
            self._said = pipe.read()

    def poll(self) -> list[Device] | None:
        """What it found; None while it is still looking. Raises `DeviceError`. Not to be asked again after that."""
        if self._reader.is_alive():
            return None
        try:
            answer = json.loads(self._said)
            if not answer["ok"]:
                raise DeviceError(answer["error"])
            known = {field.name for field in dataclasses.fields(Device)}
            return [
                Device(**{key: value for key, value in row.items() if key in known} | {"index": -1})
                for row in answer["devices"]
            ]
        except (ValueError, LookupError, TypeError) as error:
            raise _unread(error) from error

    def stop(self) -> None:
        """Ends it, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(READER_SECONDS)


def _unread(error: Exception) -> DeviceError:
    return DeviceError(
        f"The list of sound devices couldn't be read anew ({type(error).__name__}), so a device that was just "
        "plugged in may be missing from it. End the talk, and look again."
    )


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
