"""File operations: atomic writes, moving files that another process may have open, checking names, and locks.

The operating system releases a lock when the process that holds it exits, even after a crash.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

BUSY_SECONDS = 1.0
"""How long to wait for a file that another process has open.

Virus scanners and search indexers open new files for a few milliseconds, during which Windows can't move or delete
them.
"""


APP_FOLDER = "kame-desktop"
"""The name of each folder that is the app's own (`app.settings.paths`)."""


def private_folder(folder: Path) -> None:
    """Creates a folder, with its parents, that only the user can read. Raises OSError.

    The app's own folder is made private if somebody has made it otherwise; other folders that exist stay as they are.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process may be making it, too
            one.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    for one in (folder, *folder.parents):
        if one.name == APP_FOLDER:
            make_private(one)


def private_file(path: Path | str, mode: str = "wb", **how: Any) -> IO[Any]:
    """Opens a file for writing that only the user can read. Raises OSError.

    `mode`, `how`: as in `open`.
    """
    file = open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **how)  # noqa: SIM115
    if APP_FOLDER in Path(path).parts:
        make_private(path)  # it may have been there before
    return file


def make_private(path: Path | str) -> None:
    """Takes the rights to a file or folder from others, if it is the user's own."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            found = os.stat(path)
            own = found.st_uid == os.geteuid() and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))
            if own and found.st_mode & 0o077:
                os.chmod(path, stat.S_IMODE(found.st_mode) & 0o700)


def move_file(source: Path | str, target: Path | str) -> None:
    """Moves a file, replacing `target`; waits up to `BUSY_SECONDS` if either is in use. Raises OSError."""
    _while_busy(lambda: os.replace(source, target))


def delete_file(path: Path | str, *, missing_ok: bool = False) -> None:
    """Deletes a file; waits up to `BUSY_SECONDS` if another process has it open. Raises OSError."""
    _while_busy(lambda: Path(path).unlink(missing_ok=missing_ok))


def set_aside(path: Path, why: str = "broken") -> Path:
    """Renames an unusable file to `*.broken`, or `*.broken-2` and so on, and returns the new path.

    `why`: the suffix to use instead of "broken". Raises OSError.
    """
    backup = free_name(path, why)
    move_file(path, backup)
    return backup


def free_name(path: Path, why: str = "broken") -> Path:
    """Returns the path to which `set_aside` would rename a file."""
    backup, number = path.with_name(f"{path.name}.{why}"), 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.{why}-{number}")
    return backup


def put_folder(new: Path, place: Path) -> None:
    """Moves the folder `new` to `place`, replacing an existing one, which is restored on failure. Raises OSError."""
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
    """Retries `act` for up to `BUSY_SECONDS` while Windows reports that a file is in use. Doesn't retry elsewhere."""
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
    """Opens a temporary file that replaces `path` when the block ends; if the block raises, `path` is left unchanged.

    Symbolic links are followed, and the file's mode is kept. `backup`: the new path of the old file. Raises OSError.
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
    """Returns `value` as indented JSON in UTF-8, with a trailing newline."""
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can represent and UTF-8 can't
        text = json.dumps(value, indent=indent).encode()
    return text + b"\n"


def write_json(path: Path, value: Any, *, indent: int = 2, backup: Path | None = None) -> None:
    """Writes `value` to `path` as JSON, atomically; creates the parent folder if necessary. Raises OSError."""
    text = json_bytes(value, indent=indent)
    private_folder(Path(os.path.realpath(path)).parent)
    with whole_file(path, backup=backup) as file:
        file.write(text)


_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"} | {
    kind + number for kind in ("COM", "LPT") for number in "0123456789¹²³"
}

MOST_CHARACTERS, MOST_LETTERS, MOST_FOLDERS = 400, 160, 8
"""The maximum number of characters in a relative path, of UTF-8 bytes in one component, and of parent folders.

These limits leave room for appended suffixes."""
_FORBIDDEN = re.compile('[\\x00-\\x1f\\x7f-\\x9f<>:"|?*\\\\\ud800-\udfff]')


def is_plain(name: object) -> bool:
    """Returns whether `name` is a valid relative path on every operating system; the only separator allowed is “/”."""
    if not isinstance(name, str) or len(name) > MOST_CHARACTERS or _FORBIDDEN.search(name):
        return False
    parts = name.split("/")
    return len(parts) <= MOST_FOLDERS + 1 and all(map(_is_plain_part, parts))


def _is_plain_part(part: str) -> bool:
    return 0 < len(part.encode()) <= MOST_LETTERS and part[-1] not in ". " and part[0] != " " and not is_device(part)


def is_device(name: str) -> bool:
    """Returns whether Windows reserves this file name for a device, as it does in any folder and with any suffix."""
    return name.partition(".")[0].rstrip().upper() in _DEVICES


def is_local_file(path: Path | str) -> bool:
    """Returns whether this is a regular file, without asking another computer or a device.

    Windows sends the user's credentials to the computer that a path such as `\\\\server\\share` names.
    """
    text = str(path)
    if text.startswith(("\\\\", "//", "\\/", "/\\")) or is_device(re.split(r"[/\\]", text)[-1].strip()):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""Error codes that mean that another process or thread holds the lock."""
_MOST_REFUSED = 20


def try_lock(file: int) -> bool:
    """Locks an open file until it is closed; returns False if another process or thread holds the lock.

    Raises OSError if the file system doesn't support locking.
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
    """Holds a lock on the file `path`, which exists only while locked. Calls `wait`, which may raise, between attempts.

    If the file system doesn't support locking, the block runs without a lock. Raises OSError if the file can't be
    created.
    """
    file = _take(path, wait)
    try:
        yield
    finally:
        # Deleted before it is closed, so that no one locks a deleted file; Windows can't delete open files.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(file)
        if sys.platform == "win32":
            with contextlib.suppress(OSError):  # the next holder has already opened it
                path.unlink()


def _take(path: Path, wait: Callable[[], None]) -> int:
    refused = 0
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except PermissionError:
            # Windows reports this for a file that is being deleted.
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
    """Returns whether an open file is still the one at `path`, rather than one that its last holder deleted."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False
