"""Detects when devices appear, disappear or become the default, without restarting PortAudio.

PortAudio reads the device list only when it is initialised, and can't be restarted while a stream is open. The system
is therefore queried directly: the sound server, ALSA's files, or the legacy waveform audio API of Windows.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from app.audio.devices.pulse import PulseServer, PulseState

POLL_SECONDS = 0.5
"""How often a system without events is polled."""

LISTEN_SECONDS = 0.2
"""How long to wait for sound server events at a time, which limits how long leaving the context takes."""

SETTLE_SECONDS = 0.05
"""Debounce time: plugging in a device changes the card, loudspeaker, microphone and defaults in quick succession."""

ALSA_FILES = ("/proc/asound/cards", "/proc/asound/pcm")

Signature = tuple[Any, ...]


def signature(state: PulseState | None) -> Signature:
    """Returns a value that changes with the devices and defaults. `state`: the sound server's state, if any."""
    if state is not None:
        return ("pulse", *((d.kind, d.pulse_name, d.name, d.rate, d.is_default) for d in state.devices))
    if sys.platform == "win32":
        return ("windows", *windows_names(ctypes.windll.winmm))
    return ("alsa", *map(_read_text, ALSA_FILES))


class _Caps(ctypes.Structure):
    """The WAVEOUTCAPSW structure, which consists of the fields of WAVEINCAPSW and one more."""

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
    """Returns the names of (microphones, loudspeakers), truncated to 31 characters, each with the default first.

    The legacy API doesn't cache the list, so the result is always current.
    """

    def names(count: int, query: Any, size: int) -> tuple[str, ...]:
        found = []
        for number in range(count):
            caps = _Caps()
            # The index is as wide as a pointer; a result of 0 means success.
            if query(ctypes.c_size_t(number), ctypes.byref(caps), size) == 0:
                found.append(caps.name)
        return tuple(found)

    return (
        names(winmm.waveInGetNumDevs(), winmm.waveInGetDevCapsW, _IN_CAPS_BYTES),
        names(winmm.waveOutGetNumDevs(), winmm.waveOutGetDevCapsW, ctypes.sizeof(_Caps)),
    )


class DeviceWatch:
    """Calls `changed()` on a separate thread whenever devices or defaults change, while its context is open.

    Survives a crash of the sound server and detects its return. `changed` must return quickly.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audio-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._leave.set()
        self._thread.join()

    def _run(self) -> None:
        with PulseServer() as server:
            state = server.query()
            last = signature(state)
            while not self._leave.is_set():
                if state is None:
                    self._leave.wait(POLL_SECONDS)
                elif not server.wait(LISTEN_SECONDS):
                    continue
                else:
                    self._leave.wait(SETTLE_SECONDS)
                state = server.query()
                now = signature(state)
                if now != last and not self._leave.is_set():
                    last = now
                    self._changed()


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
