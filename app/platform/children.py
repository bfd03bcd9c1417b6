"""The one place that knows how this app starts a child process of its own on Linux and on Windows."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def python_module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs one of the app's own modules in a new interpreter like this one."""
    # -P: a folder named like one of our modules, where the app happens to be started, is not taken for it.
    return [sys.executable, "-P", "-m", module, *arguments]


def quiet_child() -> dict[str, Any]:
    """Arguments for `Popen`: no console window, no terminal's Ctrl-C, the app importable from anywhere."""
    environment = dict(os.environ)
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
    environment["PYTHONIOENCODING"] = "utf-8"
    options: dict[str, Any] = {"env": environment}
    if sys.platform == "win32":
        # Below normal, as `os.nice` in the children does elsewhere: the frame loop must never be late.
        options["creationflags"] = (
            subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        )
    else:
        # The parent ends its children itself; a Ctrl-C on the terminal is the parent's to handle.
        options["start_new_session"] = True
    return options


def start_lasting(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts a child as `quiet_child` has it, but one that goes on when this process and its terminal have ended."""
    how = {**quiet_child(), **options}
    if sys.platform == "win32":
        # What it starts inherits its priority, and ends with the job of the terminal's command that it is part of.
        how["creationflags"] ^= subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.NORMAL_PRIORITY_CLASS
        leaving = how["creationflags"] | subprocess.CREATE_BREAKAWAY_FROM_JOB
        with contextlib.suppress(PermissionError):  # a job of somebody else's that keeps its processes
            return subprocess.Popen(command, **{**how, "creationflags": leaving})
    return subprocess.Popen(command, **how)


@contextlib.contextmanager
def killed_after(child: subprocess.Popen[bytes], seconds: float = 30.0) -> Iterator[None]:
    """Kills `child` if the block takes longer: whoever reads from it then reads its end."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def end_child(child: subprocess.Popen[bytes], seconds: float = 1.0) -> None:
    """Closes the input of a child that has nothing to save, which ends it; kills it if that takes longer."""
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    # Not before the child is gone: whoever reads from it holds the pipe until then.
    if child.stdout is not None:
        child.stdout.close()
