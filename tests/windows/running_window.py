"""Runs the app's window on the Windows machine, without a console, and always ends it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.conversation import events as e
from app.settings.kept_state import WindowState
from tests.support import sounds
from tests.support.screen import Screen
from tests.support.virtual_audio import VirtualAudio
from tests.support.window_talk import events_in, wait_until
from tests.windows.installation import PLACE, Installation
from tests.windows.wine import Wine

START_SECONDS, CLOSE_SECONDS = 120.0, 20.0
BLANK = (600, 165)
"""A position on the screen without a control: in the top bar of a window of the usual size in the middle."""


class RunningWindow:
    """`child` is Wine's process for pythonw.exe; `folder` holds the app's settings, history and recordings."""

    def __init__(self, installation: Installation, child: subprocess.Popen, folder: Path) -> None:
        self.child = child
        self.folder = folder
        self._installation = installation

    @property
    def events(self) -> list[e.Event]:
        """The events that the running session has written so far."""
        return events_in(self.folder / "recordings")

    @property
    def log(self) -> str:
        """The app's log."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.rglob("*.log")))

    def count(self, kind: type[e.Event]) -> int:
        """The number of events of one kind so far."""
        return sum(isinstance(event, kind) for event in self.events)

    def tell(self, word: str) -> None:
        """Sends a command from a second process, like a desktop's hotkey."""
        done = self._installation.app("ptt", word)
        assert done.code == 0, done.printed

    def ask(self, audio: VirtualAudio) -> None:
        """Plays the question into the microphone, with the talk button held by commands."""
        self.tell("press")
        audio.play_into_microphone(sounds.question("103_2")).wait(20)
        self.tell("release")

    def close(self, screen: Screen) -> None:
        """Closes the window with its shortcut and waits until the process has ended with 0."""
        screen.click(*BLANK)
        screen.close_window()
        wait_until(lambda: self.child.poll() is not None, CLOSE_SECONDS, "the app ends after its window")
        assert self.child.returncode == 0


def picture(screen: Screen, name: str) -> None:
    """Saves a picture of the screen for debugging."""
    folder = PLACE / "pictures"
    folder.mkdir(exist_ok=True)
    screen.shot(folder / f"{name}.png")


def server_settings(url: str) -> dict[str, object]:
    """Settings for push-to-talk with the model of an OpenAI-compatible server. Without openings: a slow machine would
    say "One second." before the answer, and tests compare what was said."""
    chosen = {"provider": "compatible", "compatible_url": f"{url}/v1", "compatible_model": "any"}
    return {**chosen, "duplex": False, "openings": False}


def write_settings(wine: Wine, *, local_data: Path | None = None, **settings: object) -> Path:
    """Writes settings with which the app skips its first run, and removes earlier data; returns the app's folder.
    `local_data`: the user's folder for local data, if it was moved."""
    folder = (local_data or wine.home / "AppData" / "Local") / "kame-desktop"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"version": 1, "keep_recordings": True, **settings}), "utf-8")
    WindowState(first_run_done=True, path=folder / "window.json").save()
    return folder


@contextmanager
def running_window(
    installation: Installation, *, local_data: Path | None = None, **settings: object
) -> Iterator[RunningWindow]:
    """Runs the app's window with a ready session, without its first run or earlier data."""
    folder = write_settings(installation.wine, local_data=local_data, **settings)
    command = (installation.windowed_python, "-P", "-m", "app")
    with installation.wine.started(*command, cwd=installation.wine.home) as child:
        window = RunningWindow(installation, child, folder)
        try:
            wait_until(
                lambda: bool(window.events) or child.poll() is not None, START_SECONDS, "the conversation is ready"
            )
            assert child.poll() is None, f"the app ended with exit code {child.returncode}: {window.log[-3000:]}"
            yield window
        except BaseException:
            print(window.log[-6000:])
            raise
        finally:
            if child.poll() is None:
                installation.wine.end()
