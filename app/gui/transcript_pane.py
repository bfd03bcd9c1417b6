"""The conversation: both sides' turns in order, as they grow, and a line where another brain took over.

Shows what `Transcript` holds. Turns of earlier talks stay above a divider.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLocale, QTime
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.transcript import Transcript, Turn
from app.gui.card import Card
from app.gui.card_view import CardView
from app.gui.oracle_header import brain_words
from app.gui.transcript_header import TranscriptHeader


@dataclass(slots=True)
class Note:
    """A line between turns."""

    started_at: float
    text: str


class TranscriptPane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`, each turn once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = TranscriptHeader(self)
        self.view = CardView(parent=self)
        self.view.setAccessibleName(self.tr("Conversation"))
        self.view.empty_text = self.tr("What you and KAME say appears here.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.header)
        layout.addWidget(self.view, 1)
        self._transcript = Transcript()
        self._notes: list[Note] = []
        self._drivers: list[str] = []  # the brains that have driven in this talk
        self._first = 0  # the view's place of this talk's first card
        self._shown: list[Turn | Note] = []  # this talk's cards in the view, in its order
        self._changed: set[int] = set()

    def begin(self) -> None:
        """A new talk begins: what was said so far stays above a divider."""
        self.settle()
        self._transcript, self._shown, self._notes, self._drivers = Transcript(), [], [], []
        if self.view.cards and self.view.cards[-1].style != "divider":
            now = self.locale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
            text = self.tr("New talk, {0}").format(now)
            self.view.insert_card(len(self.view.cards), _divider(text))
            self.view.show_newest()
        self._first = len(self.view.cards)

    def end(self) -> None:
        """The talk is over: what was still open stays as it is, and changes no more."""
        for turn in self._transcript.turns:
            if turn.open:
                turn.open = False
                self._changed.add(id(turn))
        self.settle()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self._drivers = [brain_words(backend, model)]
            case e.BackendChanged():
                self._note_brain(event)
        turn = self._transcript.apply(event)
        if turn is not None:
            self._changed.add(id(turn))

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        if not self._changed:
            return
        stay = self.view.at_newest()
        for place, entry in enumerate(self._in_order()):
            # Those before it are in the view already, so its place here is its place there.
            if place < len(self._shown) and self._shown[place] is entry:
                if id(entry) in self._changed:
                    self.view.set_card(self._first + place, self._card(entry))
            else:
                self._shown.insert(place, entry)
                self.view.insert_card(self._first + place, self._card(entry))
        self._changed.clear()
        self.view.keep_view(stay, 0.0)

    # -- inner parts

    def _note_brain(self, event: e.BackendChanged) -> None:
        brain = brain_words(event.backend, event.model)
        # Before the first word of a talk there is nothing to divide.
        if self._transcript.turns:
            forms = {
                "chosen": self.tr("Now thinking: {0}"),
                "handed": self.tr("Handed over to {0}"),
                "fallback": self.tr("{0} takes over again") if brain in self._drivers else self.tr("{0} takes over"),
            }
            note = Note(event.at, forms[event.reason].format(brain))
            self._notes.append(note)
            self._changed.add(id(note))
        if brain not in self._drivers:
            self._drivers.append(brain)

    def _in_order(self) -> list[Turn | Note]:
        """This talk's turns, with each note behind the turns that had begun before it."""
        entries: list[Turn | Note] = []
        notes = list(self._notes)
        for turn in self._transcript.turns:
            while notes and notes[0].started_at < turn.started_at:
                entries.append(notes.pop(0))
            entries.append(turn)
        return entries + notes

    def _card(self, entry: Turn | Note) -> Card:
        if isinstance(entry, Note):
            return _divider(entry.text)
        if entry.speaker == "user":
            return self._user_card(entry)
        mark = ((self.tr("   interrupted"), "bad"),) if entry.interrupted else ()
        text = entry.text or ("" if entry.interrupted or not entry.open else "…")
        who = ((f"   {' → '.join(entry.brains)}", "dim"),) if entry.brains else ()
        return Card(((self.tr("KAME"), "name"), *who), ((text, "text"), *mark), "assistant")

    def _user_card(self, turn: Turn) -> Card:
        head = ((self.tr("You"), "name"),)
        if turn.backchannel:
            return Card(((self.tr("You, in passing"), "dim"),), ((turn.text, "aside"),), "user")
        if not turn.text:
            return Card(head, ((("…" if turn.open else self.tr("(nothing understood)")), "aside"),), "user")
        space = " " if turn.stable and turn.unstable else ""
        runs = ((turn.stable + space, "text"), (turn.unstable, "unstable"))
        return Card(head, tuple(run for run in runs if run[0]), "user")


def _divider(text: str) -> Card:
    return Card(((text, "dim"),), (), "divider")
