"""Recovery of conversations from a damaged file into a new one.

Rows are read directly from the damaged file's pages. The events of each talk are copied unchanged, and everything
derived from them is regenerated. If some events are unreadable and the talk's turns contain more text, events are
reconstructed from the turns instead.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from app.history import schema
from app.history.base import Setup
from app.history.damage import is_fatal
from app.history.open_talk import OpenTalk
from app.history.packing import fuller, pack_lines, unpack_lines
from app.history.serialization import kept_title, known_events, setup_line, setup_of
from app.platform.files import delete_file
from app.untrusted.files import open_regular
from app.untrusted.limits import EARLIEST, LATEST, Refused
from app.untrusted.records import LARGEST

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


_SHAPES = {
    "conversations": re.compile("ntt[ir][ir]tiit"),
    "turns": re.compile("niti[ir]tnnn"),
    "events": re.compile("iit"),
    "unwanted": re.compile("tnnnnnnnn"),
}
_TALKS = {"talks": re.compile("ni[ir][tn][bn]ittn")}


@dataclass(frozen=True, slots=True)
class Rescued:
    """The number of conversations recovered, and the row IDs that their talks had in the damaged file."""

    conversations: int = 0
    kept: frozenset[int] = frozenset()


def rescue(damaged: Path, database: sqlite3.Connection, place: Path) -> Rescued:
    """Copies the readable content of `damaged` into a new database. `place`: the path of a temporary copy of the file.

    Raises OSError and sqlite3.Error.
    """
    with Pages(damaged, place) as pages, schema.transaction(database):
        rows = _Rows()
        for table, rowid, values in pages.rows(_SHAPES):
            rows.add(table, rowid, values)
        copy = _Copy(database, rows)
        damaged_talks = []
        for _, rowid, values in pages.rows(_TALKS):
            lines, whole = unpack_lines(values[4])
            if whole:
                later = rows.lines_of(rowid)
                copy.keep(rowid, values, lines + later, None if later else values[4])
            else:
                damaged_talks.append((rowid, values, lines))
        for rowid, values, lines in damaged_talks:
            copy.keep(rowid, values, fuller([*lines, *rows.lines_of(rowid)], rows.turns_of(rowid)))
        without_row = (rows.turns.keys() | rows.events.keys()) - copy.kept
        for rowid in sorted(without_row):
            copy.keep(rowid, None, fuller(rows.lines_of(rowid), rows.turns_of(rowid)))
        copy.finish()
    return Rescued(len(copy.used), frozenset(copy.kept))


@dataclass
class _Rows:
    """All recovered rows except those of `talks`. Turns are keyed by talk and row ID, events by talk and serial."""

    conversations: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    turns: dict[int, dict[int, tuple[Any, ...]]] = field(default_factory=dict)
    events: dict[int, dict[int, str]] = field(default_factory=dict)
    unwanted: set[str] = field(default_factory=set)

    def add(self, table: str, rowid: int, values: tuple[Any, ...]) -> None:
        match table:
            case "conversations":
                self.conversations.setdefault(rowid, values)
            case "turns":
                self.turns.setdefault(values[1], {}).setdefault(rowid, values)
            case "events":
                talk, serial, line = values
                self.events.setdefault(talk, {}).setdefault(serial, line)
            case "unwanted":
                self.unwanted.add(values[0])

    def turns_of(self, talk: int) -> list[tuple[Any, ...]]:
        """Returns the speaker, number, time and text of each turn of a talk."""
        found = sorted(self.turns.get(talk, {}).items())
        return [
            (speaker, number, min(max(0.0, _finite(at)), 1e6), text)
            for _, (_, _, speaker, number, at, text, *_) in found
            if abs(int(number or 0)) <= LARGEST
        ]

    def lines_of(self, talk: int) -> list[str]:
        """Returns the uncompressed events of a talk, in order."""
        events = self.events.get(talk, {})
        return [events[serial] for serial in sorted(events)]

    def conversation_of(self, talk: int) -> int:
        """Returns the conversation ID encoded in a talk's turn IDs, or 0 if the talk has no turns."""
        return next((row >> schema.TURN_BITS for row in self.turns.get(talk, {})), 0)


class _Copy:
    """Writes recovered rows to the new database."""

    def __init__(self, database: sqlite3.Connection, rows: _Rows) -> None:
        self._database, self._rows = database, rows
        self._keys: dict[int, str] = {}
        self._changed: dict[int, float] = {}
        self.kept: set[int] = set()
        self.used: set[int] = set()
        for row, values in sorted(rows.conversations.items()):
            with self._attempt():
                self._add_conversation(row, values)

    def keep(self, rowid: int, values: tuple[Any, ...] | None, lines: list[str], packed: Any = None) -> None:
        """Copies a talk, unless it was copied before.

        `values`: its row, if readable; `packed`: the compressed `lines`, if they can be copied unchanged.
        """
        if rowid in self.kept:
            return
        with self._attempt():
            self._add_talk(rowid, values, lines, packed)

    def finish(self) -> None:
        """Writes the rows that depend on all talks having been copied. Must be called last."""
        self._database.executemany(
            "UPDATE conversations SET changed = ? WHERE id = ?", [(at, row) for row, at in self._changed.items()]
        )
        self._database.executemany(
            "INSERT OR IGNORE INTO unwanted VALUES (?)", [(folder,) for folder in self._rows.unwanted]
        )
        self._database.execute("DELETE FROM unwanted WHERE folder IN (SELECT folder FROM talks)")

    @contextlib.contextmanager
    def _attempt(self) -> Any:
        """Runs the block in a savepoint, which is rolled back on failure; suppresses all but disk errors."""
        self._database.execute("SAVEPOINT attempt")
        try:
            yield
        except Exception as error:
            if is_fatal(error):
                raise
            self._database.execute("ROLLBACK TO attempt")
        self._database.execute("RELEASE attempt")

    def _add_conversation(self, row: int, values: tuple[Any, ...]) -> None:
        _, key, title, created, changed, setup, removed, pinned, folder = values
        if not 0 < row < LARGEST >> schema.TURN_BITS:
            return
        if not key or "\ufffd" in key or key in self._keys.values():
            key = uuid.uuid4().hex
        setup = setup_line(setup_of(setup).as_foreign())  # others may have written to a damaged file
        fields = (row, key, kept_title(title), _date(created), _date(changed), setup)
        self._database.execute(
            "INSERT INTO conversations (id, key, title, created, changed, setup, removed, pinned, folder) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*fields, int(removed == 1), int(pinned == 1), kept_title(folder)),
        )
        self._keys[row], self._changed[row] = key, _date(changed)

    def _add_talk(self, rowid: int, values: tuple[Any, ...] | None, lines: list[str], packed: Any) -> None:
        conversation, began, folder = self._rows.conversation_of(rowid), 0.0, None
        if values is not None:
            _, conversation, began, folder, *_ = values
        if not lines:
            return
        began = _date(began) or self._changed.get(conversation, 0.0)
        key = self._keys.get(conversation) or uuid.uuid4().hex
        talk = OpenTalk(key, Setup(foreign=True), Path(folder) if isinstance(folder, str) else None, began, limit=None)
        for event in known_events(lines):
            talk.follow(event)
        talk.write(self._database, self._changed.get(conversation, began))
        packed = pack_lines(lines) if packed is None else packed
        self._database.execute("UPDATE talks SET packed = ? WHERE id = ?", (packed, talk.row))
        if conversation:
            self._keys.setdefault(conversation, key)
        self.kept.add(rowid)
        self.used.add(talk.conversation)


def _finite(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _date(value: Any) -> float:
    return min(max(_finite(value), EARLIEST), LATEST)
