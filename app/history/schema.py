"""The tables of the conversation database.

`PRAGMA user_version` holds the format version. Files of any other version are set aside unread. The search index is
not part of the format, since not every SQLite build supports FTS5; it can be rebuilt from `turns` at any time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = 4
"""The format version. Increment it when the tables or their contents change. Versions 1 to 3 were never released."""
TURN_BITS = 20
"""A turn's ID is its conversation's ID shifted left by this many bits, plus a counter, so that a search needs only the
index to identify the conversation that contains a word."""

_TABLES = (
    """CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL,
        changed REAL NOT NULL,
        setup TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0,
        pinned INTEGER NOT NULL DEFAULT 0,
        folder TEXT NOT NULL DEFAULT ''
    )""",
    """CREATE TABLE talks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversations (id),
        began REAL NOT NULL,
        folder TEXT,
        packed BLOB,
        turns INTEGER NOT NULL DEFAULT 0,
        backends TEXT NOT NULL DEFAULT '[]',
        opening TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX talks_of ON talks (conversation)",
    """CREATE TABLE events (
        talk INTEGER NOT NULL REFERENCES talks (id),
        serial INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (talk, serial)
    ) WITHOUT ROWID""",
    """CREATE TABLE turns (
        id INTEGER PRIMARY KEY,
        talk INTEGER NOT NULL REFERENCES talks (id),
        speaker TEXT NOT NULL,
        number INTEGER NOT NULL,
        at REAL NOT NULL,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX turns_of ON turns (talk)",
    "CREATE TABLE unwanted (folder TEXT PRIMARY KEY)",
)
"""A talk's events are stored as JSON lines, compressed in `packed` or, until then, in `events`; the columns `turns`,
`backends` and `opening` are derived from them. `unwanted`: folders of recordings to erase; an empty name means that the
file itself may still contain deleted text."""

_INDEX = (
    """CREATE VIRTUAL TABLE words USING fts5 (
        text, content='turns', content_rowid='id', columnsize=0, prefix='1 2 3',
        tokenize='unicode61 remove_diacritics 2'
    )""",
    "INSERT INTO words (words) VALUES ('rebuild')",
    """CREATE TRIGGER words_added AFTER INSERT ON turns BEGIN
        INSERT INTO words (rowid, text) VALUES (new.id, new.text);
    END""",
    """CREATE TRIGGER words_gone AFTER DELETE ON turns BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text);
    END""",
    """CREATE TRIGGER words_changed AFTER UPDATE OF text ON turns WHEN old.text IS NOT new.text BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO words (rowid, text) VALUES (new.id, new.text);
    END""",
)
_TRIGGERS = ("words_added", "words_gone", "words_changed")


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Runs the block in a transaction; outside of one, the connection is in autocommit mode."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def version(database: sqlite3.Connection) -> int:
    """Returns the database's format version; 0 if the database is empty."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(database: sqlite3.Connection) -> bool:
    """Returns whether another program created the database."""
    # A single statement, since another process may be creating the tables right now.
    query = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_master)"
    made, tables = database.execute(query).fetchone()
    return not made and bool(tables)


def make_tables(database: sqlite3.Connection) -> None:
    """Creates the tables of an empty database in one transaction. Raises sqlite3.Error."""
    if version(database):
        return
    with transaction(database):
        if not version(database):  # check again: another process may have created them
            for statement in _TABLES:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")


def prepare_index(database: sqlite3.Connection) -> bool:
    """Creates the search index if it is missing; returns False if this SQLite build doesn't support it."""
    if not _supports_index(database):
        for name in _TRIGGERS:  # they would fail; the index is rebuilt once FTS5 is available again
            database.execute(f"DROP TRIGGER IF EXISTS {name}")
        return False
    if not _has_index(database):
        with transaction(database):
            if not _has_index(database):
                _make_index(database)
    return True


def remake_index(database: sqlite3.Connection) -> None:
    """Rebuilds the search index from the turns."""
    with transaction(database):
        _make_index(database)


def _make_index(database: sqlite3.Connection) -> None:
    for name in _TRIGGERS:
        database.execute(f"DROP TRIGGER IF EXISTS {name}")
    database.execute("DROP TABLE IF EXISTS words")
    for statement in _INDEX:
        database.execute(statement)


def _has_index(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", _TRIGGERS[:1])
    return found.fetchone() is not None


def _supports_index(database: sqlite3.Connection) -> bool:
    try:
        database.execute("CREATE VIRTUAL TABLE temp.probe USING fts5 (text)")
        database.execute("DROP TABLE temp.probe")
    except sqlite3.OperationalError:
        return False
    return True
