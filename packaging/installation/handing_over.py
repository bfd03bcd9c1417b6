"""Starts and restarts the app, detects whether its window is open, and loads its standalone modules."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

from installation.exclusion import try_lock
from installation.places import WINDOWS, InstalledPlaces, Places
from installation.problems import USER_CAN_FIX, Problem
from installation.steps import NO_CONSOLE

SECONDS_TO_WATCH = 20


def hand_over(command: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Replaces this process with the command; on Windows, runs it and exits with its exit code."""
    sys.stdout.flush()
    if not WINDOWS:
        os.execve(command[0], list(command), dict(env))
    child = subprocess.Popen(list(command), env=dict(env))
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            # The app also receives Ctrl-C, and decides how to exit.
            continue


def run_app(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> NoReturn:
    """Runs the app in this terminal and exits with its exit code."""
    # With -P, a folder named `app` in the user's working directory is ignored.
    hand_over([str(places.python), "-P", "-m", "app", *arguments], env)


def start_in_background(places: InstalledPlaces, env: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Starts the app without a console, in the user's home folder, and monitors its first `SECONDS_TO_WATCH` seconds.

    Returns 0. Raises Problem if the app exits with an error in that time.
    """
    command = [str(places.windowed_python), "-P", "-m", "app", *arguments]
    with error_output() as errors:
        child = start_detached(command, env=dict(env), stderr=errors)
        try:
            code = child.wait(timeout=SECONDS_TO_WATCH)
        except subprocess.TimeoutExpired:
            child.returncode = 0  # the app keeps running; this suppresses Popen's ResourceWarning
            return 0
        if code == 0:
            return 0
        errors.seek(0)
        printed = errors.read().decode("utf-8", "replace")
    raise problem_of_app(code, printed)


def start_detached(command: Sequence[str], **options: Any) -> subprocess.Popen:
    """Starts a program that outlives this one, without a console or standard streams, in the user's home folder."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    detached = {"creationflags": NO_CONSOLE} if WINDOWS else {"start_new_session": True}
    return subprocess.Popen(list(command), cwd=os.path.expanduser("~"), **{**quiet, **detached, **options})


def error_output() -> BinaryIO:
    """Opens a temporary file for the app's stderr; a pipe would break as soon as this program exits."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return open(os.devnull, "w+b")


def problem_of_app(code: int, printed: str) -> Problem:
    """Returns the error to report if the app exited right after its start. `printed`: its stderr output."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    details = "".join(f"    {line}\n" for line in lines[-15:])
    if code == USER_CAN_FIX and lines:
        return Problem(lines[-1], "KAME Desktop could not start.", "Start it again when that is put right.", details)
    return Problem(
        f"KAME Desktop ended right after its start, with exit code {code}.",
        lines[-1] if lines else "Its window could not open.",
        "Try again. If it stays so, repair KAME Desktop, or type “kame-desktop doctor” in a terminal.",
        details,
    )


def wait_and_start(places: InstalledPlaces) -> None:
    """Waits until the running app exits, which closes standard input, then starts the app.

    Uses the command of the menu entry, so that the progress of any set-up is shown.
    """
    while os.read(sys.stdin.fileno(), 1):
        pass
    child = start_detached(menu_command(places))
    child.returncode = 0  # the app keeps running; this suppresses Popen's ResourceWarning


def menu_command(places: InstalledPlaces) -> list[str]:
    """Returns the command that the menu entry runs."""
    program = places.root / "KAME Desktop.exe"
    if WINDOWS and program.exists():
        return [str(program)]
    return [sys.executable, "-sE", str(Path(__file__).with_name("progress_window.py"))]


@functools.lru_cache(maxsize=None)
def app_module(name: str) -> ModuleType:
    """Loads a module of the app by its path, since importing `app` needs packages that may not be installed yet."""
    path = Path(__file__).resolve().parents[2] / "app" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"kame_desktop_{name.replace('/', '_')}", str(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def window_is_open() -> bool:
    """Returns whether the app's window is open, which is the case while the app holds its lock file."""
    lock = os.path.join(app_module("platform/single_instance").folder(), "window.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)
