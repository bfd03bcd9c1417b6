"""Start the app in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from installation.places import Places
from installation.system import WINDOWS


def hand_over(command: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Become the command where the system can; elsewhere run it and end with its exit code."""
    sys.stdout.flush()
    if not WINDOWS:
        os.execve(command[0], list(command), dict(env))
    child = subprocess.Popen(list(command), env=dict(env))
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            # Ctrl-C went to the app too, which decides itself how to end.
            continue


def run_app(places: Places, env: Mapping[str, str], arguments: Sequence[str]) -> NoReturn:
    # -P keeps a folder that happens to hold an `app` out of the way; the working folder stays the user's.
    hand_over([str(places.python), "-P", "-m", "app", *arguments], env)
