"""The tables, and the steps that bring a database of an older version of the app up to date.

`PRAGMA user_version` counts the steps that a database has been through. A step is never changed once it has been
released: what is new is a step more. The search index is no step, since not every SQLite can hold one; it can be made
anew from `turns` at any time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TURN_BITS = 20
"""A turn's id is its conversation's, shifted by so many bits, and a number: so the index alone tells where words were
found."""

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
)
"""What happened in a talk is in `packed`, and after that in `events`, as lines of JSON: all else that is said of it is
folded from those. `unwanted`: folders with sound that is to be erased; an empty name stands for what the file itself
may still hold of erased words."""

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
    """All that is written inside is written, or nothing of it. The connection commits by itself otherwise."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def version(database: sqlite3.Connection) -> int:
    """How many steps it has been through."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(database: sqlite3.Connection) -> bool:
    """Whether the database is of something else."""
    # In one statement, since another process may be about to make the tables.
    asked = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_master)"
    steps, tables = database.execute(asked).fetchone()
    return not steps and bool(tables)


def migrate(database: sqlite3.Connection, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Takes the steps that are missing, each whole or not at all. Raises sqlite3.Error."""
    while (number := version(database)) < len(steps):
        with transaction(database):
            if version(database) != number:  # another process has been quicker
                continue
            for statement in steps[number]:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number + 1}")


def prepare_index(database: sqlite3.Connection) -> bool:
    """Makes the search index if it is missing; False where this SQLite knows none: then `turns` is searched itself."""
    if not _knows_indexes(database):
        for name in _TRIGGERS:  # they would fail; the index is made anew where it can be used
            database.execute(f"DROP TRIGGER IF EXISTS {name}")
        return False
    if not _has_index(database):
        with transaction(database):
            if not _has_index(database):
                _make_index(database)
    return True


def remake_index(database: sqlite3.Connection) -> None:
    """Makes the search index from the turns, whatever is there of it."""
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


def _knows_indexes(database: sqlite3.Connection) -> bool:
    try:
        database.execute("CREATE VIRTUAL TABLE temp.probe USING fts5 (text)")
        database.execute("DROP TABLE temp.probe")
    except sqlite3.OperationalError:
        return False
    return True
