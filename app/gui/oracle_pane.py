"""The back-end's thoughts: one card a revision, the newest on top, the superseded ones struck through.

What the brain at the side thinks stands between them, calmer. A brain that has not said anything yet is told by how
long it has been waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation.events import Event
from app.gui.card import Card
from app.gui.card_view import CardView
from app.gui.oracle_card import OracleCards
from app.gui.oracle_header import OracleHeader
from app.gui.oracle_log import OracleLog, Revision

WAIT_STEP_MS = 1000
_EARLY = 0.05
"""Seconds by which a timer may be too early without a second being lost."""


class OraclePane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`, each revision once. `clock`: any steady one, in
    seconds, to tell how long a brain is silent when no event does.
    """

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self.clock = clock
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
        self._began: float | None = None
        """The session's start by `clock`, as well as it is known."""
        self._in_view = False
        self.wait_timer = QTimer(self, interval=WAIT_STEP_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while a brain is waited for in view."""
        self.wait_timer.timeout.connect(self._wait)

    def begin(self) -> None:
        """A new talk begins, and its revisions count from 1 again."""
        self.end()
        self._began = None
        self.header.begin()

    def end(self) -> None:
        """The talk is over: nothing is under way any more."""
        self._note(self.log.begin())
        self.settle()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        if event.at > 0:  # before the first frame the session's time stands still
            began = self.clock() - event.at  # events come late at times, and never early
            self._began = began if self._began is None else min(began, self._began)
        self._note(self.log.apply(event))
        self.header.apply(event)

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        self._watch()
        if not self._changed:
            return
        stay, height = self.view.at_newest(), self.view.document().size().height()
        known = {id(revision) for revision in self._shown}
        new = [revision for revision in self.log.revisions if id(revision) not in known]
        for revision in reversed(new):
            self._shown.insert(0, revision)
            self.view.insert_card(0, self._card(revision))
            self._changed.pop(id(revision), None)
        while len(self._shown) > len(self.log.revisions):
            self._shown.pop()
            self.view.remove_card(len(self._shown))
        places = {id(revision): place for place, revision in enumerate(self._shown)}
        for key, revision in self._changed.items():
            if key in places:
                self.view.set_card(places[key], self._card(revision))
        self._changed.clear()
        self.view.keep_view(stay, height)

    # -- waiting

    def showEvent(self, event: QShowEvent) -> None:
        """Tells the waiting on."""
        super().showEvent(event)
        self._in_view = True
        self._wait()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks: nothing needs to move."""
        super().hideEvent(event)
        self._in_view = False
        self._watch()

    def _wait(self) -> None:
        self._note(self.log.waiting)
        self.settle()

    def _watch(self) -> None:
        needed = self._in_view and bool(self.log.waiting)
        if needed and not self.wait_timer.isActive():
            self.wait_timer.start()
        elif not needed:
            self.wait_timer.stop()

    def _card(self, revision: Revision) -> Card:
        if not revision.waiting or self._began is None:
            return self._cards.card(revision)
        return self._cards.card(revision, int(self.clock() - self._began - revision.waits_since + _EARLY))

    def _note(self, revisions: list[Revision]) -> None:
        for revision in revisions:
            self._changed[id(revision)] = revision
