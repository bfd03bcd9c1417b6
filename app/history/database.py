"""Opens the database of conversations, also if the file is damaged, old, new or inaccessible.

A damaged file is moved away, and what can be read of it is rescued into a new one. One of a newer version of the app is
left alone, and an older one is copied before it is brought up to date. If nothing can be stored, a database in memory
replaces the file until the app is closed.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sqlite3
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from app.history import queries, schema
from app.history.rescue import Rescued, rescue
from app.platform.atomic_files import delete_file, move_file
from app.settings.paths import APP_NAME

PATIENCE_SECONDS = 2.0
"""How long another process may lock the file."""
CHECK_BYTES = 256 * 2**20
"""The largest file that is checked completely if it was not closed properly: some 0.3 s for 100 MB."""
SMALL_BYTES = 32 * 2**20
"""The largest file that is always checked."""

_MAKING = threading.Lock()
"""Held while the file is made, so that no thread opens it before it has been closed again."""
_BUSY, _LOCKED, _CORRUPT, _NOT_A_DATABASE, _CORRUPT_INDEX = 5, 6, 11, 26, 11 | 1 << 8  # SQLite's result codes
_HAS_INDEX = "SELECT 1 FROM sqlite_master WHERE name = 'words_added'"
_READ_ONLY = 8
"""SQLite's code for a file whose header says so: that it may be written was found out before."""
_SUSPICIOUS = (0, 1, 2, 18, 20, 24)
"""Codes of errors that our statements raise on a damaged file only: "no such table", "too big", "datatype mismatch"."""
_COLUMNS = {
    "conversations": "id, key, title, created, changed, setup, removed, pinned, folder",
    "talks": "id, conversation, began, folder, packed, turns, brains, opening",
    "events": "talk, serial, line",
    "turns": "id, talk, speaker, number, at, text",
    "unwanted": "folder",
}
_NEWEST_IMAGINABLE = schema.NEWEST + 20
"""A later version than this is no version, but damage."""


class NewerDatabaseError(Exception):
    """A newer version of the app has written the file."""


class ForeignError(Exception):
    """Another program has written the file."""


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """An open database. `indexed`: it has a search index.

    `trouble`: why nothing in it will be stored; `notice`: what became of a damaged file. Both are sentences, or empty.
    """

    connection: sqlite3.Connection
    indexed: bool
    trouble: str = ""
    notice: str = ""


def history_path() -> Path:
    """Returns the path of the user's conversations."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "history.sqlite3"


def is_damage(error: Exception, connection: sqlite3.Connection | None = None) -> bool:
    """Returns whether an error means that the file is damaged or not a database.

    An error that only may mean that is found out about by checking the file of `connection`.
    """
    if isinstance(error, UnicodeDecodeError):
        return True  # SQLite's message quotes a damaged schema, and Python can't read that
    code = _code(error)
    if code & 0xFF in (_CORRUPT, _NOT_A_DATABASE):
        return code != _CORRUPT_INDEX
    if connection is None or code & 0xFF not in _SUSPICIOUS or not isinstance(error, sqlite3.Error):
        return False
    try:
        _check(connection)
    except Exception as found:
        return is_damage(found)
    return False


def is_index_damage(error: Exception) -> bool:
    """Returns whether an error means that only the search index is damaged, which can be rebuilt."""
    return _code(error) == _CORRUPT_INDEX


def is_busy(error: Exception) -> bool:
    """Returns whether an error means that another process has locked the file."""
    return _code(error) & 0xFF in (_BUSY, _LOCKED)


def backups(path: Path) -> list[Path]:
    """Returns the copies that were made before the database was brought up to date."""
    return sorted(path.parent.glob(f"{path.name}.version-*.backup"))


def open_database(path: Path) -> OpenDatabase:
    """Opens the file, or a database in memory if it can't be opened; never raises."""
    try:
        return _open_patiently(path)
    except ForeignError:
        return replace_damaged(path)
    except NewerDatabaseError:
        return _in_memory(
            f"The conversations in {path} were written by a newer version of KAME and are left as they are. None is "
            "kept until you update KAME."
        )
    except Exception as error:
        if is_damage(error) or (
            isinstance(error, sqlite3.OperationalError) and _code(error) in (*_SUSPICIOUS, _READ_ONLY)
        ):
            return replace_damaged(path)
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return _in_memory(
            f"The conversations in {path} can't be opened ({reason}), and none is kept. See that you may write there "
            "and that there is room, and start KAME again."
        )


def replace_damaged(path: Path) -> OpenDatabase:
    """Moves a damaged file away and makes a new one of what can be read of it; never raises.

    The new file is complete before the damaged one is moved: whoever is interrupted here begins again.
    """
    draft = path.with_name(path.name + ".rescued")
    try:
        rescued = _rescue(path, draft)
        backup = _move_damaged(path)
        move_file(draft, path)
        fresh = _open(path)
    except Exception as error:
        with contextlib.suppress(OSError):
            delete_file(draft, missing_ok=True)
        return _in_memory(
            f"The conversations in {path} are damaged and could not be moved away ({error}), so none is kept. Make "
            "room there, or move the file elsewhere, and start KAME again."
        )
    if rescued.talks:
        what = (
            f"a new one was made with what can be read of it: {rescued.talks} "
            f"{'talk' if rescued.talks == 1 else 'talks'} in {rescued.conversations} "
            f"{'conversation' if rescued.conversations == 1 else 'conversations'}"
        )
    else:
        what = "a new one was made; no talk could be read from it"
    notice = f"The file of conversations was damaged, so {what}. The damaged file is kept as {backup}."
    return OpenDatabase(fresh.connection, fresh.indexed, notice=notice)


def _rescue(path: Path, draft: Path) -> Rescued:
    """Makes the file `draft` of what can be read of the damaged one. Raises OSError and sqlite3.Error."""
    for name in (draft.name, draft.name + "-journal"):
        delete_file(draft.with_name(name), missing_ok=True)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.closing(_connect(str(draft))) as database:
        schema.migrate(database)
        schema.prepare_index(database)
        return rescue(path, database)


def _code(error: Exception) -> int:
    """Returns SQLite's code of an error; 0 if it has none, as errors that Python's module itself raises."""
    return getattr(error, "sqlite_errorcode", 0)


def _open_patiently(path: Path) -> OpenDatabase:
    """Opens the file; retries while another process opens it, since SQLite's own timeout does not cover that."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return _open(path)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > give_up:
                raise
        time.sleep(0.05)


def _open(path: Path) -> OpenDatabase:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _make_private(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        path.chmod(0o600)
    log = path.with_name(path.name + "-wal")
    unclean = log.exists() and log.stat().st_size > 0
    connection = _connect(str(path))
    try:
        before = schema.version(connection)
        if schema.NEWEST < before <= _NEWEST_IMAGINABLE:
            raise NewerDatabaseError
        if not 0 <= before <= schema.NEWEST:
            raise _damage("its version makes no sense")
        if connection.execute("PRAGMA encoding").fetchone()[0] != "UTF-8":
            raise _damage("its header makes no sense")
        if schema.is_foreign(connection):
            raise ForeignError
        connection.execute("PRAGMA journal_mode = WAL")
        if before and path.stat().st_size <= (CHECK_BYTES if unclean else SMALL_BYTES):
            _check_pages(connection)
        if 0 < before < schema.NEWEST:
            _back_up(connection, path.with_name(f"{path.name}.version-{before}.backup"))
        schema.migrate(connection)
        indexed = schema.prepare_index(connection)
        _check_tables(connection)
        _check_writing(connection)
        if indexed:
            _check_index(connection)
        queries.mend(connection)
    except BaseException:
        connection.close()
        raise
    return OpenDatabase(connection, indexed)


def _make_private(path: Path) -> None:
    """Makes the file if it is missing, so that no other user can ever read it; its log inherits the permissions.

    A file that exists is not opened here: on POSIX, closing it would release the locks that this process's other
    connections have on it, and another process could remove the log from under them.
    """
    with _MAKING:
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=PATIENCE_SECONDS, isolation_level=None)
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")  # a damaged row has other text
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")  # so that no other file contains the words
    except BaseException:
        connection.close()  # Windows can't move an open file, and this one is to be moved away
        raise
    return connection


def _in_memory(trouble: str) -> OpenDatabase:
    connection = _connect(":memory:")
    schema.migrate(connection)
    return OpenDatabase(connection, schema.prepare_index(connection), trouble)


def _check(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.Error where the database is damaged."""
    _check_pages(connection)
    _check_tables(connection)
    if connection.execute(_HAS_INDEX).fetchone() is not None:
        _check_index(connection)


def _check_pages(connection: sqlite3.Connection) -> None:
    for table in _COLUMNS:  # not the search index, which is looked at by itself
        found = connection.execute(f"PRAGMA integrity_check({table})").fetchone()[0]
        if found != "ok":
            raise _damage(found)


def _check_tables(connection: sqlite3.Connection) -> None:
    for table, columns in _COLUMNS.items():
        try:
            connection.execute(f"SELECT {columns} FROM {table} LIMIT 1").fetchone()
        except sqlite3.OperationalError as error:
            raise _damage(str(error)) if _code(error) in _SUSPICIOUS else error from error


def _check_writing(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.Error where the header says that nothing may be written."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {schema.version(connection)}")
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE_SECONDS)}")


def _check_index(connection: sqlite3.Connection) -> None:
    """Rebuilds the search index if it is damaged; raises sqlite3.Error where that can't be done."""
    try:
        connection.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if is_busy(error):
            raise
        try:
            schema.remake_index(connection)
        except sqlite3.Error as found:
            raise _damage(str(found)) from found


def _damage(what: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = _CORRUPT
    return error


def _back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Copies the database to `path`: to a file of its own first, since several processes may do so at a time."""
    own = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        os.close(os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with contextlib.closing(sqlite3.connect(own)) as copy:
            connection.backup(copy)
        move_file(own, path)
    except BaseException:
        delete_file(own, missing_ok=True)
        raise


def _move_damaged(path: Path) -> Path:
    backup, number = path.with_name(path.name + ".broken"), 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.broken-{number}")
    move_file(path, backup)
    with contextlib.suppress(FileNotFoundError):  # it may be needed to recover the contents
        move_file(path.with_name(path.name + "-wal"), backup.with_name(backup.name + "-wal"))
    delete_file(path.with_name(path.name + "-shm"), missing_ok=True)
    return backup
