"""Let only one set-up at a time work on a folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from installation.places import Places
from installation.steps import Steps
from installation.system import WINDOWS


@contextlib.contextmanager
def only_one(places: Places, steps: Steps) -> Iterator[int]:
    """Let one set-up at a time work on this folder; a second one waits for the first."""
    places.build.mkdir(exist_ok=True)
    descriptor = os.open(str(places.build / "bootstrap.lock"), os.O_RDWR | os.O_CREAT)
    try:
        told = False
        while not try_lock(descriptor):
            if not told:
                steps.say("Another set-up of this folder is going on; waiting for it to end.")
                told = True
            time.sleep(0.2)
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
