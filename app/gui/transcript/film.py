"""The film of a thought: what the model would have answered while the user spoke, shown in the answer's place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.cards.card import Card
from app.gui.design.motion import timer
from app.gui.transcript.entries import TranscriptCards

THOUGHT_MS = 900


class ThoughtFilm(QObject):
    """Shows one thought after the other by `show`, which gets the turn and a card for it; None at the end."""

    def __init__(self, make: TranscriptCards, show: Callable[[Turn, Card | None], object], parent: QObject) -> None:
        super().__init__(parent)
        self._make, self._show = make, show
        self._turn: Turn | None = None
        self._left: deque[tuple[int, Revision]] = deque()
        self._count = 0
        self.timer = timer(self, THOUGHT_MS, self._next, repeats=True)

    def play(self, turn: Turn, revisions: Sequence[Revision]) -> None:
        """Shows `revisions`, which were there for `turn`. Another call for the same turn stops."""
        again = self._turn is turn
        self.stop()
        if not again:
            self._turn, self._left, self._count = turn, deque(enumerate(revisions, 1)), len(revisions)
            self.timer.start()
            self._next()

    def stop(self) -> None:
        """Shows the answer again."""
        turn, self._turn = self._turn, None
        self.timer.stop()
        if turn is not None:
            self._show(turn, None)

    def _next(self) -> None:
        if self._turn is None or not self._left:
            self.stop()
            return
        number, revision = self._left.popleft()
        self._show(self._turn, self._make.film(revision, number, self._count))
