"""The progress of a download, and the checks of the disk that all sources share."""

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
    """The progress of a download. `file`: the current one; the bytes include what was there before."""

    file: str
    done_bytes: int
    total_bytes: int
    verifying: bool = False

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0


def require_room(folder: Path, wanted: int, what: str) -> None:
    """Raises ModelError when the disk of `folder` has no room for `wanted` more bytes of `what`."""
    free = shutil.disk_usage(folder).free
    if wanted > 0 and free < wanted + ROOM_LEFT:
        raise ModelError(
            f"The download of {what} needs {wanted / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free where {folder} "
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
