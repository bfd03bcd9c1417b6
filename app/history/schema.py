"""The tables of the conversation database, and the migrations from older versions of the app.

`PRAGMA user_version` counts the migrations that a database has been through. A released migration is never changed; a
change is another migration, which is why a column for back-ends is called `brains`. The search index is not part of
them, since not every SQLite supports one; it can be rebuilt from `turns` at any time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TURN_BITS = 20
"""A turn's id is its conversation's id, shifted by so many bits, plus a number, so that the index alone tells in which
conversation words were found."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE conversations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL DEFAULT '',
            created REAL NOT NULL,
            changed REAL NOT NULL,
            setup TEXT NOT NULL,
            removed INTEGER NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE talks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation INTEGER NOT NULL REFERENCES conversations (id),
            began REAL NOT NULL,
            folder TEXT,
            packed BLOB,
            turns INTEGER NOT NULL DEFAULT 0,
            brains TEXT NOT NULL DEFAULT '[]',
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
    ),
    ("ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",),
    ("ALTER TABLE conversations ADD COLUMN folder TEXT NOT NULL DEFAULT ''",),
)
"""The events of a talk are in `packed`, and later ones in `events`, as lines of JSON; the other columns are derived
from them. `unwanted`: folders with sound that is to be erased; an empty name means that the file itself may still
contain erased words."""

NEWEST = len(MIGRATIONS)

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
    """A transaction; outside of it the connection commits every statement."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def version(database: sqlite3.Connection) -> int:
    """Returns how many migrations the database has been through."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(database: sqlite3.Connection) -> bool:
    """Returns whether another program has made the database."""
    # One statement, since another process may be making the tables just now.
    query = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_master)"
    steps, tables = database.execute(query).fetchone()
    return not steps and bool(tables)


def migrate(database: sqlite3.Connection, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Runs all missing migrations in one transaction, so that nobody sees a version between. Raises sqlite3.Error."""
    if version(database) >= len(steps):
        return
    with transaction(database):
        for number in range(version(database), len(steps)):  # read again: another process may have been quicker
            for statement in steps[number]:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number + 1}")


def prepare_index(database: sqlite3.Connection) -> bool:
    """Makes the search index if it is missing; returns False if this SQLite does not support it."""
    if not _supports_index(database):
        for name in _TRIGGERS:  # they would fail; the index is rebuilt when it can be used again
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
