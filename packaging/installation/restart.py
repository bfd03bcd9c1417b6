"""Start KAME Desktop again after the running app has ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from installation.handing_over import start_detached
from installation.installed_places import InstalledPlaces
from installation.system import WINDOWS


def wait_and_start(places: InstalledPlaces) -> None:
    """Wait for the end of the standard input, which the running app holds open, then start the app.

    Starts it as the menu does, so that the progress of a set-up is shown.
    """
    while os.read(sys.stdin.fileno(), 1):
        pass
    child = start_detached(menu_command(places))
    child.returncode = 0  # it runs on; this avoids the warning that nobody waits for it


def menu_command(places: InstalledPlaces) -> list[str]:
    """Return the menu entry's command."""
    program = places.root / "KAME Desktop.exe"
    if WINDOWS and program.exists():
        return [str(program)]
    return [sys.executable, "-sE", str(Path(__file__).with_name("progress_window.py"))]
