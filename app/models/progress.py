"""What downloads of all sources share: progress, checks of the disk, and that one of a model waits for another."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.models.errors import DownloadCancelled, ModelError
from app.platform.file_lock import locked

ROOM_LEFT = 500_000_000
"""Bytes that a download must leave free on the disk."""
WAIT_SECONDS = 0.2
"""How often a download looks whether another one of the same model has ended."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a download. `file`: the current one; the bytes include what was there before.

    `waiting`: another download of the same model goes on, and this one begins after it.
    """

    file: str
    done_bytes: int
    total_bytes: int
    verifying: bool = False
    waiting: bool = False

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


@contextmanager
def only_one(lock: Path, progress: Callable[[Progress], None], cancelled: threading.Event) -> Iterator[bool]:
    """Keeps other downloads of the same model waiting, by the file `lock`; yields whether this one had to wait.

    Raises DownloadCancelled while it waits, and OSError.
    """
    waited = False

    def wait() -> None:
        nonlocal waited
        if not waited:
            progress(Progress("", 0, 0, waiting=True))
        waited = True
        if cancelled.wait(WAIT_SECONDS):
            raise DownloadCancelled

    with locked(lock, wait):
        yield waited


def require_room(folder: Path, needed: int, what: str) -> None:
    """Raises ModelError when the disk of `folder` has no room for `needed` more bytes of `what`."""
    free = shutil.disk_usage(folder).free
    if needed > 0 and free < needed + ROOM_LEFT:
        raise ModelError(
            f"The download of {what} needs {needed / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free where {folder} "
            "lies. Make room, or choose another folder."
        )


def disk_failed(folder: Path, error: OSError) -> ModelError:
    """Returns the error for a failure of the disk during a download into `folder`."""
    if error.errno == errno.ENOSPC:
        return ModelError(
            f"The disk ran full while a model was coming to {folder}. What has come stays; make room and start the "
            "download again."
        )
    return ModelError(f"A model can't be written to {folder} ({error.strerror or error}). Choose another folder.")
