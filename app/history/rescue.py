"""Recovery of conversations from a damaged file into a new one.

Rows are read directly from the damaged file's pages. The events of each talk are copied unchanged, and everything
derived from them is regenerated. If some events are unreadable and the talk's turns contain more text, events are
reconstructed from the turns instead.
"""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.history import schema
from app.history.base import Setup
from app.history.damage import is_fatal
from app.history.open_talk import OpenTalk
from app.history.packing import fuller, pack_lines, unpack_lines
from app.history.pages import Pages
from app.history.serialization import kept_title, known_events, setup_line, setup_of
from app.untrusted.limits import EARLIEST, LATEST
from app.untrusted.records import LARGEST

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
        setup = setup if setup_of(setup) != Setup() else setup_line(Setup())
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
        talk = OpenTalk(key, Setup(), Path(folder) if isinstance(folder, str) else None, began, limit=None)
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
