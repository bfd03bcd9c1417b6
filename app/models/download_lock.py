"""Lets a download of a model wait for another one of the same model, in this process or in another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.models.errors import DownloadCancelled
from app.models.progress import Progress
from app.platform.file_lock import locked

WAIT_SECONDS = 0.2
"""How often a download looks whether the other one has ended."""


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
