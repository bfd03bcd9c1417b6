"""The oracle pane: a large card with the current answer or, if the user prefers, all answers in order.

Superseded answers are struck through. During a comparison, each model has its own column if there is space; otherwise
the comparison model's cards appear among the others in a more subdued style. A card without text shows how long the
request has been waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from app.conversation.events import OracleRequested
from app.conversation.record.record import Change
from app.conversation.record.revisions import Revision
from app.gui.cards.card import Card
from app.gui.cards.view import CardView
from app.gui.design.model_look import model_words
from app.gui.design.plain import set_tip
from app.gui.oracle.card import OracleCards
from app.gui.oracle.column import OracleColumn, ThoughtCard
from app.gui.oracle.header import OracleHeader
from app.gui.oracle.revisions import MOST_SHOWN, current, first_of
from app.gui.state.past_talk import PastTalk
from app.gui.state.session_model import SessionModel
from app.gui.widgets import form
from app.gui.widgets.formats import SessionTime

WAIT_STEP_MS = 1000
COLUMNS_PX = 420
"""Minimum width of the pane for showing two models in separate columns."""
PAD_PX, GAP_PX = 12, 8
_EARLY = 0.05
"""Tolerance for timers that fire early, in seconds."""


class OraclePane(QWidget):
    """The oracle pane, which follows `model`.

    `clock` returns a monotonic time in seconds, which is used to update waiting times between events.
    """

    def __init__(
        self, model: SessionModel, parent: QWidget | None = None, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.time = SessionTime(clock)
        self.header = OracleHeader(self)
        self.columns = (OracleColumn(self), OracleColumn(self))
        self.view = self.columns[0].view
        self.view.empty_text = self.tr("The model's answers appear here while you still speak.")
        self.columns[1].view.empty_text = self.tr("The comparison model's answers appear here.")
        self.thought = ThoughtCard(self)
        self._cards = OracleCards(self)
        self._changed: set[Revision] = set()
        self._column_of: dict[Revision, int] = {}  # the index of a revision's column while there are two
        self._paired = False  # whether there is a comparison
        self._two = False  # whether two columns are shown
        self._in_view = False
        self._lay_out()
        self.wait_timer = QTimer(self, interval=WAIT_STEP_MS, timerType=Qt.TimerType.PreciseTimer)
        """Runs only while the pane is visible and a revision has no text yet."""
        self.wait_timer.timeout.connect(self._show_waiting)
        self.header.earlier.toggled.connect(self._show_earlier)
        self.header.details.toggled.connect(self._show_details)
        model.follow(self._take, self.settle)
        model.began.connect(lambda _: self._begin())
        model.ended.connect(lambda _: self._show_all_again())
        model.past_added.connect(self._add_past)
        model.cleared.connect(self._clear)

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

    @property
    def revisions(self) -> list[Revision]:
        """The newest revisions of the conversation, newest first."""
        return self._model.revisions[: -MOST_SHOWN - 1 : -1]

    def _begin(self) -> None:
        """Starts a new session, in which revisions are numbered from 1 again."""
        self.time.begin()
        self.header.begin()
        self._pair()
        self.settle()

    def _clear(self) -> None:
        """Removes all revisions: another conversation is going to be shown."""
        self._begin()
        self._changed.clear()
        self._column_of.clear()
        self._settle_columns()
        self._settle_thought()

    def _show_all_again(self) -> None:
        self._changed.update(self.revisions)
        self.settle()

    def _add_past(self, talk: PastTalk) -> None:
        """Shows the revisions of a past session."""
        self._changed.update(talk.revisions[-MOST_SHOWN:])
        self.settle()

    def _take(self, change: Change) -> None:
        if not self._model.in_view:
            return
        self.time.update(change.event.at)
        self._changed.update(change.revisions)
        self.header.apply(change.event)
        self._pair()
        if isinstance(change.event, OracleRequested) and change.revision is not None:
            self._column_of[change.revision] = self.header.sides.column(change.revision.secondary)

    def settle(self) -> None:
        """Shows all changes since the last call."""
        self._update_timer()
        self._arrange()
        if not self._changed:
            return
        if not self._two:
            self._settle_thought()
        if self._split.isHidden():  # the columns are updated once they are visible again
            if len(self._changed) > MOST_SHOWN:
                self._changed.intersection_update(self.revisions)
            return
        self._settle_columns()
        self._changed.clear()

    # -- columns

    def _pair(self) -> None:
        """If a comparison has just started, assigns existing revisions to columns by model."""
        paired = bool(self.header.sides.comparison)
        if paired and not self._paired:
            right = self.header.sides.backends[1]
            shown = self.revisions
            self._column_of = {one: int(model_words(one.backend, one.model) == right) for one in shown}
            self._changed.update(shown)
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
        self._changed.update(self.revisions)
        self.columns[1].setVisible(two)
        self._share_room()
        if two:
            self._split.setSizes([self.width() // 2] * 2)

    def _settle_columns(self) -> None:
        shown = self.revisions
        if not self._two:
            self.columns[0].show_revisions(shown, self._changed, self._card)
            return
        self._column_of = {one: self._column_of.get(one, 0) for one in shown}
        for place, column in enumerate(self.columns):
            mine = [one for one in shown if self._column_of[one] == place]
            column.show_revisions(mine, self._changed, self._card)

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
        self._changed.update(self.revisions)
        self.settle()

    def _show_details(self, shown: bool) -> None:
        self._cards.details = shown
        self._changed.update(self.revisions)
        self.settle()

    def _settle_thought(self) -> None:
        revision = current(self._model.revisions)
        if revision is None:
            self.thought.clear()
        else:
            self.thought.show_card(self._cards.thought(revision, self._waited(revision)), revision)

    def show_turn(self, talk: int, turn: int) -> bool:
        """Shows all revisions and scrolls to the first one for a turn; returns False if none is left in the log."""
        revision = first_of(self._model.revisions[-MOST_SHOWN:], talk, turn)
        if revision is None:
            return False
        if not self._two:
            self.header.earlier.setChecked(True)
        self.settle()
        self.columns[self._column_of.get(revision, 0) if self._two else 0].show_revision(revision)
        return True

    # -- waiting

    @property
    def _waiting(self) -> list[Revision]:
        """The session's revisions that are waiting for their first words."""
        return [one for one in self.revisions if one.waiting and one.talk == self._model.number]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._in_view = True
        self._show_waiting()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._in_view = False
        self._update_timer()

    def _show_waiting(self) -> None:
        self._changed.update(self._waiting)
        self.settle()

    def _update_timer(self) -> None:
        needed = self._in_view and bool(self._waiting)
        if needed and not self.wait_timer.isActive():
            self.wait_timer.start()
        elif not needed:
            self.wait_timer.stop()

    def _waited(self, revision: Revision) -> int:
        now = self.time.now if revision.waiting else None
        return 0 if now is None else max(0, int(now - revision.waits_since + _EARLY))

    def _card(self, revision: Revision) -> Card:
        return self._cards.card(revision, self._waited(revision), column=self._two)
