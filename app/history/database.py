"""Functions for opening the conversation database, even if it is damaged, inaccessible or from another version.

A damaged file is moved aside and its readable content rescued into a new one. A file from another version of the app is
set aside unchanged. If nothing can be stored, an in-memory database is used until the app closes.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from app.history import queries, schema
from app.history.damage import (
    check_index,
    check_pages,
    check_tables,
    check_writing,
    damage,
    is_busy,
    is_damage_at_opening,
)
from app.history.rescue import Rescued, rescue
from app.platform.files import delete_file, make_private, move_file, private_folder, set_aside
from app.settings.paths import APP_NAME
from app.untrusted.limits import OtherVersion

PATIENCE_SECONDS = 2.0
"""How long to wait for another process to release its lock on the file."""
CHECK_BYTES = 256 * 2**20
"""The maximum size of a file that gets a full integrity check after an unclean shutdown; 100 MB takes about 0.3 s."""
SMALL_BYTES = 32 * 2**20
"""The maximum size of a file that gets a full integrity check every time it is opened."""

_MAKING = threading.Lock()
"""Held while the file is created, so that no other thread opens it before this one has closed it."""
_LAST_IMAGINABLE = schema.VERSION + 20
"""The highest plausible format version; a higher number indicates damage."""


class ForeignError(Exception):
    """Raised for a database file that another program created."""


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """An open database.

    - `indexed`: whether it has a search index.
    - `trouble`: a user-facing message saying why nothing can be stored permanently, or empty.
    - `notice`: a user-facing message about a file that had to be replaced, or empty.
    - `rescued`: the row IDs that the recovered talks had in the damaged file.
    """

    connection: sqlite3.Connection
    indexed: bool
    trouble: str = ""
    notice: str = ""
    rescued: frozenset[int] = frozenset()


def history_path() -> Path:
    """Returns the path of the user's conversation database."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "history.sqlite3"


def open_database(path: Path) -> OpenDatabase:
    """Opens the file, replacing it if it is unusable; falls back to an in-memory database. Never raises."""
    try:
        return _open_patiently(path)
    except ForeignError:
        return replace_damaged(path)
    except OtherVersion as error:
        return _replace_other_version(path, error)
    except Exception as error:
        if is_damage_at_opening(error, path):
            return replace_damaged(path)
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return _in_memory(
            f"The conversations in {path} can't be opened ({reason}), and none is kept. See that you may write there "
            "and that there is room, and start KAME again."
        )


def _replace_other_version(path: Path, why: OtherVersion) -> OpenDatabase:
    """Sets aside a file from another version of the app and creates a new one; never raises."""
    try:
        kept = _move_away(path, why.ending)
        fresh = _open_patiently(path)
    except Exception as error:
        return _in_memory(
            f"The conversations in {path} can't be used, since {why}, and could not be moved away ({error}), so none "
            "is kept. Move the file elsewhere, and start KAME again."
        )
    notice = (
        f"The file of conversations can't be used, since {why}, so a new one was begun. The other one is kept as "
        f"{kept}: that version of KAME reads it under the name {path.name}."
    )
    return OpenDatabase(fresh.connection, fresh.indexed, notice=notice)


def replace_damaged(path: Path) -> OpenDatabase:
    """Moves a damaged file aside and creates a new one from its readable content; never raises.

    The damaged file is moved only once the new one is complete. If the app is killed before that, the next start tries
    again from scratch; if it is killed afterwards, the next `_open` finishes the replacement.
    """
    draft = _draft(path)
    try:
        rescued = _rescue(path, draft)
        backup = _move_away(path, "broken")
        with contextlib.suppress(FileNotFoundError):  # another process put it in place first
            move_file(draft, path)
        fresh = _open_patiently(path)
    except Exception as error:
        with contextlib.suppress(OSError):
            if path.exists():
                delete_file(draft, missing_ok=True)
        return _in_memory(
            f"The conversations in {path} are damaged and could not be moved away ({error}), so none is kept. Make "
            "room there, or move the file elsewhere, and start KAME again."
        )
    if rescued.kept:
        what = (
            f"a new one was made with what can be read of it: {len(rescued.kept)} "
            f"{'talk' if len(rescued.kept) == 1 else 'talks'} in {rescued.conversations} "
            f"{'conversation' if rescued.conversations == 1 else 'conversations'}"
        )
    else:
        what = "a new one was made; no talk could be read from it"
    notice = f"The file of conversations was damaged, so {what}. The damaged file is kept as {backup}."
    return OpenDatabase(fresh.connection, fresh.indexed, notice=notice, rescued=rescued.kept)


def _rescue(path: Path, draft: Path) -> Rescued:
    """Creates `draft` from the readable content of the damaged file, using a temporary name until it is complete.

    Raises OSError and sqlite3.Error.
    """
    part = draft.with_name(draft.name + ".part")
    for name in (part.name, part.name + "-journal"):
        delete_file(part.with_name(name), missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with contextlib.closing(_connect(str(part))) as database:
            schema.make_tables(database)
            schema.prepare_index(database)
            rescued = rescue(path, database, part.with_name(part.name + ".pages"))
        move_file(part, draft)
    except BaseException:
        with contextlib.suppress(OSError):
            delete_file(part, missing_ok=True)
        raise
    return rescued


def _open_patiently(path: Path) -> OpenDatabase:
    """Opens the file, retrying while another process is opening it, which SQLite's busy timeout doesn't cover."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return _open(path)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > give_up:
                raise
        time.sleep(0.05)


def _open(path: Path) -> OpenDatabase:
    private_folder(path.parent)
    notice = _put_in_place(path) if not path.exists() and _draft(path).exists() else ""
    _make_private(path)
    make_private(path)
    log = path.with_name(path.name + "-wal")
    unclean = log.exists() and log.stat().st_size > 0
    connection = _connect(str(path))
    try:
        before = schema.version(connection)
        if not 0 <= before <= _LAST_IMAGINABLE:
            raise damage("its version makes no sense")
        if before not in (0, schema.VERSION):
            raise OtherVersion(before, schema.VERSION)
        if connection.execute("PRAGMA encoding").fetchone()[0] != "UTF-8":
            raise damage("its header makes no sense")
        if schema.is_foreign(connection):
            raise ForeignError
        connection.execute("PRAGMA journal_mode = WAL")
        if before and path.stat().st_size <= (CHECK_BYTES if unclean else SMALL_BYTES):
            check_pages(connection)
        schema.make_tables(connection)
        indexed = schema.prepare_index(connection)
        check_tables(connection)
        if indexed:
            check_index(connection)
        check_writing(connection)
        queries.mend(connection)
    except BaseException:
        connection.close()
        raise
    return OpenDatabase(connection, indexed, notice=notice)


def _make_private(path: Path) -> None:
    """Creates the file if it is missing, accessible only to this user; the write-ahead log inherits its permissions.

    An existing file is not opened here: on POSIX, closing it would release the locks held on it by this process's other
    connections, and another process could then remove the log while it is in use.
    """
    with _MAKING:
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=PATIENCE_SECONDS, isolation_level=None)
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")  # damage may invalidate UTF-8
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # keep conversation text out of temporary files
    except BaseException:
        connection.close()  # Windows can't move an open file, and the caller moves this one
        raise
    return connection


def _in_memory(trouble: str) -> OpenDatabase:
    connection = _connect(":memory:")
    schema.make_tables(connection)
    return OpenDatabase(connection, schema.prepare_index(connection), trouble)


def _draft(path: Path) -> Path:
    """Returns the temporary path of the file that will replace a damaged one."""
    return path.with_name(path.name + ".rescued")


def _move_away(path: Path, why: str) -> Path:
    backup = set_aside(path, why)
    _move_log(path, backup)
    return backup


def _put_in_place(path: Path) -> str:
    """Finishes a replacement that was interrupted after the damaged file was moved; returns a user-facing message."""
    moved = [file.name for file in path.parent.glob(f"{path.name}.broken*") if not file.name.endswith("-wal")]
    kept = ""
    if moved:
        backup = path.with_name(max(moved, key=lambda name: (len(name), name)))
        _move_log(path, backup)
        kept = f" The damaged file is kept as {backup}."
    with contextlib.suppress(FileNotFoundError):  # another process moved it first
        move_file(_draft(path), path)
    return f"The file of conversations was damaged, so a new one was made with what can be read of it.{kept}"


def _move_log(path: Path, backup: Path) -> None:
    """Moves the write-ahead log along with its database file, since it must not be applied to any other file."""
    with contextlib.suppress(FileNotFoundError):
        move_file(path.with_name(path.name + "-wal"), backup.with_name(backup.name + "-wal"))
    delete_file(path.with_name(path.name + "-shm"), missing_ok=True)
