"""Loads and restarts PortAudio, silences its output, and turns its error codes into sentences.

The only module that imports sounddevice.
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
from app.conversation.sound_processing import DeviceKind

LOCK = threading.RLock()
"""Held while streams open and while PortAudio restarts: it isn't thread-safe there. Never in a callback."""

_open_streams = 0
_initialised = True
"""Whether PortAudio is initialised; loading sounddevice does it."""

# PortAudio's error codes (portaudio.h), named here so that sentences can be written without the library.
INVALID_DEVICE = -9996
UNANTICIPATED = -9999
UNAVAILABLE = -9985
_ACCESS_DENIED = -2147024891  # Windows: E_ACCESSDENIED as a signed number


class DeviceGone(DeviceError):
    """The device was in use, or listed, and has vanished."""


def use_com() -> None:
    """Initialises COM on Windows, as each thread must that starts PortAudio or opens a stream.

    It is never uninitialised: what PortAudio has created outlives the thread. Calling it twice is harmless.
    """
    windows = getattr(ctypes, "windll", None)
    if windows is not None:
        windows.ole32.CoInitializeEx(None, 0)


def load() -> ModuleType:
    """Returns the module sounddevice; the first call imports it and initialises PortAudio.

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
    except Exception as error:  # sounddevice.PortAudioError: can't be named before the import has worked
        raise DeviceError(
            f"The sound system couldn't be started ({error}), so the app can neither hear nor speak. Check "
            f"that sound works in other programs, then start the app again."
        ) from error


@functools.cache
def _silence_alsa() -> None:
    """Keeps ALSA on Linux from writing a line to stderr at each underrun; the loudspeaker counts them."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            # ALSA calls this in the thread of the sound, where code in Python would wait for the interpreter. A
            # function of the C library that takes no arguments ignores those of an error handler.
            nothing = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
            ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(nothing)


def restart() -> bool:
    """Restarts PortAudio, so that it lists devices plugged in since; False, and nothing done, while a stream is open.

    All device indexes change. Raises `DeviceError` if it can't be initialised; another call may succeed.
    """
    global _initialised
    sounddevice = load()
    with LOCK, quiet_stderr():
        if _open_streams:
            return False
        try:
            # sounddevice has no public name for these two; PortAudio reads the list of devices only here.
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
    """Counts a stream that was opened (+1) or closed (-1)."""
    global _open_streams
    with LOCK:
        before, _open_streams = _open_streams, _open_streams + change
        if bool(before) != bool(_open_streams):
            _set_fine_timers(_open_streams > 0)


def _set_fine_timers(enabled: bool) -> None:
    """Sets Windows' timer resolution to 1 ms while a stream is open; by default waits end only every 15.6 ms.

    Python's threads wait for their turn that way, among them those that copy sound to and from the device.
    """
    windows = getattr(ctypes, "windll", None)
    if windows is not None:
        (windows.winmm.timeBeginPeriod if enabled else windows.winmm.timeEndPeriod)(1)


def open_streams() -> int:
    """Returns how many streams of this process are open, including those that are being closed."""
    return _open_streams


@contextlib.contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Sets environment variables for the block, under `LOCK`: sound servers' clients read their target from them."""
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
    """Discards what C libraries print: on Linux, ALSA and JACK report every device that isn't there.

    The whole process's file descriptor 2 is redirected, so keep the block short.
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
    """Returns PortAudio's error code of a `sounddevice.PortAudioError`; 0 if it has none."""
    return error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else 0


def explain(error: Exception, kind: DeviceKind, name: str) -> DeviceError:
    """Returns the error, with a sentence for the user, for a `PortAudioError` on opening the device `name`."""
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
    """Returns the error for a device that was there and vanished."""
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
