"""Secure deletion of conversations, including recordings and traces in the search index, log and free pages.

All functions run on the thread that owns the connection.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from app.history.schema import transaction

EMPTY_LOG_MS = 200
"""How long to wait for other readers of the write-ahead log, during which events of open talks can't be written."""

_UNUSED = (
    "SELECT id FROM conversations WHERE NOT removed AND id NOT IN (SELECT conversation FROM talks "
    "WHERE turns OR EXISTS (SELECT 1 FROM turns WHERE turns.talk = talks.id))"
)
"""Selects conversations without turns. A talk's turn count may be damaged, so the turns themselves are checked too."""


def erase(database: sqlite3.Connection, indexed: bool, unused: bool) -> set[str]:
    """Deletes conversations marked as removed and, if `unused`, those without turns. Returns the keys of the former.

    Their text remains in the write-ahead log until `empty_log`, and may remain in free pages until `sweep`; their
    recordings remain until `erase_sound`.
    """
    with transaction(database):
        removed = dict(database.execute("SELECT id, key FROM conversations WHERE removed").fetchall())
        empty = [row for (row,) in database.execute(_UNUSED)] if unused else []
        for row in [*removed, *empty]:
            database.execute(
                "INSERT OR IGNORE INTO unwanted SELECT folder FROM talks WHERE conversation = ? AND folder IS NOT NULL",
                (row,),
            )
            for (talk,) in database.execute("SELECT id FROM talks WHERE conversation = ?", (row,)).fetchall():
                database.execute("DELETE FROM turns WHERE talk = ?", (talk,))
                database.execute("DELETE FROM events WHERE talk = ?", (talk,))
            database.execute("DELETE FROM talks WHERE conversation = ?", (row,))
            database.execute("DELETE FROM conversations WHERE id = ?", (row,))
        if removed and indexed:
            # FTS5 only marks entries as deleted; merging its segments removes the text.
            database.execute("INSERT INTO words (words) VALUES ('optimize')")
        if removed:
            database.execute("INSERT OR IGNORE INTO unwanted VALUES ('')")
    return set(removed.values())


def empty_log(database: sqlite3.Connection) -> bool:
    """Checkpoints the write-ahead log and truncates it; returns False if another reader prevented this."""
    (patience,) = database.execute("PRAGMA busy_timeout").fetchone()
    database.execute(f"PRAGMA busy_timeout = {min(patience, EMPTY_LOG_MS)}")
    try:
        busy, _, _ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        database.execute(f"PRAGMA busy_timeout = {patience}")
    return not busy


def needs_sweep(database: sqlite3.Connection) -> bool:
    """Returns whether the file may still contain traces of erased conversations."""
    return database.execute("SELECT 1 FROM unwanted WHERE folder = ''").fetchone() is not None


def sweep(database: sqlite3.Connection) -> bool:
    """Rewrites the whole file, at about 100 MB/s; returns False if the log could not be emptied.

    SQLite overwrites deleted rows, but not the copies left behind when it moves rows between pages.
    """
    database.execute("VACUUM")
    if not empty_log(database):
        return False
    database.execute("DELETE FROM unwanted WHERE folder = ''")
    return True


def erase_sound(database: sqlite3.Connection, recordings: Path | None) -> list[Path]:
    """Deletes the recordings of erased conversations; returns the folders that could not be deleted, for a later retry.

    Only folders inside `recordings` are deleted, since all others belong to the user.
    """
    left = []
    for (name,) in database.execute("SELECT folder FROM unwanted WHERE folder <> ''").fetchall():
        folder = Path(name)
        if recordings is not None and lies_in(folder, recordings) and folder.exists():
            try:
                shutil.rmtree(folder.resolve())
            except OSError:
                left.append(folder)
                continue
        database.execute("DELETE FROM unwanted WHERE folder = ?", (name,))
    return left


def lies_in(folder: Path, whole: Path) -> bool:
    """Returns whether `folder` is inside `whole` after resolving symbolic links."""
    try:
        folder, whole = folder.resolve(), whole.resolve()
    except (OSError, RuntimeError):
        return False
    return folder != whole and folder.is_relative_to(whole)
