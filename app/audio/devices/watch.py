"""Notices when devices come, go, or become the default, without a restart of PortAudio.

PortAudio reads the list of devices when it is initialised, and can only be restarted while no stream is open. So the
system is asked directly, and cheaply: a sound server, ALSA's files, or Windows' oldest sound interface.
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
"""How often a system without events is asked."""

LISTEN_SECONDS = 0.2
"""How long one wait for the sound server's events lasts: leaving the watch takes no longer."""

SETTLE_SECONDS = 0.05
"""One plug is several changes within milliseconds: the card, its loudspeaker, its microphone, the defaults."""

ALSA_FILES = ("/proc/asound/cards", "/proc/asound/pcm")

Signature = tuple[Any, ...]


def signature(state: PulseState | None) -> Signature:
    """Returns a value that changes with the devices and the defaults. `state`: the sound server's."""
    if state is not None:
        return ("pulse", *((d.kind, d.pulse_name, d.name, d.rate, d.is_default) for d in state.devices))
    if sys.platform == "win32":
        return ("windows", *windows_names(ctypes.windll.winmm))
    return ("alsa", *map(_read_text, ALSA_FILES))


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
    """Returns (microphones, loudspeakers) by the first 31 letters of their names, each with the default first.

    This old interface keeps no list of its own: it always answers as of now.
    """

    def names(count: int, query: Any, size: int) -> tuple[str, ...]:
        found = []
        for number in range(count):
            caps = _Caps()
            # The number is as wide as a pointer; the answer 0 means success.
            if query(ctypes.c_size_t(number), ctypes.byref(caps), size) == 0:
                found.append(caps.name)
        return tuple(found)

    return (
        names(winmm.waveInGetNumDevs(), winmm.waveInGetDevCapsW, _IN_CAPS_BYTES),
        names(winmm.waveOutGetNumDevs(), winmm.waveOutGetDevCapsW, ctypes.sizeof(_Caps)),
    )


class DeviceWatch:
    """Calls `changed()` on a thread of its own when devices or defaults have changed, while in its `with`.

    Survives a sound server's death, and notices its return. `changed` must return at once.
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
