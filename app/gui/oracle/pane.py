"""The oracle pane: a large card with the current answer or, if the user prefers, all answers in order.

Superseded answers are struck through. During a comparison, each model has its own column if there is space; otherwise
the comparison model's cards appear among the others in a more subdued style. A card without text shows how long the
request has been waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from app.conversation.events import BackendChanged, Event, OracleRequested, SecondaryChanged, SessionStarted
from app.gui.cards.card import Card
from app.gui.cards.view import CardView
from app.gui.design.plain import set_tip
from app.gui.oracle.card import OracleCards
from app.gui.oracle.column import OracleColumn, ThoughtCard
from app.gui.oracle.header import OracleHeader
from app.gui.oracle.revisions import OracleLog, ShownRevision
from app.gui.widgets import form
from app.gui.widgets.formats import SessionTime, backend_words

WAIT_STEP_MS = 1000
COLUMNS_PX = 420
"""Minimum width of the pane for showing two models in separate columns."""
PAD_PX, GAP_PX = 12, 8
_EARLY = 0.05
"""Tolerance for timers that fire early, in seconds."""


class OraclePane(QWidget):
    """The oracle pane. `apply` processes an event; `settle` displays all changes since the last call.

    `clock` returns a monotonic time in seconds, which is used to update waiting times between events.
    """

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(parent)
        self.time = SessionTime(clock)
        self.log = OracleLog()
        self.header = OracleHeader(self)
        self.columns = (OracleColumn(self), OracleColumn(self))
        self.view = self.columns[0].view
        self.view.empty_text = self.tr("The model's answers appear here while you still speak.")
        self.columns[1].view.empty_text = self.tr("The comparison model's answers appear here.")
        self.thought = ThoughtCard(self)
        self._cards = OracleCards(self)
        self._changed: set[ShownRevision] = set()
        self._paired = False  # whether there is a comparison
        self._two = False  # whether two columns are shown
        self._in_view = False
        self._lay_out()
        self.wait_timer = QTimer(self, interval=WAIT_STEP_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while the pane is visible and a revision has no text yet."""
        self.wait_timer.timeout.connect(self._show_waiting)
        self.header.earlier.toggled.connect(self._show_earlier)
        self.header.details.toggled.connect(self._show_details)

    def _lay_out(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(8)
        for side in self.columns:
            self._split.addWidget(side)
            set_tip(side.hand_button, self.header.hand_button.toolTip())
            side.hand_over.connect(self.header.hand_over)
            self.header.running_changed.connect(side.hand_button.setEnabled)
        self.columns[1].hide()
        parts = (self.header, (self._split, 1), (self.thought, 1))
        form.column(*parts, within=self, spacing=GAP_PX, margins=(PAD_PX, GAP_PX, PAD_PX, PAD_PX))
        self._split.hide()

    @property
    def views(self) -> tuple[CardView, ...]:
        """All views with selectable text."""
        return (*(column.view for column in self.columns), self.thought.view)

    @property
    def earlier(self) -> bool:
        """Whether superseded revisions are shown."""
        return self.header.earlier.isChecked()

    def begin(self, talk: int = 0) -> None:
        """Starts a new session, in which revisions are numbered from 1 again. `talk`: the session's number in the
        transcript.
        """
        self.end()
        self.log.talk = talk
        self.time.begin()
        self.header.begin()
        self._pair()
        self.settle()

    def clear(self) -> None:
        """Removes all revisions. Called before another conversation is shown."""
        self.begin()
        self.log.revisions.clear()
        self._changed.clear()
        self._settle_columns()
        self._settle_thought()

    def end(self) -> None:
        """Marks all revisions in progress as stopped. Called when the session ends."""
        self._changed.update(self.log.begin())
        self.settle()

    def apply(self, event: Event) -> None:
        """Processes an event. Its changes are displayed by the next `settle`."""
        self.time.update(event.at)
        self._changed.update(self.log.apply(event))
        self.header.apply(event)
        self._pair()
        if isinstance(event, OracleRequested):
            newest = self.log.revisions[0]
            newest.column = self.header.sides.column(newest.secondary)

    def show_talk(self, events: Sequence[Event], talk: int = 0) -> None:
        """Adds the newest revisions of a past session, up to the log's limit. `talk`: its number in the transcript."""
        self.log.talk = talk
        asked = [place for place, event in enumerate(events) if isinstance(event, OracleRequested)]
        first = asked[-self.log.limit] if len(asked) > self.log.limit else 0
        for place, event in enumerate(events):
            if place >= first or isinstance(event, SessionStarted | BackendChanged | SecondaryChanged):
                self.apply(event)
        self.end()

    def settle(self) -> None:
        """Shows all changes since the last call."""
        self._update_timer()
        self._arrange()
        if not self._changed:
            return
        if not self._two:
            self._settle_thought()
        if self._split.isHidden():  # the columns are updated once they are visible again
            if len(self._changed) > self.log.limit:
                self._changed.intersection_update(self.log.revisions)
            return
        self._settle_columns()
        self._changed.clear()

    # -- columns

    def _pair(self) -> None:
        """If a comparison has just started, assigns existing revisions to columns by model."""
        paired = bool(self.header.sides.comparison)
        if paired and not self._paired:
            right = self.header.sides.backends[1]
            for revision in self.log.revisions:
                revision.column = int(backend_words(revision.backend, revision.model) == right)
            self._changed.update(self.log.revisions)
        self._paired = paired

    def _arrange(self) -> None:
        """Shows one column, or two with the models' names as headings."""
        two = self._paired and self.width() >= COLUMNS_PX
        self.header.set_columns(two)
        sides = self.header.sides
        had_focus = any(column.hand_button.hasFocus() for column in self.columns)
        for place, column in enumerate(self.columns):
            name = sides.backends[place] or self.tr("The other model")
            column.set_backend(name if two else "", sides.driving == place)
        if had_focus and two:
            self.columns[1 - sides.driving].hand_button.setFocus()
        if two == self._two:
            return
        self._two = two
        self._changed.update(self.log.revisions)
        self.columns[1].setVisible(two)
        self._share_room()
        if two:
            self._split.setSizes([self.width() // 2] * 2)

    def _settle_columns(self) -> None:
        if not self._two:
            self.columns[0].show_revisions(self.log.revisions, self._changed, self._card)
            return
        for place, column in enumerate(self.columns):
            column.show_revisions([r for r in self.log.revisions if r.column == place], self._changed, self._card)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.settle()

    # -- the large card or all cards

    def _share_room(self) -> None:
        """Shows either the large card or the columns."""
        self._split.setVisible(self._two or self.earlier)
        self.thought.setVisible(self._split.isHidden())
        self.header.earlier.setEnabled(not self._two)

    def _show_earlier(self) -> None:
        self._share_room()
        self._changed.update(self.log.revisions)
        self.settle()

    def _show_details(self, shown: bool) -> None:
        self._cards.details = shown
        self._changed.update(self.log.revisions)
        self.settle()

    def _settle_thought(self) -> None:
        revision = self.log.current
        if revision is None:
            self.thought.clear()
        else:
            self.thought.show_card(self._cards.thought(revision, self._waited(revision)), revision)

    def show_turn(self, talk: int, turn: int) -> bool:
        """Shows all revisions and scrolls to the first one for a turn; returns False if none is left in the log."""
        revision = self.log.first_of(talk, turn)
        if revision is None:
            return False
        if not self._two:
            self.header.earlier.setChecked(True)
        self.settle()
        self.columns[revision.column if self._two else 0].show_revision(revision)
        return True

    # -- waiting

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._in_view = True
        self._show_waiting()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._in_view = False
        self._update_timer()

    def _show_waiting(self) -> None:
        self._changed.update(self.log.waiting)
        self.settle()

    def _update_timer(self) -> None:
        needed = self._in_view and bool(self.log.waiting)
        if needed and not self.wait_timer.isActive():
            self.wait_timer.start()
        elif not needed:
            self.wait_timer.stop()

    def _waited(self, revision: ShownRevision) -> int:
        now = self.time.now if revision.waiting else None
        return 0 if now is None else max(0, int(now - revision.waits_since + _EARLY))

    def _card(self, revision: ShownRevision) -> Card:
        return self._cards.card(revision, self._waited(revision), column=self._two)
