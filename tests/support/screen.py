"""A virtual screen (Xvfb), with a keyboard and a pointer by xdotool."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.parts import need

TITLE = "KAME"


class Screen:
    """A running screen; `display` is the value for DISPLAY."""

    def __init__(self, display: str) -> None:
        self.display = display

    def focus(self) -> None:
        """Focuses the app's window: there is no window manager that would."""
        self._do("search", "--sync", "--onlyvisible", "--name", TITLE, "windowfocus", "--sync")

    def maximise(self) -> None:
        """Makes the app's window fill the screen: there is no window manager that could."""
        window = ["search", "--sync", "--onlyvisible", "--name", TITLE]
        self._do(*window, "windowmove", "0", "0", "windowsize", "100%", "100%")

    def click(self, x: int, y: int) -> None:
        """Clicks a position of the screen; under Wine only a click gives a window the focus back."""
        self._do("mousemove", str(x), str(y), "click", "1")

    def key_down(self, key: str) -> None:
        """Presses a key and keeps it down."""
        self._do("keydown", key)

    def key_up(self, key: str) -> None:
        """Releases a key."""
        self._do("keyup", key)

    def key(self, key: str) -> None:
        """Types a key."""
        self._do("key", key)

    def close_window(self) -> None:
        """Quits the app with its shortcut."""
        self.key("ctrl+q")

    def shot(self, path: Path) -> None:
        """Writes a picture of the whole screen."""
        subprocess.run(["import", "-window", "root", str(path)], env=self._env(), check=True, timeout=30)

    def _do(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._env(), check=True, timeout=20)

    def _env(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.display}


@contextmanager
def virtual_screen(size: str = "1280x800") -> Iterator[Screen]:
    """Runs a screen with a free display number."""
    need("Xvfb", "xdotool", "import")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as number:
            display = f":{number.readline().strip()}"
        yield Screen(display)
    finally:
        server.terminate()
        server.wait(10)
