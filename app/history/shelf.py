"""What can be asked of the database of conversations, and done to it: plain calls on an open connection.

Used on one thread, which owns the connection. Knows nothing of talks that still go on.
"""

from __future__ import annotations

import functools
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import or_
from pathlib import Path
from typing import Any

from app.conversation.events import Event
from app.history.base import ConversationView, Setup
from app.history.schema import TURN_BITS, transaction
from app.history.search import Query
from app.history.serialization import setup_line, setup_of
from app.history.writing import OpenTalk, conversation_row
from app.session.errors import UserError

_LINES = "SELECT line FROM events WHERE talk = ? ORDER BY serial"


@dataclass(frozen=True, slots=True)
class TalkLines:
    """A talk as it is kept: its events as lines of JSON."""

    began: float
    lines: tuple[str, ...]
    folder: Path | None


def _entries(database: sqlite3.Connection, key: str | None = None) -> dict[int, tuple[Any, ...]]:
    """The fields of a `ConversationView`, by row, the newest first, of all with words in them; with `key` of that
    one, even without words.
    """
    titles: dict[int, str] = {}
    turns: dict[int, int] = {}
    backends: dict[int, list[str]] = {}
    sounding: set[int] = set()
    arguments = () if key is None else (key,)
    only = "" if key is None else "WHERE conversation = (SELECT id FROM conversations WHERE key = ?)"
    for row, count, names, opening, folder in database.execute(
        f"SELECT conversation, turns, brains, opening, folder FROM talks {only} ORDER BY began, id", arguments
    ):
        turns[row] = turns.get(row, 0) + count
        if opening:
            titles.setdefault(row, opening)
        if names != "[]":
            backends.setdefault(row, []).extend(_names(names))
        if folder is not None and row not in sounding and os.path.isdir(folder):
            sounding.add(row)
    found: dict[int, tuple[Any, ...]] = {}
    only = "" if key is None else "AND key = ?"
    for row, name, title, created, changed, setup in database.execute(
        f"SELECT id, key, title, created, changed, setup FROM conversations WHERE NOT removed {only} "
        "ORDER BY changed DESC, id DESC",
        arguments,
    ):
        if turns.get(row) or key is not None:
            found[row] = (
                name,
                title or titles.get(row, ""),
                bool(title),
                created,
                changed,
                turns.get(row, 0),
                tuple(dict.fromkeys(backends.get(row, ()))),
                "",
                row in sounding,
                setup_of(setup),
            )
    return found


@functools.lru_cache(maxsize=1024)
def _names(line: str) -> tuple[str, ...]:
    return tuple(json.loads(line))


def view(database: sqlite3.Connection, key: str) -> ConversationView:
    """One conversation. Raises UserError where there is none."""
    for fields in _entries(database, key).values():
        return ConversationView(*fields)
    raise _gone()


def search(database: sqlite3.Connection, typed: str, indexed: bool) -> tuple[ConversationView, ...]:
    """The conversations in whose turns or titles all words are found, the newest first; all of them for none."""
    entries = _entries(database)
    query = Query(typed, indexed)
    if not query:
        return tuple(ConversationView(*fields) for fields in entries.values())
    found = query.find(database)
    anywhere = set().union(*found)
    shown = []
    for row, fields in entries.items():
        told = [row in conversations for conversations in found]
        if all(told) or all(map(or_, told, query.in_title(fields[1]))):
            shown.append(row)
    turns = query.newest(database, every=True)
    if any(row in anywhere and row not in turns for row in shown):
        turns = query.newest(database, every=False) | turns
    texts: dict[int, str] = {}
    wanted = [turns[row] for row in shown if row in turns]
    for begin in range(0, len(wanted), 900):  # SQLite's least limit of arguments is 999
        part = wanted[begin : begin + 900]
        marks = ",".join("?" * len(part))
        texts.update(database.execute(f"SELECT id, text FROM turns WHERE id IN ({marks})", part).fetchall())
    views = []
    for row in shown:
        fields, text = entries[row], texts.get(turns.get(row, -1), "")
        views.append(ConversationView(*fields[:7], query.snippet(text) if text else "", *fields[8:]))
    return tuple(views)


def talks(database: sqlite3.Connection, key: str) -> tuple[TalkLines, ...]:
    """What happened in a conversation. Raises UserError where it is not there any more."""
    asked = "SELECT id, began, folder, packed FROM talks WHERE conversation = ? ORDER BY began, id"
    return tuple(
        TalkLines(
            began,
            (*_unpacked(packed), *(line for (line,) in database.execute(_LINES, (talk,)))),
            Path(folder) if folder is not None and os.path.isdir(folder) else None,
        )
        for talk, began, folder, packed in database.execute(asked, (find(database, key),)).fetchall()
    )


def pack(database: sqlite3.Connection, talk: int | None = None) -> None:
    """Packs what happened in a talk that is over, or in all talks, into a fifth of its size."""
    with transaction(database):
        asked, which = "SELECT DISTINCT talk FROM events", ()
        if talk is not None:
            asked, which = f"{asked} WHERE talk = ?", (talk,)
        for (row,) in database.execute(asked, which).fetchall():
            (before,) = database.execute("SELECT packed FROM talks WHERE id = ?", (row,)).fetchone()
            lines = [*_unpacked(before), *(line for (line,) in database.execute(_LINES, (row,)))]
            packed = zlib.compress("\n".join(lines).encode())
            database.execute("UPDATE talks SET packed = ? WHERE id = ?", (packed, row))
            database.execute("DELETE FROM events WHERE talk = ?", (row,))


def _unpacked(packed: bytes | None) -> list[str]:
    try:
        return [] if packed is None else zlib.decompress(packed).decode().split("\n")
    except (zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"What was said in this conversation can't be read: it is damaged ({error}).") from error


def find(database: sqlite3.Connection, key: str) -> int:
    """A conversation's row. Raises UserError where it is not there any more."""
    found = database.execute("SELECT id FROM conversations WHERE key = ? AND NOT removed", (key,)).fetchone()
    if found is None:
        raise _gone()
    return int(found[0])


def rename(database: sqlite3.Connection, key: str, title: str) -> None:
    """Gives a conversation a title of the user's own; empty: none. Raises UserError."""
    with transaction(database):
        database.execute("UPDATE conversations SET title = ? WHERE id = ?", (title, find(database, key)))


def hold_so(database: sqlite3.Connection, key: str, setup: Setup, now: float) -> None:
    """A conversation, which is made if there is none, is held so from now on."""
    with transaction(database):
        row = conversation_row(database, key, setup, now)
        database.execute("UPDATE conversations SET setup = ?, removed = 0 WHERE id = ?", (setup_line(setup), row))


def duplicate(database: sqlite3.Connection, key: str, fresh: str, setup: Setup, now: float) -> ConversationView:
    """Makes a second conversation `fresh` of the same talks, without their sound. Raises UserError."""
    with transaction(database):
        old = find(database, key)
        new = conversation_row(database, fresh, setup, now)
        database.execute(
            "UPDATE conversations SET title = (SELECT title FROM conversations WHERE id = ?) WHERE id = ?", (old, new)
        )
        shift = (new - old) << TURN_BITS
        for (talk,) in database.execute("SELECT id FROM talks WHERE conversation = ? ORDER BY id", (old,)).fetchall():
            copy = database.execute(
                "INSERT INTO talks (conversation, began, packed, turns, brains, opening) "
                "SELECT ?, began, packed, turns, brains, opening FROM talks WHERE id = ?",
                (new, talk),
            ).lastrowid
            database.execute(
                "INSERT INTO events (talk, serial, line) SELECT ?, serial, line FROM events WHERE talk = ?",
                (copy, talk),
            )
            database.execute(
                "INSERT INTO turns (id, talk, speaker, number, at, text) "
                "SELECT id + ?, ?, speaker, number, at, text FROM turns WHERE talk = ?",
                (shift, copy, talk),
            )
    return view(database, fresh)


def take_in(
    database: sqlite3.Connection,
    key: str,
    title: str,
    setup: Setup,
    created: float,
    told: Iterable[tuple[float, Sequence[Event], Path | None]],
) -> ConversationView:
    """Makes a conversation of whole talks: when each began, what happened, and where its sound is."""
    changed, rows = created, []
    with transaction(database):
        row = conversation_row(database, key, setup, created)
        for began, events, folder in told:
            talk = OpenTalk(key, setup, folder, began, limit=None)
            for event in events:
                talk.take(event)
            changed = max(changed, began + (events[-1].at if events else 0.0))
            talk.write(database, changed)
            rows.append(talk.row)
        database.execute("UPDATE conversations SET title = ?, changed = ? WHERE id = ?", (title, changed, row))
    for talk_row in rows:
        pack(database, talk_row)
    return view(database, key)


def mark_removed(database: sqlite3.Connection, keys: Sequence[str], removed: bool) -> None:
    """Takes conversations out of the list, or puts them back."""
    with transaction(database):
        database.executemany(
            "UPDATE conversations SET removed = ? WHERE key = ?", [(int(removed), key) for key in keys]
        )


def refers_to(database: sqlite3.Connection, folder: Path) -> bool:
    """Whether a talk's sound is in this folder."""
    return database.execute("SELECT 1 FROM talks WHERE folder = ?", (str(folder),)).fetchone() is not None


def _gone() -> UserError:
    return UserError("This conversation is not there any more. Choose another one.")
