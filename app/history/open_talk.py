"""A talk that is still being written to the database: its events and the turns derived from them.

Everything here runs on the writer's thread, except `TalkLog`, whose methods are thread-safe.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.conversation import events as e
from app.conversation.event_json import harmless_event, to_json
from app.conversation.record.transcript import Transcript, Turn
from app.history.base import Setup
from app.history.packing import lines_of_turns
from app.history.schema import TURN_BITS
from app.history.serialization import known_events, setup_line
from app.untrusted.limits import EVENT_LINE
from app.untrusted.text import harmless

MOST_PENDING = 100_000
"""The maximum number of events buffered in memory while the disk is full; later ones are dropped."""
_UNSTORABLE = (sqlite3.DataError, OverflowError, UnicodeEncodeError)
"""Raised by `sqlite3` for text that is too long for this SQLite build or can't be encoded as UTF-8, and for integers
that are too large."""
TITLE_WORDS = 7
TITLE_CHARS = 60


@dataclass
class OpenTalk:
    """A talk in progress. Call `write` inside a transaction, then `commit`, or `rollback` if the transaction failed."""

    key: str
    setup: Setup
    folder: Path | None
    began: float
    limit: int | None = MOST_PENDING
    over: bool = False
    erased: bool = False
    """Whether the talk was erased while in progress, in which case none of its later events are stored."""
    lost: int = 0
    """The number of events that were too large to store."""
    row: int | None = None
    conversation: int = 0
    _transcript: Transcript = field(default_factory=Transcript)
    _lines: list[str] = field(default_factory=list)
    _serial: int = 0
    _changed: dict[int, Turn] = field(default_factory=dict)
    _rows: dict[int, int] = field(default_factory=dict)
    """Row IDs of turns that have text, keyed by the turn's id() because two turns may have the same number."""
    _backends: list[str] = field(default_factory=list)
    _before: tuple[int | None, int, dict[int, int], int] | None = None

    @property
    def pending(self) -> int:
        """The number of events not yet written."""
        return len(self._lines)

    def add(self, event: e.Event) -> None:
        """Queues an event for the next `write`; drops it if the talk is over, erased or at its limit."""
        if self.over or self.erased or (self.limit is not None and len(self._lines) >= self.limit):
            return
        event = harmless_event(event)
        line = to_json(event)
        if len(line) > EVENT_LINE.bytes:
            self.lost += 1
            return
        self._lines.append(line)
        self.follow(event)

    def follow(self, event: e.Event) -> None:
        """Updates the turns from an event whose line is already stored."""
        turn = self._transcript.apply(event)
        if turn is not None:
            self._changed[id(turn)] = turn

    def write(self, database: sqlite3.Connection, now: float, count: int | None = None) -> None:
        """Writes the first `count` pending events (all if None) and any changed turns. Raises sqlite3.Error."""
        self._before = (self.row, self.conversation, dict(self._rows), self.lost)
        if self.row is None:
            self._insert(database, now)
        for serial, line in enumerate(self._lines[:count], self._serial):
            self._write_line(database, serial, line)
        for identity, turn in self._changed.items():
            with contextlib.suppress(*_UNSTORABLE):  # search won't find this turn, but its events are stored
                self._write_turn(database, identity, turn)
            self._backends += [backend for backend in turn.backends if backend not in self._backends]
        database.execute(
            "UPDATE talks SET turns = ?, backends = ?, opening = ? WHERE id = ?",
            (len(self._rows), json.dumps(self._backends), self._opening(), self.row),
        )
        if any(turn.text for turn in self._changed.values()):  # merely opened, it keeps its place in the list
            database.execute("UPDATE conversations SET changed = ? WHERE id = ?", (now, self.conversation))

    def commit(self, count: int | None = None) -> None:
        """Removes the events written by `write` from the list of pending ones."""
        self._serial += len(self._lines[:count])
        del self._lines[:count]
        self._changed.clear()
        self._before = None

    def rollback(self) -> None:
        """Restores the state before the last `write`, whose transaction failed; its events stay pending."""
        if self._before is not None:
            self.row, self.conversation, self._rows, self.lost = self._before
            self._before = None

    def restart(self) -> None:
        """Makes the next `write` insert a new talk, for when the old rows no longer exist."""
        self.row, self._before = None, None
        self._rows.clear()
        self._changed = {id(turn): turn for turn in self._transcript.turns}

    def restart_after_rescue(self, rescued: bool) -> None:
        """Makes the next `write` insert a new talk into the database that replaced a damaged one.

        If `rescued`, the earlier events were recovered as a separate talk, and only pending ones are written. Otherwise
        the text of all turns is written again.
        """
        if self.row is not None and not rescued:
            self._lines = lines_of_turns((t.speaker, t.number, t.started_at, t.text) for t in self._transcript.turns)
        self._transcript = Transcript()
        for event in known_events(self._lines):
            self._transcript.apply(event)
        self.restart()

    def erase(self) -> None:
        """Discards all pending events and makes `add` ignore further ones."""
        self.erased = True
        self._lines.clear()
        self._changed.clear()
        self._transcript = Transcript()

    def _insert(self, database: sqlite3.Connection, now: float) -> None:
        self.conversation = conversation_row(database, self.key, self.setup, now)
        folder = None if self.folder is None else harmless(str(self.folder))
        cursor = database.execute(
            "INSERT INTO talks (conversation, began, folder) VALUES (?, ?, ?)", (self.conversation, self.began, folder)
        )
        self.row = cursor.lastrowid

    def _write_line(self, database: sqlite3.Connection, serial: int, line: str) -> None:
        try:
            database.execute("INSERT INTO events (talk, serial, line) VALUES (?, ?, ?)", (self.row, serial, line))
        except _UNSTORABLE:
            self.lost += 1

    def _write_turn(self, database: sqlite3.Connection, identity: int, turn: Turn) -> None:
        row, text = self._rows.get(identity), harmless(turn.text)
        if row is None and text:
            row = next_turn(database, self.conversation)
            database.execute(
                "INSERT INTO turns (id, talk, speaker, number, at, text) VALUES (?, ?, ?, ?, ?, ?)",
                (row, self.row, turn.speaker, turn.number, turn.started_at, text),
            )
            self._rows[identity] = row
        elif row is not None and text:
            database.execute("UPDATE turns SET text = ? WHERE id = ?", (text, row))
        elif row is not None:
            database.execute("DELETE FROM turns WHERE id = ?", (self._rows.pop(identity),))

    def _opening(self) -> str:
        """Returns a title made from the first words, preferably the user's."""
        turns = (turn for turn in self._transcript.turns if turn.text)
        first = next(turns, None)
        if first is not None and (first.speaker == "assistant" or first.backchannel):
            questions = (turn for turn in turns if turn.speaker == "user" and not turn.backchannel)
            first = next(questions, first)
        return harmless(_title(first.text)) if first is not None else ""


@dataclass(frozen=True, slots=True)
class TalkLog:
    """The event log of a running session. Both methods are thread-safe, return immediately and never raise."""

    talk: OpenTalk
    post: Callable[[OpenTalk, e.Event | None], None]

    def put(self, event: e.Event) -> None:
        """Queues an event, which is stored within half a second; meter events are ignored."""
        self.post(self.talk, event)

    def end(self) -> None:
        """Marks the talk as finished. No events are lost if this is never called."""
        self.post(self.talk, None)


def conversation_row(database: sqlite3.Connection, key: str, setup: Setup, now: float) -> int:
    """Returns the row ID of a conversation, creating the row if necessary."""
    database.execute(
        "INSERT INTO conversations (key, created, changed, setup) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (key, now, now, setup_line(setup)),
    )
    return int(database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).fetchone()[0])


def next_turn(database: sqlite3.Connection, conversation: int) -> int:
    """Returns the ID for a conversation's next turn."""
    first = conversation << TURN_BITS
    last = first + (1 << TURN_BITS) - 1
    newest = database.execute("SELECT MAX(id) FROM turns WHERE id BETWEEN ? AND ?", (first, last)).fetchone()[0]
    return first if newest is None else newest + 1


def _title(text: str) -> str:
    """Returns the first words of `text`, capitalized and cut at a word boundary, with "…" if truncated."""
    text = text.lstrip()
    words = f"{text[:1].upper()}{text[1:]}".split(maxsplit=TITLE_WORDS)
    title = ""
    for word in words[:TITLE_WORDS]:
        longer = f"{title} {word}".strip()
        if len(longer) > TITLE_CHARS:
            return f"{title or longer[:TITLE_CHARS]}…"
        title = longer
    return f"{title.rstrip(',;:–—-')}…" if len(words) > TITLE_WORDS else title
