"""Builds transcript entries (turns and notes about back-end changes) from session events, and creates their cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.conversation.record.transcript import Transcript, Turn
from app.gui.cards.card import Card, Run
from app.gui.cards.links import INNER
from app.gui.widgets.formats import backend_words

THOUGHTS = f"{INNER}thoughts"
"""The URL of the link to the thoughts behind a response. All responses share it, because the view caches one text
format per URL.
"""


class TranscriptCards(QObject):
    """Creates the cards for turns and notes, with their text in the user's language."""

    def card(self, entry: Entry) -> Card:
        """Returns the card for a turn or a note."""
        if isinstance(entry, Note):
            return divider(self._note(entry))
        return self._user(entry) if entry.speaker == "user" else self._assistant(entry)

    def _note(self, note: Note) -> str:
        forms = {
            "chosen": self.tr("Now answering: {0}"),
            "handed": self.tr("Switched to {0}"),
            "fallback": self.tr("{0} takes over"),
            "again": self.tr("{0} takes over again"),
            "left_out": self.tr("Earlier turns are too many to be shown here. Export the conversation to read them."),
        }
        return forms[note.reason].format(note.backend)

    def _assistant(self, turn: Turn) -> Card:
        head: list[Run] = [(self.tr("KAME"), "name")]
        if turn.backends:
            head.append((f"   {' → '.join(turn.backends)}", "dim"))
        if turn.revisions > 1:
            times = turn.revisions - 1
            words = self.tr("revised once") if times == 1 else self.tr("revised {0}×").format(times)
            head += [("   ", "dim"), (words, f"dim@{THOUGHTS}")]
        written = turn.written if turn.marked else ""
        body: list[Run] = []
        if not written:
            body += [(passage.text, "struck" if passage.withdrawn else "text") for passage in turn.passages]
        if not written and not body:
            body = [("" if turn.interrupted or not turn.open else "…", "text")]
        if turn.interrupted:
            body.append((self.tr("   interrupted"), "bad"))
        return Card(tuple(head), tuple(body), "assistant", written=written)

    def _user(self, turn: Turn) -> Card:
        if turn.backchannel:
            return Card(((self.tr("You, in passing"), "dim"),), ((turn.text, "hint"),), "user")
        head: list[Run] = [(self.tr("You"), "dim")]
        if not turn.text:
            words = "…" if turn.open else self.tr("(nothing understood)")
            return Card(tuple(head), ((words, "hint"),), "user")
        if turn.typed:
            head.append((self.tr("   typed"), "dim"))
        space = " " if turn.stable and turn.unstable else ""
        runs: list[Run] = [(turn.stable + space, "text"), (turn.unstable, "unstable")]
        return Card(tuple(head), tuple(run for run in runs if run[0]), "user")


def divider(text: str) -> Card:
    """Returns the card for a divider line with centred text."""
    return Card(((text, "dim"),), (), "divider")


@dataclass(slots=True)
class Note:
    """A line between turns. `started_at` is its session time in seconds.

    `reason` states why the line is shown:

    - `chosen`: the user selected `backend`
    - `handed`: the user switched to it while it was the comparison model
    - `fallback`: it took over because another back-end failed
    - `again`: like `fallback`, but `backend` has been active before
    - `left_out`: all turns before this line were omitted
    """

    started_at: float
    reason: Literal["chosen", "handed", "fallback", "again", "left_out"]
    backend: str = ""


Entry = Turn | Note


class TranscriptEntries:
    """The turns and notes of one session."""

    def __init__(self) -> None:
        self._transcript = Transcript()
        self._notes: list[Note] = []
        self._drivers: list[str] = []  # all models that have been active

    @property
    def turns(self) -> list[Turn]:
        """The turns, ordered by start time."""
        return self._transcript.turns

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self._transcript.turns) + len(self._notes)

    def apply(self, event: e.Event) -> Entry | None:
        """Processes an event; returns the entry that it created or changed, if any."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self._drivers.append(backend_words(backend, model))
            case e.BackendChanged():
                return self._note(event)
        return self._transcript.apply(event)

    def end(self) -> list[Turn]:
        """Closes all open turns and returns them. Called when the session ends."""
        open_turns = [turn for turn in self.turns if turn.open]
        for turn in open_turns:
            turn.open = False
        return open_turns

    def in_order(self) -> list[Entry]:
        """Returns all entries in order; each note follows the turns that began before it."""
        entries: list[Entry] = []
        place = 0
        for turn in self.turns:
            while place < len(self._notes) and self._notes[place].started_at < turn.started_at:
                entries.append(self._notes[place])
                place += 1
            entries.append(turn)
        return entries + self._notes[place:]

    def _note(self, event: e.BackendChanged) -> Note | None:
        backend = backend_words(event.backend, event.model)
        known = backend in self._drivers
        if not known:
            self._drivers.append(backend)
        if not self.turns:
            return None  # no turns yet, so there is nothing to separate
        reason = "again" if event.reason == "fallback" and known else event.reason
        self._notes.append(Note(event.at, reason, backend))
        return self._notes[-1]
