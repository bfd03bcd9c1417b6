"""Starts and ends child processes of the app's own on Linux and Windows."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.platform.child_environment import child_environment


def python_module_command(module: str, *arguments: str) -> list[str]:
    """Returns the command that runs one of the app's modules in a new interpreter like this one."""
    # -P: a folder in the working directory that is named like a module is not taken for it.
    return [sys.executable, "-P", "-m", module, *arguments]


def quiet_child(*, network: bool = False) -> dict[str, Any]:
    """Returns arguments for `Popen`: no console window, no terminal's Ctrl-C, the app importable from anywhere.

    The child gets no keys or passwords. `network`: it fetches packages.
    """
    environment = child_environment(network=network)
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
        # The parent handles a Ctrl-C on the terminal, and ends its children itself.
        options["start_new_session"] = True
    return options


def start_lasting(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts a quiet child that goes on when this process and its terminal have ended.

    It is given the whole environment, since it starts the app again, which may find its keys there.
    """
    how = quiet_child()
    how = {**how, "env": {**os.environ, **how["env"]}, **options}
    if sys.platform == "win32":
        # Its children inherit its priority, and end with the job that the terminal's command is part of.
        how["creationflags"] ^= subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.NORMAL_PRIORITY_CLASS
        leaving = how["creationflags"] | subprocess.CREATE_BREAKAWAY_FROM_JOB
        with contextlib.suppress(PermissionError):  # the job does not let its processes leave
            return subprocess.Popen(command, **{**how, "creationflags": leaving})
    return subprocess.Popen(command, **how)


@contextlib.contextmanager
def killed_after(child: subprocess.Popen[bytes], seconds: float = 30.0) -> Iterator[None]:
    """Kills `child` if the block takes longer, so that a reader in the block comes to the end of its output."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def end_child(child: subprocess.Popen[bytes], seconds: float = 1.0) -> None:
    """Ends a child that has nothing to save by closing its input; kills it if that takes longer."""
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    # Not before the child has ended: another thread may read from the pipe until then.
    if child.stdout is not None:
        child.stdout.close()
