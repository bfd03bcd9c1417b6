"""Folds a session's events into what the transcript shows: turns, and the changes of the back-end between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation import events as e
from app.conversation.transcript import Transcript, Turn
from app.gui.widgets.formats import backend_words


@dataclass(slots=True)
class Note:
    """A line between turns, at a time of the session.

    `reason`: the back-end was `chosen`, `handed` over to, takes over (`fallback`) or takes over `again`; or turns
    before this line are `left_out`.
    """

    started_at: float
    reason: Literal["chosen", "handed", "fallback", "again", "left_out"]
    backend: str = ""


Entry = Turn | Note


class TranscriptEntries:
    """The turns of one session, and its notes."""

    def __init__(self) -> None:
        self._transcript = Transcript()
        self._notes: list[Note] = []
        self._drivers: list[str] = []  # the models that have answered

    @property
    def turns(self) -> list[Turn]:
        """The turns, ordered by when they started."""
        return self._transcript.turns

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self._transcript.turns) + len(self._notes)

    def apply(self, event: e.Event) -> Entry | None:
        """Takes one event in; returns the entry that it has changed or made."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self._drivers.append(backend_words(backend, model))
            case e.BackendChanged():
                return self._note(event)
        return self._transcript.apply(event)

    def end(self) -> list[Turn]:
        """Closes the turns that are open, and returns them: the session is over."""
        open_turns = [turn for turn in self.turns if turn.open]
        for turn in open_turns:
            turn.open = False
        return open_turns

    def in_order(self) -> list[Entry]:
        """The turns, with each note after the turns that had started before it."""
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
            return None  # before the first word there is nothing to divide
        reason = "again" if event.reason == "fallback" and known else event.reason
        self._notes.append(Note(event.at, reason, backend))
        return self._notes[-1]
