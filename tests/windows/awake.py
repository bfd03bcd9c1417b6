"""Keeps Windows running between programs; otherwise each of them waits for Windows to start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tests.support.window_talk import wait_until
from tests.windows.wine import Wine

START_SECONDS = 60.0
ENDLESS = "ping -n 7200 127.0.0.1"


@contextlib.contextmanager
def awake(wine: Wine) -> Iterator[None]:
    """Runs a program during the block, or until the machine is ended."""
    up = wine.folder / "drive_c" / "up"
    up.unlink(missing_ok=True)
    # Makes Wine's desktop too, which would keep the output of the program that first uses it open.
    desktop = "rundll32 user32.dll,GetDesktopWindow"
    with wine.started("cmd", "/c", f"{desktop} & echo up> C:\\up & {ENDLESS}"):
        wait_until(up.exists, START_SECONDS, "Windows has started")
        yield
