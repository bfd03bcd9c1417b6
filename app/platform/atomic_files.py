"""Writes files atomically, and moves files that another process may have open."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

BUSY_SECONDS = 1.0
"""How long to wait for a file that another process has open: virus scanners and search indexers read a new file for
some milliseconds, and meanwhile Windows neither moves nor deletes it."""


def move_file(source: Path | str, target: Path | str) -> None:
    """Moves a file and replaces `target`; waits while another process has one of them open. Raises OSError."""
    _while_busy(lambda: os.replace(source, target))


def delete_file(path: Path | str, *, missing_ok: bool = False) -> None:
    """Deletes a file; waits while another process has it open. Raises OSError."""
    _while_busy(lambda: Path(path).unlink(missing_ok=missing_ok))


def set_aside(path: Path, why: str = "broken") -> Path:
    """Renames a file that can't be used to `*.broken`, or `*.broken-2` and so on, and returns that path.

    `why`: another ending. Raises OSError.
    """
    backup = free_name(path, why)
    move_file(path, backup)
    return backup


def free_name(path: Path, why: str = "broken") -> Path:
    """Returns the name to which `set_aside` renames a file."""
    backup, number = path.with_name(f"{path.name}.{why}"), 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.{why}-{number}")
    return backup


def put_folder(new: Path, place: Path) -> None:
    """Moves the folder `new` to `place`, and replaces the one there, which stays if that fails. Raises OSError."""
    old = place.with_name(f".{place.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    had = place.exists()
    if had:
        _while_busy(lambda: os.replace(place, old))
    try:
        _while_busy(lambda: os.replace(new, place))
    except OSError:
        if had:
            _while_busy(lambda: os.replace(old, place))
        raise
    shutil.rmtree(old, ignore_errors=True)


def _while_busy(act: Callable[[], None]) -> None:
    """Repeats `act` while Windows says that a file is in use. On other systems none is."""
    wait, give_up = 0.005, time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return act()
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > give_up:
                raise
        time.sleep(wait)
        wait = min(2 * wait, 0.1)


@contextmanager
def whole_file(path: Path, *, backup: Path | None = None) -> Iterator[BinaryIO]:
    """Opens a file that replaces `path` when the block ends; `backup`: where to move the old file.

    A link stays a link, and the file's mode is kept. Raises OSError. When the block raises, `path` stays as it was.
    """
    path = Path(os.path.realpath(path))
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".draft")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        if backup is not None:
            move_file(path, backup)
        move_file(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            delete_file(draft)
        raise


def json_bytes(value: Any, *, indent: int = 2) -> bytes:
    """Returns `value` as lines of JSON in UTF-8."""
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can hold and UTF-8 can't
        text = json.dumps(value, indent=indent).encode()
    return text + b"\n"


def write_json(path: Path, value: Any, *, indent: int = 2, backup: Path | None = None) -> None:
    """Writes `value` to `path` as JSON, as `whole_file` does; makes a missing folder. Raises OSError."""
    text = json_bytes(value, indent=indent)
    Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, backup=backup) as file:
        file.write(text)
