"""Locks files between processes and threads; the system lets go of a lock when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""Errors that mean that another process or thread has the lock."""
_MOST_REFUSED = 20


def try_lock(file: int) -> bool:
    """Locks an open file until it is closed; False if another process or thread has locked it.

    Raises OSError where files can't be locked at all.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


@contextmanager
def locked(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Holds the lock file `path`, which is there only meanwhile. `wait` is called until it is free, and may raise.

    Where files can't be locked, the block runs without a lock. Raises OSError where the file can't be made.
    """
    file = _take(path, wait)
    try:
        yield
    finally:
        # First deleted, so that nobody locks a file that is gone; on Windows that fails while it is open.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(file)
        if sys.platform == "win32":
            with contextlib.suppress(OSError):  # the next one has it open already
                path.unlink()


def _take(path: Path, wait: Callable[[], None]) -> int:
    refused = 0
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except PermissionError:
            # So Windows says of a file that is being deleted.
            refused += 1
            if sys.platform != "win32" or refused > _MOST_REFUSED:
                raise
            wait()
            continue
        try:
            if _try(file) and _is_there(file, path):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        wait()


def _try(file: int) -> bool:
    try:
        return try_lock(file)
    except OSError:
        return True


def _is_there(file: int, path: Path) -> bool:
    """Returns whether an open file still is the one at `path`, and not one that its last holder deleted."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False
