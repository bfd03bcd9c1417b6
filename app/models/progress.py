"""What downloads of all sources share: progress, and checks of the disk."""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass
from pathlib import Path

from app.models.errors import ModelError

ROOM_LEFT = 500_000_000
"""Bytes that a download must leave free on the disk."""


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
