"""The conversation: both sides' turns in order, as they grow.

Shows what `Transcript` holds. Turns of earlier talks stay above a divider.
"""

from __future__ import annotations

from PySide6.QtCore import QLocale, QTime
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation.events import Event
from app.conversation.transcript import Transcript, Turn
from app.gui.card import Card
from app.gui.card_view import CardView


class TranscriptPane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`, each turn once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CardView(parent=self)
        self.view.setAccessibleName(self.tr("Conversation"))
        self.view.empty_text = self.tr("What you and KAME say appears here.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self._transcript = Transcript()
        self._first = 0  # the view's place of this talk's first turn
        self._shown: list[Turn] = []  # this talk's turns in the view, in its order
        self._changed: dict[int, Turn] = {}

    def begin(self) -> None:
        """A new talk begins: what was said so far stays above a divider."""
        self.settle()
        self._transcript, self._shown = Transcript(), []
        if self.view.cards and self.view.cards[-1].style != "divider":
            now = self.locale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
            text = self.tr("New talk, {0}").format(now)
            self.view.insert_card(len(self.view.cards), Card(((text, "dim"),), (), "divider"))
            self.view.show_newest()
        self._first = len(self.view.cards)

    def end(self) -> None:
        """The talk is over: what was still open stays as it is, and changes no more."""
        for turn in self._transcript.turns:
            if turn.open:
                turn.open = False
                self._changed[id(turn)] = turn
        self.settle()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        turn = self._transcript.apply(event)
        if turn is not None:
            self._changed[id(turn)] = turn

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        if not self._changed:
            return
        stay = self.view.at_newest()
        turns = self._transcript.turns
        place = {id(turn): index for index, turn in enumerate(turns)}
        for turn in sorted(self._changed.values(), key=lambda turn: place[id(turn)]):
            index = place[id(turn)]
            # The one before it is in the view already, so its index here is its index there.
            if index < len(self._shown) and self._shown[index] is turn:
                self.view.set_card(self._first + index, self._card(turn))
            else:
                self._shown.insert(index, turn)
                self.view.insert_card(self._first + index, self._card(turn))
        self._changed.clear()
        self.view.keep_view(stay, 0.0)

    def _card(self, turn: Turn) -> Card:
        if turn.speaker == "user":
            return self._user_card(turn)
        mark = ((self.tr("   interrupted"), "bad"),) if turn.interrupted else ()
        text = turn.text or ("" if turn.interrupted or not turn.open else "…")
        return Card(((self.tr("KAME"), "name"),), ((text, "text"), *mark), "assistant")

    def _user_card(self, turn: Turn) -> Card:
        head = ((self.tr("You"), "name"),)
        if turn.backchannel:
            return Card(((self.tr("You, in passing"), "dim"),), ((turn.text, "aside"),), "user")
        if not turn.text:
            return Card(head, ((("…" if turn.open else self.tr("(nothing understood)")), "aside"),), "user")
        space = " " if turn.stable and turn.unstable else ""
        runs = ((turn.stable + space, "text"), (turn.unstable, "unstable"))
        return Card(head, tuple(run for run in runs if run[0]), "user")
