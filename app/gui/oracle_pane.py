"""The back-end's thoughts: one card a revision, the newest on top, the superseded ones struck through.

What the brain at the side thinks stands between them, calmer.
"""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation.events import Event
from app.gui.card_view import CardView
from app.gui.oracle_card import OracleCards
from app.gui.oracle_header import OracleHeader
from app.gui.oracle_log import OracleLog, Revision


class OraclePane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`, each revision once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = OracleHeader(self)
        self.view = CardView(newest_first=True, parent=self)
        self.view.setAccessibleName(self.tr("Oracle revisions"))
        self.view.empty_text = self.tr("What the brain thinks, while you still talk, appears here.")
        self._cards = OracleCards(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.header)
        layout.addWidget(self.view, 1)
        self.log = OracleLog()
        self._shown: list[Revision] = []
        self._changed: dict[int, Revision] = {}

    def begin(self) -> None:
        """A new talk begins, and its revisions count from 1 again."""
        self.end()
        self.header.begin()

    def end(self) -> None:
        """The talk is over: nothing is under way any more."""
        self._note(self.log.begin())
        self.settle()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        self._note(self.log.apply(event))
        self.header.apply(event)

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        if not self._changed:
            return
        stay, height = self.view.at_newest(), self.view.document().size().height()
        known = {id(revision) for revision in self._shown}
        new = [revision for revision in self.log.revisions if id(revision) not in known]
        for revision in reversed(new):
            self._shown.insert(0, revision)
            self.view.insert_card(0, self._cards.card(revision))
            self._changed.pop(id(revision), None)
        while len(self._shown) > len(self.log.revisions):
            self._shown.pop()
            self.view.remove_card(len(self._shown))
        places = {id(revision): place for place, revision in enumerate(self._shown)}
        for key, revision in self._changed.items():
            if key in places:
                self.view.set_card(places[key], self._cards.card(revision))
        self._changed.clear()
        self.view.keep_view(stay, height)

    def _note(self, revisions: list[Revision]) -> None:
        for revision in revisions:
            self._changed[id(revision)] = revision
