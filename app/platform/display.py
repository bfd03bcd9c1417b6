"""Detects on Linux why no window can open, since Qt would abort the process."""

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
"""The Qt libraries that the window needs."""


def window_obstacle(environ: Mapping[str, str] = os.environ, qt: Path | None = None) -> str:
    """Returns a user-facing message that says why no window can open; empty if one can.

    Loads the libraries and opens the display just as Qt will, which takes a few milliseconds. `qt`: the path of
    PySide6's Qt folder.
    """
    if not sys.platform.startswith("linux"):
        return ""
    qt = qt or _qt_folder()
    obstacles = [_obstacle(name, environ, qt) for name in _platforms(environ)]
    return obstacles[0] if all(obstacles) else ""


def _platforms(environ: Mapping[str, str]) -> list[str]:
    """Returns the names of the platform plugins that Qt tries, in order."""
    if chosen := environ.get("QT_QPA_PLATFORM"):
        return [part.partition(":")[0] for part in chosen.split(";")]
    wayland = "WAYLAND_DISPLAY" in environ or environ.get("XDG_SESSION_TYPE") == "wayland"
    return ["wayland", "xcb"] if wayland else ["xcb"]


def _obstacle(platform: str, environ: Mapping[str, str], qt: Path) -> str:
    plugins = qt / "plugins" / "platforms"
    kind = platform.partition("-")[0]  # the Wayland plugin has several names
    plugin = plugins / f"libq{kind}.so"
    elsewhere = environ.get("QT_PLUGIN_PATH") or environ.get("QT_QPA_PLATFORM_PLUGIN_PATH")
    if plugins.is_dir() and not plugin.exists() and not elsewhere:
        return (
            f"No window can open: the variable QT_QPA_PLATFORM asks for “{platform}”, which Qt does not have. "
            "Remove that variable, and start the app again."
        )
    opens, variable = SCREENS.get(kind, (lambda _: True, ""))
    screen = environ.get(variable, "")
    opened = opens(screen)
    if not opened and not screen:
        return f"There is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. {_without()}"
    for library in (*(qt / "lib" / f"libQt6{name}.so.6" for name in QT_LIBRARIES), plugin):
        if library.exists() and (missing := _missing_library(library)):
            return (
                f"No window can open: the system's library {missing} is missing. Install it with the system's package "
                f"manager, and start the app again. {_without()}"
            )
    if opened:
        return ""
    return (
        f"No window can open: the screen “{screen}”, which the variable {variable} names, does not "
        f"exist or does not let this user in. Start the app in a terminal of that desktop. {_without()}"
    )


def _missing_library(library: Path) -> str:
    """Returns the name of a missing library that `library` depends on; empty if it can be loaded."""
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        found = re.match(r"(\S+): cannot open shared object file", str(error))
        return found[1] if found else f"for {library.name} ({error})"
    return ""


def _x11_opens(screen: str) -> bool:
    if not screen:
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return False
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(os.fsencode(screen), None))
    try:
        return not xcb.xcb_connection_has_error(connection)
    finally:
        xcb.xcb_disconnect(connection)


def _wayland_opens(screen: str) -> bool:
    try:
        wayland = ctypes.CDLL("libwayland-client.so.0")
    except OSError:
        return False
    wayland.wl_display_connect.restype = ctypes.c_void_p
    display = wayland.wl_display_connect(os.fsencode(screen) if screen else None)
    if display:
        wayland.wl_display_disconnect(ctypes.c_void_p(display))
    return bool(display)


SCREENS = {"xcb": (_x11_opens, "DISPLAY"), "wayland": (_wayland_opens, "WAYLAND_DISPLAY")}
"""For each platform, a function that tests whether a display can be opened, and the variable that names the display."""


def _qt_folder() -> Path:
    spec = find_spec("PySide6")
    return Path(spec.origin).parent / "Qt" if spec is not None and spec.origin else Path()


def _without() -> str:
    app = "python3 packaging/bootstrap.py run" if installed().kind == CHECKOUT else command()
    return (
        f"Without one, “{app} talk” talks in the terminal, “{app} talk --input QUESTION.wav --output ANSWER.wav” "
        f"answers a sound file, and “{app} serve” serves the windows of other machines."
    )
