"""Start KAME Desktop anew when the app that asks for it has ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from installation.handing_over import start_detached
from installation.installed_places import InstalledPlaces
from installation.system import WINDOWS


def wait_and_start(places: InstalledPlaces) -> None:
    """Wait until the standard input ends, which the app holds open for as long as it lives, then start the app.

    It is started as the menu does it, so that what has to be set up first is shown.
    """
    while os.read(sys.stdin.fileno(), 1):
        pass
    child = start_detached(menu_command(places))
    child.returncode = 0  # it goes on by itself: no warning that nobody waits for it


def menu_command(places: InstalledPlaces) -> list[str]:
    """Return what the menu's entry runs."""
    program = places.root / "KAME Desktop.exe"
    if WINDOWS and program.exists():
        return [str(program)]
    return [sys.executable, "-sE", str(Path(__file__).with_name("progress_window.py"))]
