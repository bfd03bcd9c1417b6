"""Queries and updates of the conversation database. All functions must run on the thread that owns the connection."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import or_
from pathlib import Path
from typing import Literal

from app.history.base import ConversationView, KeptTalk, Setup
from app.history.open_talk import OpenTalk, conversation_row
from app.history.packing import fuller, pack_lines, unpack_lines
from app.history.schema import TURN_BITS, transaction
from app.history.search import Query
from app.history.serialization import kept_title, names_of, setup_line, setup_of
from app.session.control import UserError
from app.untrusted.limits import EARLIEST, LATEST, PACKED_TALK
from app.untrusted.text import harmless


def _text(column: str) -> str:
    """Returns an SQL expression for a column's value as text, since a damaged row may contain any type."""
    return f"ifnull(CAST({column} AS TEXT), '')"


def _int(column: str) -> str:
    return f"ifnull(CAST({column} AS INTEGER), 0)"


def _date(column: str) -> str:
    return f"min(max(ifnull(CAST({column} AS REAL), 0.0), {EARLIEST}), {LATEST})"


_LINES = f"SELECT {_text('line')} FROM events WHERE talk = ? ORDER BY serial"
_TURNS = (
    f"SELECT {_text('speaker')}, {_int('number')}, min(max(ifnull(CAST(at AS REAL), 0.0), 0.0), 1e6), {_text('text')} "
    "FROM turns WHERE talk = ? ORDER BY id"
)
_COUNT = "CASE typeof(turns) WHEN 'integer' THEN turns ELSE (SELECT COUNT(*) FROM turns WHERE talk = talks.id) END"
_TALK_COLUMNS = f"{_int('conversation')}, {_COUNT}, {_text('backends')}, {_text('opening')}, CAST(folder AS TEXT)"
_COLUMNS = (
    f"id, {_text('key')}, {_text('title')}, {_date('created')}, {_date('changed')}, {_text('setup')}, "
    f"{_int('pinned')}, {_text('folder')}"
)
_MOST_PACKED = PACKED_TALK.bytes // 4
"""The maximum length of a compressed talk in characters, at up to four bytes each. Longer talks stay uncompressed."""
_MOST_ARGUMENTS = 900
"""The maximum number of parameters per statement; every SQLite build supports at least 999."""


@dataclass(frozen=True, slots=True)
class TalkLines:
    """A stored talk, with its events as JSON lines."""

    began: float
    lines: tuple[str, ...]
    folder: Path | None


def _views(database: sqlite3.Connection, key: str | None = None) -> dict[int, ConversationView]:
    """Returns the views of all conversations that have turns, keyed by row ID, newest first.

    With `key`, returns only that conversation, even if it has no turns.
    """
    titles: dict[int, str] = {}
    turns: dict[int, int] = {}
    backends: dict[int, list[str]] = {}
    with_sound: set[int] = set()
    arguments = () if key is None else (key,)
    only = "" if key is None else "WHERE conversation = (SELECT id FROM conversations WHERE key = ?)"
    for row, count, names, opening, folder in database.execute(
        f"SELECT {_TALK_COLUMNS} FROM talks {only} ORDER BY began, id", arguments
    ):
        turns[row] = turns.get(row, 0) + count
        if opening:
            titles.setdefault(row, kept_title(opening))
        if names != "[]":
            backends.setdefault(row, []).extend(names_of(names))
        if folder is not None and row not in with_sound and os.path.isdir(folder):
            with_sound.add(row)
    views: dict[int, ConversationView] = {}
    only = "" if key is None else "AND key = ?"
    for row, name, title, created, changed, setup, pinned, folder in database.execute(
        f"SELECT {_COLUMNS} FROM conversations WHERE NOT removed {only} ORDER BY changed DESC, id DESC",
        arguments,
    ):
        if turns.get(row) or key is not None:
            title = kept_title(title)
            views[row] = ConversationView(
                name,
                title or titles.get(row, ""),
                bool(title),
                created,
                changed,
                turns.get(row, 0),
                tuple(dict.fromkeys(backends.get(row, ()))),
                "",
                row in with_sound,
                setup_of(setup),
                bool(pinned),
                kept_title(folder),
            )
    return views


def view(database: sqlite3.Connection, key: str) -> ConversationView:
    """Returns one conversation. Raises UserError if it doesn't exist."""
    for found in _views(database, key).values():
        return found
    raise _gone()


def search(database: sqlite3.Connection, typed: str, indexed: bool) -> tuple[ConversationView, ...]:
    """Returns the conversations that contain all search words in their turns or title, newest first.

    If `typed` contains no words, returns all conversations.
    """
    views = _views(database)
    query = Query(typed, indexed)
    if not query:
        return tuple(views.values())
    by_word = query.find(database)
    found = []
    for row, listed in views.items():
        in_turns = [row in conversations for conversations in by_word]
        if all(in_turns) or all(map(or_, in_turns, query.in_title(listed.title))):
            found.append(row)
    turns = query.newest(database, every=True)
    anywhere = set().union(*by_word)
    if any(row in anywhere and row not in turns for row in found):
        turns = query.newest(database, every=False) | turns
    texts = _texts(database, [turns[row] for row in found if row in turns])
    return tuple(
        replace(views[row], snippet=query.snippet(text)) if (text := texts.get(turns.get(row, -1))) else views[row]
        for row in found
    )


def _texts(database: sqlite3.Connection, turns: Sequence[int]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for start in range(0, len(turns), _MOST_ARGUMENTS):
        part = turns[start : start + _MOST_ARGUMENTS]
        marks = ",".join("?" * len(part))
        query = f"SELECT id, {_text('text')} FROM turns WHERE id IN ({marks})"
        texts.update((row, harmless(text)) for row, text in database.execute(query, part))
    return texts


def talks(database: sqlite3.Connection, key: str) -> tuple[TalkLines, ...]:
    """Returns the talks of a conversation. Raises UserError if it doesn't exist."""
    columns = f"id, {_date('began')}, CAST(folder AS TEXT), packed"
    query = f"SELECT {columns} FROM talks WHERE conversation = ? ORDER BY began, id"
    return tuple(
        TalkLines(
            began,
            _lines_of(database, talk, packed),
            Path(folder) if folder is not None and os.path.isdir(folder) else None,
        )
        for talk, began, folder, packed in database.execute(query, (row_of(database, key),)).fetchall()
    )


def _lines_of(database: sqlite3.Connection, talk: int, packed: bytes | None) -> tuple[str, ...]:
    """Returns a talk's event lines; if damaged, the surviving ones or its turns, whichever contain more text."""
    lines, whole = unpack_lines(packed)
    lines += [line for (line,) in database.execute(_LINES, (talk,))]
    return tuple(lines if whole else fuller(lines, database.execute(_TURNS, (talk,))))


def pack(database: sqlite3.Connection, talk: int | None = None) -> None:
    """Compresses the events of one finished talk, or of all talks if `talk` is None."""
    with transaction(database):
        only, arguments = ("", []) if talk is None else ("WHERE talk = ?", [talk])
        query = f"SELECT talk, SUM(length({_text('line')})) FROM events {only} GROUP BY talk"
        for row, length in database.execute(query, arguments).fetchall():
            if length >= _MOST_PACKED:
                continue
            for (before,) in database.execute("SELECT packed FROM talks WHERE id = ?", (row,)).fetchall():
                lines, whole = unpack_lines(before)
                lines += [line for (line,) in database.execute(_LINES, (row,))]
                if whole and sum(map(len, lines)) < _MOST_PACKED:
                    database.execute("UPDATE talks SET packed = ? WHERE id = ?", (pack_lines(lines), row))
                    database.execute("DELETE FROM events WHERE talk = ?", (row,))


def mend(database: sqlite3.Connection) -> None:
    """Repairs rows orphaned by damage: conversations without a valid key, and talks without a conversation."""
    for row, key in database.execute("SELECT id, key FROM conversations").fetchall():
        if not isinstance(key, str) or not key or "\ufffd" in key:
            database.execute("UPDATE conversations SET key = ? WHERE id = ?", (uuid.uuid4().hex, row))
    lost = f"SELECT id, {_date('began')} FROM talks WHERE conversation NOT IN (SELECT id FROM conversations)"
    for talk, began in database.execute(lost).fetchall():
        row = conversation_row(database, uuid.uuid4().hex, Setup(foreign=True), began)
        database.execute("UPDATE talks SET conversation = ? WHERE id = ?", (row, talk))


def row_of(database: sqlite3.Connection, key: str) -> int:
    """Returns the row ID of a conversation. Raises UserError if it doesn't exist."""
    found = database.execute("SELECT id FROM conversations WHERE key = ? AND NOT removed", (key,)).fetchone()
    if found is None:
        raise _gone()
    return int(found[0])


def update(
    database: sqlite3.Connection, key: str, column: Literal["title", "pinned", "folder"], value: str | int
) -> None:
    """Sets a conversation's own title, pin or folder; an empty title or folder removes it. Raises UserError."""
    with transaction(database):
        row = row_of(database, key)
        database.execute(f"UPDATE conversations SET {column} = ? WHERE id = ?", (value, row))


def rename_folder(database: sqlite3.Connection, folder: str, name: str) -> None:
    """Renames a folder. Removed conversations are updated too, since they may be restored."""
    with transaction(database):
        database.execute("UPDATE conversations SET folder = ? WHERE folder = ?", (name, folder))


def store_setup(database: sqlite3.Connection, key: str, setup: Setup, now: float) -> None:
    """Stores a conversation's setup, creating or restoring the conversation if necessary."""
    with transaction(database):
        row = conversation_row(database, key, setup, now)
        query = f"SELECT {_text('setup')} FROM conversations WHERE id = ?"
        (before,) = database.execute(query, (row,)).fetchone()
        if not set(setup_of(before).documents) <= set(setup.documents):
            # The text of dropped documents may remain in free pages.
            database.execute("INSERT OR IGNORE INTO unwanted VALUES ('')")
        database.execute("UPDATE conversations SET setup = ?, removed = 0 WHERE id = ?", (setup_line(setup), row))


def duplicate(database: sqlite3.Connection, key: str, new_key: str, setup: Setup, now: float) -> ConversationView:
    """Copies a conversation's talks, without their recordings, into a new conversation. Raises UserError."""
    with transaction(database):
        old = row_of(database, key)
        new = conversation_row(database, new_key, setup, now)
        database.execute(
            "UPDATE conversations SET (title, folder) = (SELECT title, folder FROM conversations WHERE id = ?) "
            "WHERE id = ?",
            (old, new),
        )
        shift = (new - old) << TURN_BITS
        for (talk,) in database.execute("SELECT id FROM talks WHERE conversation = ? ORDER BY id", (old,)).fetchall():
            copy = database.execute(
                "INSERT INTO talks (conversation, began, packed, turns, backends, opening) "
                "SELECT ?, began, packed, turns, backends, opening FROM talks WHERE id = ?",
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
    return view(database, new_key)


def insert(
    database: sqlite3.Connection, key: str, title: str, setup: Setup, created: float, talks: Sequence[KeptTalk]
) -> ConversationView:
    """Creates a conversation from complete talks."""
    changed, rows = created, []
    with transaction(database):
        row = conversation_row(database, key, setup, created)
        for kept in talks:
            talk = OpenTalk(key, setup, kept.folder, kept.began, limit=None)
            for event in kept.events:
                talk.add(event)
            changed = max(changed, kept.began + (kept.events[-1].at if kept.events else 0.0))
            talk.write(database, changed)
            rows.append(talk.row)
        database.execute("UPDATE conversations SET title = ?, changed = ? WHERE id = ?", (title, changed, row))
    for talk_row in rows:
        pack(database, talk_row)
    return view(database, key)


def mark_removed(database: sqlite3.Connection, keys: Sequence[str], removed: bool) -> None:
    """Marks conversations as removed, which hides them from the list, or restores them."""
    with transaction(database):
        database.executemany(
            "UPDATE conversations SET removed = ? WHERE key = ?", [(int(removed), key) for key in keys]
        )


def refers_to(database: sqlite3.Connection, folder: Path) -> bool:
    """Returns whether any talk has its recording in this folder."""
    return database.execute("SELECT 1 FROM talks WHERE folder = ?", (str(folder),)).fetchone() is not None


def _gone() -> UserError:
    return UserError("This conversation is not there any more. Choose another one.")
