"""Loads and restarts PortAudio, silences its output, and converts its error codes to messages.

This is the only module that imports sounddevice.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

from app.audio.io.base import DeviceError
from app.conversation.events import DeviceKind

LOCK = threading.RLock()
"""Held while a stream is opened or PortAudio restarts, as neither is thread-safe. Never acquired in a callback."""

_open_streams = 0
_initialised = True
"""Whether PortAudio is initialised. Importing sounddevice initialises it."""

# PortAudio's error codes (portaudio.h), defined here so that messages can be built without the library.
INVALID_DEVICE = -9996
UNANTICIPATED = -9999
UNAVAILABLE = -9985
_ACCESS_DENIED = -2147024891  # Windows: E_ACCESSDENIED as a signed number


class DeviceGone(DeviceError):
    """The device was in use or listed, but has disappeared."""


def use_com() -> None:
    """Initialises COM on Windows, as required on every thread that starts PortAudio or opens a stream.

    COM is never uninitialised, because PortAudio's objects outlive the thread. Repeated calls are harmless.
    """
    windows = getattr(ctypes, "windll", None)
    if windows is not None:
        windows.ole32.CoInitializeEx(None, 0)


def load() -> ModuleType:
    """Returns the sounddevice module. The first call imports it and initialises PortAudio.

    Raises `DeviceError` if PortAudio isn't installed or can't start.
    """
    use_com()
    try:
        with LOCK, quiet_stderr():
            module = importlib.import_module("sounddevice")
            _silence_alsa()
            return module
    except OSError as error:
        raise DeviceError(_no_portaudio()) from error
    except ImportError as error:
        raise DeviceError(
            "The Python package sounddevice is missing, so the app can neither hear nor speak. Install the app "
            "again, or run: pip install sounddevice"
        ) from error
    except Exception as error:  # sounddevice.PortAudioError, which can't be referenced before the import has succeeded
        raise DeviceError(
            f"The sound system couldn't be started ({error}), so the app can neither hear nor speak. Check "
            f"that sound works in other programs, then start the app again."
        ) from error


@functools.cache
def _silence_alsa() -> None:
    """Keeps ALSA on Linux from printing to stderr at each underrun; the loudspeaker counts underruns anyway."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            # ALSA calls the handler on the audio thread, where Python code would have to wait for the GIL. A C library
            # function without parameters ignores the handler's arguments.
            nothing = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
            ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(nothing)


def restart() -> bool:
    """Restarts PortAudio to update its device list. While a stream is open, does nothing and returns False.

    All device indexes change. Raises `DeviceError` if PortAudio can't be initialised; a later call may succeed.
    """
    global _initialised
    sounddevice = load()
    with LOCK, quiet_stderr():
        if _open_streams:
            return False
        try:
            # sounddevice has no public API for these two calls, and PortAudio only reads the device list in the second.
            if _initialised:
                sounddevice._terminate()
                _initialised = False
            sounddevice._initialize()
            _initialised = True
        except sounddevice.PortAudioError as error:
            raise DeviceError(
                f"The sound system couldn't be started again ({error}), so no device can be used. Check that "
                f"sound works in other programs, then start the app again."
            ) from error
        return True


def count_stream(change: int) -> None:
    """Records that a stream was opened (+1) or closed (-1)."""
    global _open_streams
    with LOCK:
        before, _open_streams = _open_streams, _open_streams + change
        if bool(before) != bool(_open_streams):
            _set_fine_timers(_open_streams > 0)


def _set_fine_timers(enabled: bool) -> None:
    """Sets the Windows timer resolution to 1 ms (`enabled`) or back to the default of 15.6 ms.

    Python's thread switching depends on these timers, including that of the threads that copy audio.
    """
    windows = getattr(ctypes, "windll", None)
    if windows is not None:
        (windows.winmm.timeBeginPeriod if enabled else windows.winmm.timeEndPeriod)(1)


def open_streams() -> int:
    """Returns how many streams of this process are open, including those being closed."""
    return _open_streams


@contextlib.contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Sets environment variables, which configure sound server clients, for the duration of the block. Holds `LOCK`."""
    with LOCK:
        before = {key: os.environ.get(key) for key in values}
        os.environ.update(values)
        try:
            yield
        finally:
            for key, value in before.items():
                if value is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = value


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Discards what C libraries print to stderr. On Linux, ALSA and JACK print a warning for every missing device.

    Redirects file descriptor 2 of the whole process, so keep the block short.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:  # started without a stderr
        yield
        return
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def code_of(error: Exception) -> int:
    """Returns the PortAudio error code of a `sounddevice.PortAudioError`, or 0 if it has none."""
    return error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else 0


def explain(error: Exception, kind: DeviceKind, name: str) -> DeviceError:
    """Converts a `PortAudioError` raised when opening the device `name` to an error with a user-facing message."""
    code = code_of(error)
    host_text = str(error.args[2]) if len(error.args) > 2 else ""
    if str(_ACCESS_DENIED) in host_text or "denied" in host_text.lower():
        return DeviceError(
            f"The system doesn't let this app use the {kind} “{name}”. Allow it in the system's privacy "
            f"settings (on Windows: Settings, Privacy, {kind.capitalize()}), then try again."
        )
    if code == UNAVAILABLE:
        return DeviceError(
            f"The {kind} “{name}” is in use by another program, or its sound server isn't running. Close the "
            f"other program or choose another {kind}, then try again."
        )
    if code == INVALID_DEVICE:
        return gone(kind, name)
    if code == UNANTICIPATED:
        return DeviceError(
            f"The {kind} “{name}” couldn't be opened: there is none behind this name, or its sound server "
            f"isn't running. Plug one in, or choose another {kind}, then try again."
        )
    return DeviceError(
        f"The {kind} “{name}” couldn't be opened ({str(error.args[0]) if error.args else error}). Choose "
        f"another {kind}, or unplug it, plug it in again and try once more."
    )


def gone(kind: DeviceKind, name: str) -> DeviceGone:
    """Returns the error for a device that has disappeared."""
    return DeviceGone(
        f"The {kind} “{name}” is gone: it was unplugged, or the sound server stopped. Plug it in again or "
        f"choose another {kind}."
    )


def _no_portaudio() -> str:
    missing = "PortAudio, through which the app hears and speaks, isn't installed."
    if sys.platform.startswith("linux"):
        return (
            f"{missing} Install it (Debian, Ubuntu: sudo apt install libportaudio2; Fedora: sudo dnf install "
            f"portaudio; Arch: sudo pacman -S portaudio), then start the app again."
        )
    return f"{missing} Install the app again, or run: pip install --force-reinstall sounddevice"
