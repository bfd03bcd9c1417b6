"""Mutual exclusion of set-ups that work on the same folder."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

from installation.places import WINDOWS
from installation.steps import Steps

HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK))
"""The error codes that mean another process holds the lock."""


@contextlib.contextmanager
def only_one(lock: Path, steps: Steps) -> Iterator[int]:
    """Holds the lock file, after waiting for any other set-up to release it; yields its file descriptor."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = lock_file(lock)
    if descriptor is None:
        steps.say("Another set-up of this folder is going on; waiting for it to end.")
    while descriptor is None:
        time.sleep(0.2)
        steps.tick()
        descriptor = lock_file(lock)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def lock_file(lock: Path) -> int | None:
    """Opens and locks a file and returns its descriptor; None if another process holds the lock."""
    descriptor = os.open(str(lock), os.O_RDWR | os.O_CREAT)
    try:
        # `remove_environment` deletes this file, and locking a deleted file has no effect. Windows doesn't delete open
        # files.
        if try_lock(descriptor) and (WINDOWS or is_file_at(descriptor, lock)):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def is_file_at(descriptor: int, path: Path) -> bool:
    """Returns whether `path` still refers to the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(str(path)))
    except OSError:
        return False


def try_lock(descriptor: int) -> bool:
    """Locks an open file without blocking; returns False if another process holds the lock.

    Also returns True on file systems that don't support locking, such as some network drives.
    """
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in HELD
    return True
