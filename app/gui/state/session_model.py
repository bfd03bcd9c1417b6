"""The window's one view of the session: what the session publishes, and what its events say, folded once.

Everything that shows the session reads `SessionModel` and follows it. Commands go to `SessionManager`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.conversation import events as e
from app.conversation.prompt import ChatMessage
from app.conversation.record.branches import BEGINNING, Branches, Place
from app.conversation.record.record import Change, Record
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.design.motion import timer
from app.gui.state.talk_state import Phase, TalkState
from app.session.control import Progress, SessionChoice, SessionState

if TYPE_CHECKING:
    from app.gui.state.past_talk import PastTalk

BATCH_MS = 33
"""Views repaint at most this often, however fast events come."""

MOST_REVISIONS = 512
"""How many of a conversation's newest revisions are kept over its sessions."""

_log = logging.getLogger(__name__)


class SessionModel(QObject):
    """The session that runs or ran last, and the conversation that the window shows.

    - `state`: what the session has published.
    - `talk`: what is happening right now, in one word. `progress`: how far the start of a session has come.
    - `record`: the session's turns, revisions, usage and latency.
    - `in_view`: whether the session belongs to the conversation that is shown.
    - `earlier`: the turns of the sessions before it in this conversation.
    - `branches`: the branches of the conversation, all sessions included.
    - `revisions`: the newest revisions of this conversation, oldest first, over all of its sessions.
    - `number`: the number of the newest session in view, counted from 1; 0 without any.
    """

    arrived = Signal(object)
    """Each event of a session, as soon as it comes."""
    phase_changed = Signal(str)
    published = Signal(object, object)
    """The `SessionState` before, and the new one, which is `state` by then."""
    began = Signal(bool)
    """A session runs in the conversation that is shown; True: as its first one. `record` is its own."""
    ended = Signal(object)
    """The session is over, and nothing in `record` is open any more: the turns that were."""
    past_added = Signal(object)
    """A `PastTalk` of the conversation that is shown."""
    branch_chosen = Signal()
    """Another branch of the conversation is shown while no session of it runs."""
    cleared = Signal()
    """Nothing of the conversation that was shown is shown any more."""
    changed = Signal()
    """`talk` or `progress` may be different."""
    fault = Signal(object)
    """An exception, where something could not be shown. It is logged, and the next event follows."""

    def __init__(self, parent: QObject | None = None, *, duplex: bool = False) -> None:
        super().__init__(parent)
        self.state = SessionState()
        self.talk = TalkState(phase="stopped", duplex=duplex)
        self.progress = ""
        self.record = Record()
        self.in_view = False
        self.earlier: list[Turn] = []
        self.revisions: list[Revision] = []
        self.number = 0
        self.batches = 0
        self._chosen: Place | None = None  # by the user, and not yet known to a session
        self._branches: Branches | None = None
        self._had_words = False  # turns of an earlier conversation are in view, too
        self._listeners: list[Callable[[Change], object]] = []
        self._settlers: list[Callable[[], object]] = []
        self._waiting: list[e.Event] = []
        self._level: e.LevelMeasured | None = None
        self._timer = timer(self, BATCH_MS, self.flush)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)

    def follow(self, listener: Callable[[Change], object] | None, settle: Callable[[], object] | None = None) -> None:
        """Calls `listener` with each change from now on, and `settle` after each batch of them.

        Listeners are called in the order in which they were added. One that raises affects no other.
        """
        if listener is not None:
            self._listeners.append(listener)
        if settle is not None:
            self._settlers.append(settle)

    @property
    def pending(self) -> bool:
        """Whether events wait for the next batch."""
        return self._timer.isActive()

    @property
    def turns(self) -> list[Turn]:
        """All turns of the conversation that is shown, in order."""
        return [*self.earlier, *(self.record.turns if self.in_view else ())]

    @property
    def branches(self) -> Branches:
        """The branches of the conversation that is shown."""
        if self._branches is None:
            self._branches = Branches(self.turns, self.chosen_place)
        return self._branches

    @property
    def chosen_place(self) -> Place | None:
        """The place that the user's next turn follows, if that isn't the newest one."""
        branch = self.record.transcript.branch if self.in_view else None
        return self._chosen if self._chosen is not None or branch is None else self._place(branch)

    def _place(self, branch: tuple[int, int]) -> Place:
        back, number = branch
        return Place(self.number - back, number) if number else BEGINNING

    def steps_to(self, place: Place, ahead: int) -> tuple[int, int]:
        """Returns a place as a session states it: as in `Turn.after`, from the `ahead`th session after this one."""
        return (self.number + ahead - place.talk if place.number else 0), place.number

    @property
    def has_words(self) -> bool:
        """Whether anything that was said is shown, also of a conversation before this one."""
        return self._had_words or bool(self.turns)

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """The conversation as context for a model, without backchannels and without other branches."""
        shown = filter(self.branches.shows, self.turns)
        return tuple(ChatMessage(t.speaker, t.meant) for t in shown if t.meant and not t.backchannel)

    # -- written by the session manager

    def begin_state(self, choice: SessionChoice) -> None:
        """A session of `choice` is about to run, or would be: so far, it is what was chosen."""
        self.publish(SessionState(choice, choice.backend, driver_number=self.state.driver_number))

    def publish(self, state: SessionState) -> None:
        """The session has published `state`."""
        before, self.state = self.state, state
        if state != before:
            self.published.emit(before, state)

    def set_phase(self, phase: Phase, progress: Progress | None = None) -> None:
        """The session is being built, runs, or is over; events so far belong to the phase before."""
        self.flush()
        was, self.talk.phase = self.talk.phase, phase
        if phase == "loading":
            self._take_progress(progress or Progress())
        elif phase == "running":
            self.talk.begin()
        if phase != "running":
            self.talk.muted = False  # nothing is heard anyway
        if was == "running" != phase:
            self.ended.emit(self.record.end())
        self.phase_changed.emit(phase)
        self.changed.emit()

    def show_progress(self, progress: Progress) -> None:
        """The start of a session has come this far."""
        self._take_progress(progress)
        self.changed.emit()

    def _take_progress(self, progress: Progress) -> None:
        names = {
            "recogniser": self.tr("speech recognition"),
            "voice": self.tr("voice"),
            "model": self.tr("model"),
        }
        waiting = ", ".join(names[part] for part in progress.waiting)
        words = self.tr("loading: {0}").format(waiting) if waiting else ""
        self.progress = " · ".join(filter(None, (words, progress.note)))
        self.talk.early = progress.early is not None
        self.talk.kept = self.talk.kept and self.talk.early

    def set_talk(self, **fields: bool) -> None:
        """Changes fields of `talk` that the window decides, such as `duplex` or `held`."""
        for name, value in fields.items():
            setattr(self.talk, name, value)
        self.changed.emit()

    # -- written by the conversation controller

    def begin(self, *, first: bool) -> None:
        """A session runs in the conversation that is shown. `first`: what is in view from before isn't part of it."""
        self.flush()
        self._leave_session()
        if first:
            self._had_words = self.has_words
            self.earlier, self._chosen = [], None
        self.record, self.in_view, self._branches = Record(), True, None
        self.number += 1
        self.began.emit(first)

    def add_past(self, talks: Sequence[PastTalk]) -> None:
        """Shows the past sessions of the conversation that is opened."""
        self._leave_session()
        for talk in talks:
            self.number += 1
            talk.number = self.number
            for turn in talk.turns:
                turn.talk = self.number
            for revision in talk.revisions:
                revision.talk = self.number
            self.earlier += talk.turns
            self.revisions = [*self.revisions, *talk.revisions][-MOST_REVISIONS:]
            if talk.branch is not None:
                self._chosen = self._place(talk.branch)
            elif any(turn.speaker == "user" for turn in talk.turns):
                self._chosen = None
        self._branches = None
        for talk in talks:
            self.past_added.emit(talk)

    def choose_branch(self, place: Place) -> None:
        """Shows the conversation up to `place`. Its session, if it runs, is to be informed."""
        self.flush()
        self._chosen, self._branches = place, None
        self.branch_chosen.emit()

    def clear(self) -> None:
        """Shows nothing any more; a session may still be running."""
        self.flush()
        self.in_view, self.earlier, self.revisions, self.number = False, [], [], 0
        self._had_words, self._chosen, self._branches = False, None, None
        self.cleared.emit()

    def _leave_session(self) -> None:
        if self.in_view:
            self.ended.emit(self.record.end())
            self._chosen = self.chosen_place
            self.earlier += self.record.turns
            self.in_view, self._branches = False, None

    # -- events

    def put(self, event: e.Event) -> None:
        """Takes in an event of the session: it is emitted immediately as `arrived`, and folded with the next batch.

        Of a batch's level measurements only the newest is kept.
        """
        self.arrived.emit(event)
        if isinstance(event, e.LevelMeasured):
            if self._level is not None:  # an older one's clipping and lateness must not be lost
                late = max(event.late_ms, self._level.late_ms)
                event = replace(event, clipped=event.clipped or self._level.clipped, late_ms=late)
            self._level = event
        else:
            self._waiting.append(event)
        if not self._timer.isActive():  # it runs only while something waits, so an idle window does not wake up
            self._timer.start()

    @Slot()
    def flush(self) -> None:
        """Handles the waiting events now."""
        self._timer.stop()
        batch, self._waiting = self._waiting, []
        if self._level is not None:
            batch.append(self._level)
            self._level = None
        if not batch:
            return
        self.batches += 1
        for event in batch:
            self._guard(partial(self._apply, event))
        for settle in self._settlers:
            self._guard(settle)
        self.changed.emit()

    def _apply(self, event: e.Event) -> None:
        if isinstance(event, e.LevelMeasured) and self.talk.phase != "running":
            return  # a frame may still arrive when the session is over
        change = self.record.apply(event)
        self.talk.apply(event, change.revision)
        if isinstance(event, e.BranchChosen):
            self._chosen = self._branches = None  # the record has it
        if change.entry is not None and isinstance(change.entry, Turn):
            change.entry.talk = self.number
            if self._branches is not None and self._branches.is_behind(change.entry):
                self._branches = None
        if self.in_view and isinstance(event, e.OracleRequested | e.OracleHandedOver) and change.revision is not None:
            change.revision.talk = self.number
            if change.revision in self.revisions[-MOST_REVISIONS:]:  # handed over: it is the newest again
                self.revisions.remove(change.revision)
            self.revisions = [*self.revisions[1 - MOST_REVISIONS :], change.revision]
        for listener in self._listeners:
            self._guard(partial(listener, change))

    def _guard(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            _log.exception("the window could not show an event")
            try:
                self.fault.emit(error)
            except Exception:
                _log.exception("the window could not show its own fault")
