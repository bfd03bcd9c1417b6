"""Corruption checks for the conversation database, and classification of SQLite errors."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from app.history import schema

_DISK, _FULL = 10, 13
_BUSY, _LOCKED, _CORRUPT, _NOT_A_DATABASE, _CORRUPT_INDEX = 5, 6, 11, 26, 11 | 1 << 8  # SQLite's result codes
_READ_ONLY = 8
_NOT_THE_SCHEMA = (_BUSY, _LOCKED, _READ_ONLY, _DISK)
_SUSPICIOUS = (0, 1, 2, 18, 20, 24)
"""Primary result codes that this package's statements can only cause if the file is damaged, such as those for "no such
table", "string or blob too big" and "datatype mismatch"."""
_NEWEST_FORMAT = 2
"""The highest file format version number (byte 18 of the header) that SQLite writes."""
_HAS_INDEX = "SELECT 1 FROM sqlite_master WHERE name = 'words_added'"
_COLUMNS = {
    "conversations": "id, key, title, created, changed, setup, removed, pinned, folder",
    "talks": "id, conversation, began, folder, packed, turns, backends, opening",
    "events": "talk, serial, line",
    "turns": "id, talk, speaker, number, at, text",
    "unwanted": "folder",
}


def is_damage(error: Exception, connection: sqlite3.Connection | None = None) -> bool:
    """Returns whether an error means that the file is damaged or not a database.

    If the error alone is inconclusive, checks the database behind `connection`, rebuilding its search index if that is
    damaged.
    """
    code = _code(error)
    if code & 0xFF in (_CORRUPT, _NOT_A_DATABASE):
        return code != _CORRUPT_INDEX
    # Python can't decode an error message in which SQLite quotes a damaged schema.
    suspicious = isinstance(error, UnicodeDecodeError) or _is_suspicious(error)
    if connection is None or not suspicious:
        return isinstance(error, UnicodeDecodeError)
    try:
        check(connection)
    except Exception as found:
        return is_damage(found)
    return False


def is_damage_at_opening(error: Exception, path: Path) -> bool:
    """Returns whether an error raised while opening the file means that the file is damaged.

    Suspicious error codes count as damage too, since no statement but this package's own can have caused them.
    """
    if is_damage(error):
        return True
    if _code(error) == _READ_ONLY:  # write permission was checked earlier
        return _says_read_only(path)
    return isinstance(error, sqlite3.OperationalError) and _is_suspicious(error)


def is_index_damage(error: Exception) -> bool:
    """Returns whether an error means that only the search index is damaged, which can be rebuilt."""
    return _code(error) == _CORRUPT_INDEX


def is_busy(error: Exception) -> bool:
    """Returns whether an error means that another process has locked the file."""
    return _code(error) & 0xFF in (_BUSY, _LOCKED)


def is_fatal(error: Exception) -> bool:
    """Returns whether an error means that the disk is full or has an I/O error."""
    return _code(error) & 0xFF in (_DISK, _FULL)


def damage(what: str) -> sqlite3.DatabaseError:
    """Returns an error like the one SQLite raises for a damaged file."""
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = _CORRUPT
    return error


def check(connection: sqlite3.Connection) -> None:
    """Checks the whole database, rebuilding its search index if that is damaged.

    Raises sqlite3.Error if anything else is damaged or can't be read.
    """
    check_pages(connection)
    check_tables(connection)
    if connection.execute(_HAS_INDEX).fetchone() is not None:
        check_index(connection)
    check_writing(connection)


def check_pages(connection: sqlite3.Connection) -> None:
    """Runs SQLite's integrity check on every table; raises sqlite3.Error if it fails."""
    for table in _COLUMNS:  # the search index is checked separately
        found = connection.execute(f"PRAGMA integrity_check({table})").fetchone()[0]
        if found != "ok":
            raise damage(found)


def check_tables(connection: sqlite3.Connection) -> None:
    """Checks that all tables and columns exist; raises sqlite3.Error if not."""
    for table, columns in _COLUMNS.items():
        try:
            connection.execute(f"SELECT {columns} FROM {table} LIMIT 1").fetchone()
        except sqlite3.OperationalError as error:
            raise damage(str(error)) if _is_suspicious(error) else error from error


def check_writing(connection: sqlite3.Connection) -> None:
    """Writes a test talk and rolls it back; raises sqlite3.Error on failure.

    Skips the test if another process holds the lock.
    """
    patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {schema.version(connection)}")
        _write_on_trial(connection)
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute(f"PRAGMA busy_timeout = {patience}")


def _write_on_trial(connection: sqlite3.Connection) -> None:
    """Inserts test rows; raises sqlite3.Error if a damaged schema or counter prevents that.

    The rows only reach the page cache, so this doesn't detect a full disk.
    """
    try:
        conversation = connection.execute(
            "INSERT INTO conversations (key, created, changed, setup) VALUES (hex(randomblob(16)), 0, 0, '')"
        ).lastrowid
        talk = connection.execute("INSERT INTO talks (conversation, began) VALUES (?, 0)", (conversation,)).lastrowid
        connection.execute("INSERT INTO events (talk, serial, line) VALUES (?, 0, '')", (talk,))
        turn = connection.execute(
            "INSERT INTO turns (talk, speaker, number, at, text) VALUES (?, 'user', 1, 0, 'a')", (talk,)
        ).lastrowid
        connection.execute("UPDATE turns SET text = 'b' WHERE id = ?", (turn,))
        for table in ("events", "turns"):
            connection.execute(f"DELETE FROM {table} WHERE talk = ?", (talk,))
    except sqlite3.Error as error:
        raise error if _code(error) & 0xFF in _NOT_THE_SCHEMA else damage(str(error)) from error


def check_index(connection: sqlite3.Connection) -> None:
    """Rebuilds the search index if it is damaged; raises sqlite3.Error if that fails."""
    try:
        connection.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if not _concerns_index(error):
            raise
        try:
            schema.remake_index(connection)
        except sqlite3.Error as found:
            raise damage(str(found)) if _concerns_index(found) else found from found


def _concerns_index(error: sqlite3.Error) -> bool:
    return is_damage(error) or is_index_damage(error) or _is_suspicious(error)


def _is_suspicious(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) & 0xFF in _SUSPICIOUS


def _says_read_only(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(19)[18:] > bytes([_NEWEST_FORMAT])
    except OSError:
        return False


def _code(error: Exception) -> int:
    """Returns the SQLite error code, or 0 for errors without one, such as those from Python's own sqlite3 code."""
    return getattr(error, "sqlite_errorcode", 0)
