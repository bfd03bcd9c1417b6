"""A talk while it is written down: its events, and the turns that they make.

Used on the writer's thread alone, except for `put` and `end` of what it gives to the session.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.conversation import events as e
from app.conversation.transcript import Transcript, Turn
from app.history.base import Setup
from app.history.schema import TURN_BITS
from app.history.serialization import event_line, setup_line, sound_text
from app.history.titles import make_title

MOST_WAITING = 100_000
"""Events that wait for a disk with room again; what comes later is lost."""


@dataclass
class OpenTalk:
    """A talk that goes on. `write` inside a transaction; then `settle`, or `undo` if it was rolled back."""

    key: str
    setup: Setup
    folder: Path | None
    began: float
    limit: int | None = MOST_WAITING
    over: bool = False
    forgotten: bool = False
    """It was erased while it went on: nothing more is kept of it."""
    row: int | None = None
    conversation: int = 0
    _transcript: Transcript = field(default_factory=Transcript)
    _lines: list[str] = field(default_factory=list)
    _serial: int = 0
    _changed: dict[int, Turn] = field(default_factory=dict)
    _rows: dict[int, int] = field(default_factory=dict)
    """The rows of turns with words, by the turn's identity: two turns may have one number."""
    _backends: list[str] = field(default_factory=list)
    _before: tuple[int | None, int, dict[int, int]] | None = None

    @property
    def waits(self) -> bool:
        """Whether there is anything to be written."""
        return bool(self._lines)

    def take(self, event: e.Event) -> None:
        """Has an event written with the next `write`."""
        if self.over or self.forgotten or (self.limit is not None and len(self._lines) >= self.limit):
            return
        self._lines.append(event_line(event))
        turn = self._transcript.apply(event)
        if turn is not None:
            self._changed[id(turn)] = turn

    def write(self, database: sqlite3.Connection, now: float) -> None:
        """Writes all that waits. Raises sqlite3.Error."""
        self._before = (self.row, self.conversation, dict(self._rows))
        if self.row is None:
            self._begin(database, now)
        database.executemany(
            "INSERT INTO events (talk, serial, line) VALUES (?, ?, ?)",
            [(self.row, serial, line) for serial, line in enumerate(self._lines, self._serial)],
        )
        for identity, turn in self._changed.items():
            self._write_turn(database, identity, turn)
            self._backends += [backend for backend in turn.backends if backend not in self._backends]
        database.execute(
            "UPDATE talks SET turns = ?, brains = ?, opening = ? WHERE id = ?",
            (len(self._rows), json.dumps(self._backends), self._opening(), self.row),
        )
        database.execute("UPDATE conversations SET changed = ? WHERE id = ?", (now, self.conversation))

    def settle(self) -> None:
        """What was written is kept."""
        self._serial += len(self._lines)
        self._lines.clear()
        self._changed.clear()
        self._before = None

    def undo(self) -> None:
        """Nothing of what was written is kept; it waits for the next time."""
        if self._before is not None:
            self.row, self.conversation, self._rows = self._before
            self._before = None

    def begin_anew(self) -> None:
        """What is in the database of it is no longer there: goes on with a talk of its own, from here."""
        self.row, self._before = None, None
        self._rows.clear()
        self._changed = {id(turn): turn for turn in self._transcript.turns}

    def forget(self) -> None:
        """Keeps nothing more of it."""
        self.forgotten = True
        self._lines.clear()
        self._changed.clear()
        self._transcript = Transcript()

    def _begin(self, database: sqlite3.Connection, now: float) -> None:
        self.conversation = conversation_row(database, self.key, self.setup, now)
        folder = None if self.folder is None else sound_text(str(self.folder))
        cursor = database.execute(
            "INSERT INTO talks (conversation, began, folder) VALUES (?, ?, ?)", (self.conversation, self.began, folder)
        )
        self.row = cursor.lastrowid

    def _write_turn(self, database: sqlite3.Connection, identity: int, turn: Turn) -> None:
        row, text = self._rows.get(identity), sound_text(turn.text)
        if row is None and text:
            self._rows[identity] = row = next_turn(database, self.conversation)
            database.execute(
                "INSERT INTO turns (id, talk, speaker, number, at, text) VALUES (?, ?, ?, ?, ?, ?)",
                (row, self.row, turn.speaker, turn.number, turn.started_at, text),
            )
        elif row is not None and text:
            database.execute("UPDATE turns SET text = ? WHERE id = ?", (text, row))
        elif row is not None:
            database.execute("DELETE FROM turns WHERE id = ?", (self._rows.pop(identity),))

    def _opening(self) -> str:
        words = (turn for turn in self._transcript.turns if turn.text)
        first = next(words, None)
        if first is not None and (first.speaker == "assistant" or first.backchannel):
            asked = (turn for turn in words if turn.speaker == "user" and not turn.backchannel)
            first = next(asked, first)
        return sound_text(make_title(first.text)) if first is not None else ""


@dataclass(frozen=True, slots=True)
class Log:
    """What a session is given: a `TalkLog`."""

    talk: OpenTalk
    post: Callable[[OpenTalk, e.Event | None], None]

    def put(self, event: e.Event) -> None:
        """Has an event written down."""
        self.post(self.talk, event)

    def end(self) -> None:
        """The talk is over."""
        self.post(self.talk, None)


def conversation_row(database: sqlite3.Connection, key: str, setup: Setup, now: float) -> int:
    """The row of a conversation, which is made if there is none."""
    database.execute(
        "INSERT INTO conversations (key, created, changed, setup) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (key, now, now, setup_line(setup)),
    )
    return int(database.execute("SELECT id FROM conversations WHERE key = ?", (key,)).fetchone()[0])


def next_turn(database: sqlite3.Connection, conversation: int) -> int:
    """The id of a conversation's next turn."""
    first = conversation << TURN_BITS
    last = first + (1 << TURN_BITS) - 1
    newest = database.execute("SELECT MAX(id) FROM turns WHERE id BETWEEN ? AND ?", (first, last)).fetchone()[0]
    return first if newest is None else newest + 1
