"""Row recovery from a damaged SQLite file, even if its header, schema or interior pages are damaged.

The file is copied and the write-ahead log applied to the copy. Then the copy's first page is replaced: the new schema
declares one table per page that contains rows, with that page as the table's root, so that SQLite itself can read each
page. The column types of a row identify the table it came from.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from app.platform.files import delete_file
from app.untrusted.files import open_regular
from app.untrusted.limits import Refused

PAGE = 4096
_LOG_HEADER, _FRAME_HEADER = 32, 24
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_COLUMNS = ", ".join(f"c{number}" for number in range(9))
"""Enough columns for the widest table. Columns missing from a row read as NULL."""
_LETTERS = {type(None): "n", int: "i", float: "r", str: "t", bytes: "b"}
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)


class Pages:
    """Context manager for reading the pages of the file `path` through a temporary copy at `place`.

    Raises OSError and sqlite3.Error.
    """

    def __init__(self, path: Path, place: Path) -> None:
        self._path, self._place = path, place
        self._tables: list[tuple[int, bool]] = []
        """The number of each page that contains rows, and whether its rows have a composite key instead of a row ID."""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as copied:
            copied.callback(self._remove)
            self._remove()
            self._copy()
            self._make_tables()
            self._database = copied.enter_context(_opened(self._place))
            self._copied = copied.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._copied.close()

    def rows(self, tables: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
        """Yields each readable row as table name, row ID (0 for rows without one) and values; may yield a row twice.

        `tables`: for each table name, a pattern that matches the column types of its rows, written as one letter of
        "nirtb" per column (NULL, integer, real, text, blob): nine columns, or three for rows without a row ID.
        """
        for number, keyed in self._tables:
            for rowid, *values in self._rows_of(f"page{number}", keyed):
                letters = "".join(_LETTERS[type(value)] for value in values)
                found = next((table for table, shape in tables.items() if shape.fullmatch(letters)), None)
                if found is not None:
                    yield found, rowid, tuple(values)

    def _rows_of(self, name: str, keyed: bool) -> Iterator[tuple[Any, ...]]:
        columns, order = ("0, a, b, c", "a") if keyed else (f"rowid, {_COLUMNS}", "rowid")
        for direction in ("ASC", "DESC"):
            with contextlib.suppress(*_UNREADABLE):
                yield from self._database.execute(f"SELECT {columns} FROM {name} ORDER BY {order} {direction}")
                return
        ids: list[tuple[int]] = []  # both directions stopped at a damaged row; there may be readable rows in between
        with contextlib.suppress(*_UNREADABLE):
            ids.extend(self._database.execute(f"SELECT rowid FROM {name}") if not keyed else ())
        for one in ids:
            with contextlib.suppress(*_UNREADABLE):
                yield from self._database.execute(f"SELECT {columns} FROM {name} WHERE rowid = ?", one)

    def _copy(self) -> None:
        """Copies the file and applies the part of the write-ahead log whose checksums are valid."""
        log = self._place.with_name(self._place.name + "-wal")
        first = self._first_page()
        _copy(self._path, self._place)
        frames = (_copy(self._path.with_name(self._path.name + "-wal"), log) - _LOG_HEADER) // (_FRAME_HEADER + PAGE)
        if frames > 0:
            self._put(first[:18] + b"\2\2" + first[20:])  # marks the file as using WAL
            cut = False
            with contextlib.suppress(*_UNREADABLE), _opened(self._place) as database:
                _, _, read = database.execute("PRAGMA wal_checkpoint").fetchone()
                cut = 0 <= read < frames and _goes_on(log, read)
            if cut:  # the log is damaged, so the file may be longer than the log indicates
                _copy(self._path, self._place, self._place.stat().st_size)
        self._put(first)

    def _first_page(self) -> bytes:
        """Returns the first page of an empty file, with the database size field cleared."""
        os.close(os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with _opened(self._place) as empty:
            empty.execute(f"PRAGMA page_size = {PAGE}")
            empty.execute("PRAGMA user_version = 1")
        page = self._place.read_bytes()[:PAGE]
        return page[:28] + bytes(4) + page[32:]

    def _put(self, first: bytes) -> None:
        with self._place.open("r+b") as file:
            file.write(first)

    def _make_tables(self) -> None:
        with self._place.open("rb") as file:
            for number in range(2, self._place.stat().st_size // PAGE + 1):
                file.seek((number - 1) * PAGE)
                kind = file.read(1)[0]
                if kind in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
                    self._tables.append((number, kind != _TABLE_LEAF))
        columns = {False: f"({_COLUMNS})", True: "(a, b, c, PRIMARY KEY (a, b)) WITHOUT ROWID"}
        schema = [
            ("table", name, name, number, f"CREATE TABLE {name} {columns[keyed]}")
            for number, keyed in self._tables
            for name in [f"page{number}"]
        ]
        with _opened(self._place) as database:
            database.execute("PRAGMA writable_schema = ON")
            database.execute("BEGIN")
            database.executemany("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", schema)
            database.execute("COMMIT")

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            delete_file(self._place.with_name(self._place.name + ending), missing_ok=True)


@contextlib.contextmanager
def _opened(place: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as database:
        database.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
        database.execute("PRAGMA synchronous = OFF")
        yield database


def _copy(source: Path, target: Path, begin: int = 0) -> int:
    """Copies a file from byte `begin` on, with unreadable pages as zeros; returns its length, or 0 if it is missing."""
    with contextlib.suppress(FileNotFoundError, Refused), open_regular(source) as file:
        length = file.seek(0, os.SEEK_END)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as copy:
            copy.seek(begin)
            for at in range(begin, length, PAGE):
                page = b""
                with contextlib.suppress(OSError):  # an unreadable page must not affect the others
                    file.seek(at)
                    page = file.read(PAGE)
                copy.write(page.ljust(PAGE, b"\0"))
        return length
    return 0


def _goes_on(log: Path, frames: int) -> bool:
    """Returns whether the write-ahead log contains more than `frames` frames written since its last reset."""
    with log.open("rb") as file:
        head = file.read(_LOG_HEADER)
        file.seek(_LOG_HEADER + frames * (_FRAME_HEADER + PAGE))
        return file.read(_FRAME_HEADER)[8:16] == head[16:24]
