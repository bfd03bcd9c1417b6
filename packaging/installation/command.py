"""Write the command `kame-desktop` beside the environment's Python."""

from __future__ import annotations

import contextlib
import os
import shlex

from installation.places import Places
from installation.system import WINDOWS

# Contains no double quote, dollar or percent sign, since it is put in double quotes in both shells.
LAUNCH = (
    "import os, sys; sys.argv[0] = 'kame-desktop'; "
    "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(sys.executable)))); "
    "from app.__main__ import main; sys.exit(main())"
)


def write_launcher(places: Places) -> None:
    """Write the command `kame-desktop`, unless it is already there.

    It works from any working folder. A folder that can't be written is no error: the app doesn't need the command.
    """
    if WINDOWS:
        script = f'@"%~dp0python.exe" -P -c "{LAUNCH}" %*\r\n'
    else:
        script = f'#!/bin/sh\nexec {shlex.quote(str(places.python))} -P -c "{LAUNCH}" "$@"\n'
    wanted = os.fsencode(script)
    with contextlib.suppress(OSError):
        if places.launcher.exists() and places.launcher.read_bytes() == wanted:
            return
        half = places.launcher.with_suffix(".new")
        half.write_bytes(wanted)
        half.chmod(0o755)
        os.replace(str(half), str(places.launcher))
