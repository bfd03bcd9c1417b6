"""Tells why no window can open on this Linux system, before Qt aborts the process over it."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from app.platform.installation import CHECKOUT, installed
from app.platform.single_instance import command

QT_LIBRARIES = ("Widgets", "Network", "Svg")
"""The parts of Qt that the window imports."""


def window_obstacle(environ: Mapping[str, str] = os.environ, qt: Path | None = None) -> str:
    """Returns a sentence that says why no window can open; empty if one can.

    Loads the libraries and opens the display exactly as Qt is about to do, which takes a few milliseconds. `qt`: the
    folder of PySide6's Qt.
    """
    if not sys.platform.startswith("linux"):
        return ""
    platforms = _platforms(environ)
    qt = qt or _qt_folder()
    if not platforms:
        return f"There is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. {_without()}"
    obstacles = [_obstacle(name, environ, qt) for name in platforms]
    return obstacles[0] if all(obstacles) else ""


def _platforms(environ: Mapping[str, str]) -> list[str]:
    """Returns the platforms that Qt tries, in its order."""
    if chosen := environ.get("QT_QPA_PLATFORM"):
        return [part.partition(":")[0] for part in chosen.split(";")]
    wayland = "WAYLAND_DISPLAY" in environ or environ.get("XDG_SESSION_TYPE") == "wayland"
    return [*(["wayland"] if wayland else []), *(["xcb"] if environ.get("DISPLAY") else [])]


def _obstacle(platform: str, environ: Mapping[str, str], qt: Path) -> str:
    plugins = qt / "plugins" / "platforms"
    kind = platform.partition("-")[0]  # Wayland's plugin has several names
    plugin = plugins / f"libq{kind}.so"
    elsewhere = environ.get("QT_PLUGIN_PATH") or environ.get("QT_QPA_PLATFORM_PLUGIN_PATH")
    if plugins.is_dir() and not plugin.exists() and not elsewhere:
        return (
            f"No window can open: the variable QT_QPA_PLATFORM asks for “{platform}”, which Qt does not have. "
            "Remove that variable, and start the app again."
        )
    for library in (*(qt / "lib" / f"libQt6{name}.so.6" for name in QT_LIBRARIES), plugin):
        if library.exists() and (missing := _missing_library(library)):
            return (
                f"No window can open: the system's library {missing} is missing. Install it with the system's package "
                f"manager, and start the app again. {_without()}"
            )
    opens = {"xcb": _x11_opens, "wayland": _wayland_opens}.get(kind)
    if opens is None or opens():
        return ""
    variable = "DISPLAY" if kind == "xcb" else "WAYLAND_DISPLAY"
    return (
        f"No window can open: the screen “{environ.get(variable, '')}”, which the variable {variable} names, does not "
        f"exist or does not let this user in. Start the app in a terminal of that desktop. {_without()}"
    )


def _missing_library(library: Path) -> str:
    """Returns the name of a library that this one needs and the system lacks; empty if it can be loaded."""
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        found = re.match(r"(\S+): cannot open shared object file", str(error))
        return found[1] if found else f"for {library.name} ({error})"
    return ""


def _x11_opens() -> bool:
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    try:
        return not xcb.xcb_connection_has_error(connection)
    finally:
        xcb.xcb_disconnect(connection)


def _wayland_opens() -> bool:
    wayland = ctypes.CDLL("libwayland-client.so.0")
    wayland.wl_display_connect.restype = ctypes.c_void_p
    display = wayland.wl_display_connect(None)
    if display:
        wayland.wl_display_disconnect(ctypes.c_void_p(display))
    return bool(display)


def _qt_folder() -> Path:
    spec = find_spec("PySide6")
    return Path(spec.origin).parent / "Qt" if spec is not None and spec.origin else Path()


def _without() -> str:
    app = "python3 packaging/bootstrap.py run" if installed().kind == CHECKOUT else command()
    return (
        f"Without one, “{app} talk” talks in the terminal, “{app} talk --input QUESTION.wav --output ANSWER.wav” "
        f"answers a sound file, and “{app} serve” serves the windows of other machines."
    )
