"""Let only one set-up at a time work on a folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from installation.steps import Steps
from installation.system import WINDOWS


@contextlib.contextmanager
def only_one(lock: Path, steps: Steps) -> Iterator[int]:
    """Let one set-up at a time hold this file; a second one waits for the first."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(str(lock), os.O_RDWR | os.O_CREAT)
    try:
        told = False
        while not try_lock(descriptor):
            if not told:
                steps.say("Another set-up of this folder is going on; waiting for it to end.")
                told = True
            time.sleep(0.2)
            steps.tick()
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting; False if another process holds it."""
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
