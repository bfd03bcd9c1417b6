"""Keeps the transcript's cards in line with the conversation: with what is said, and with the branch that is shown.

The cards of past sessions are added in small batches, to keep the window responsive.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from PySide6.QtCore import QDateTime, QLocale, QObject, QTime, Signal

from app.conversation import events as e
from app.conversation.record.record import Change, Entry, Note, Record
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.cards.card import Card, laid_out_once
from app.gui.cards.view import CardView
from app.gui.design.motion import timer
from app.gui.oracle.revisions import current, newest_words
from app.gui.state.past_talk import PastTalk
from app.gui.state.session_model import SessionModel
from app.gui.transcript.entries import TranscriptCards, divider, is_shown, shortened_answer

LEAST_WORDS = 3
"""From this many of the user's words on, the guessed answer is shown."""
SHOWING_SECONDS = 0.012
"""Time spent adding cards of past sessions before returning to the event loop. Their layout takes twice as long."""

THOUGHT_MS = 900
"""How long each thought of a film is shown."""

Item = Entry | str
"""What a card shows: a turn, a note, or the heading of a session."""


class TurnCards(QObject):
    """The cards of `view`, which show the conversation of `model`."""

    filled = Signal()
    """A turn has a card: there is something to see."""
    settled = Signal()
    """All changes are shown."""

    def __init__(self, model: SessionModel, view: CardView, parent: QObject) -> None:
        super().__init__(parent)
        self._model, self._view = model, view
        self.make = TranscriptCards(self)
        self.items: list[Item] = []
        """What each card shows, but for the one of an answer that isn't spoken yet, which is the last."""
        self._earlier: list[Item] = []  # all that came before this session, on all branches
        self._waiting: deque[Item] = deque()  # those of them that are still to be shown
        self._timer = timer(self, 0, self._show_some)
        self._has_ghost = False
        self._record = model.record  # of the session whose turns come last
        self._shown: list[Entry] = []  # this session's entries that have a card, in display order
        self._places: dict[int, int] = {}  # the index of each entry in `_shown`, by id()
        self._first = 0  # the index of this session's first card in the view
        self._changed: dict[int, Entry] = {}
        self._thought_changed = self._branch_changed = False
        model.follow(self._take, self.settle)
        model.began.connect(self._begin)
        model.ended.connect(self._end)
        model.past_added.connect(self._add_past)
        model.branch_chosen.connect(self._show_branch)

    def turn(self, card: int) -> Turn | None:
        """Returns the turn that a card shows; None for any other card, and for none (-1)."""
        item = self.items[card] if 0 <= card < len(self.items) else None
        return item if isinstance(item, Turn) else None

    @property
    def turns(self) -> list[Turn]:
        """The turns that have a card, in order."""
        return [item for item in self.items if isinstance(item, Turn)]

    @property
    def showing(self) -> bool:
        """Whether entries of past sessions are still being added."""
        return bool(self._waiting)

    @property
    def has_words(self) -> bool:
        """Whether there are any turns, including those that haven't been shown yet."""
        return any(isinstance(item, Turn) for item in chain(self.items, self._waiting))

    @property
    def complete(self) -> bool:
        """Whether the view has a card for each item and no more; it may scroll while cards change."""
        return len(self.items) == len(self._view.cards)

    def clear(self) -> None:
        """Removes all cards: another conversation is going to be shown."""
        self._view.clear_cards()
        self.items, self._earlier, self._has_ghost = [], [], False
        self._waiting.clear()
        self._record = Record()
        self._begin_entries()
        self.settled.emit()

    def show_rest(self) -> None:
        """Synchronously shows all remaining entries of past sessions and any pending changes."""
        while self._waiting:
            self._show_some()
        self._timer.stop()

    def set_card(self, turn: Turn, card: Card | None) -> None:
        """Shows `card` in a turn's place; None: its own card."""
        place = next((place for place, item in enumerate(self.items) if item is turn), None)
        if place is not None:
            self._view.set_card(place, card or self._card(turn))

    # -- sessions

    def _begin(self, first: bool) -> None:
        """Starts a session below a divider."""
        now = QLocale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        heading = (self.tr("New conversation, {0}") if first else self.tr("Continued, {0}")).format(now)
        self._earlier += self._record.entries()
        self._record = self._model.record
        self._begin_entries()
        if self._waiting or self._view.cards:
            self._earlier.append(heading)
        if self._waiting:
            self._waiting.append(heading)
        elif self._view.cards:
            self._show_earlier(heading)
            self._view.show_newest()
        self._first = len(self._view.cards)
        self.settled.emit()

    def _end(self, turns: Sequence[Turn]) -> None:
        """The session has ended, and with it `turns`, which were open."""
        if self._model.in_view:
            self._changed.update((id(turn), turn) for turn in turns)
            if self._changed:
                self.show_rest()
                self.settle()

    def _add_past(self, talk: PastTalk) -> None:
        """Adds a past session below the existing ones. Its entries are shown in batches."""
        self._begin_entries()
        began = QDateTime.fromSecsSinceEpoch(round(talk.began))
        new = [QLocale().toString(began, QLocale.FormatType.ShortFormat), *talk.entries]
        self._earlier += new
        self._waiting += self._visible(new)
        if not self._timer.isActive():
            self._show_some()

    def _visible(self, items: Iterable[Item]) -> list[Item]:
        """Returns the items that the branch in view has."""
        visible: list[Item] = []
        branches, left_out = self._model.branches, False
        for item in items:
            if isinstance(item, Turn) and not branches.shows(item):
                while visible and isinstance(visible[-1], Note):
                    visible.pop()  # it said who answered a turn that isn't shown
                left_out = True
                continue
            if isinstance(item, str) and visible and not isinstance(visible[-1], Turn):
                if left_out:
                    visible[-1] = item
            elif isinstance(item, str) or is_shown(item):
                visible.append(item)
            left_out = False
        if left_out and visible and isinstance(visible[-1], str):
            visible.pop()  # no turn of that session is in view
        return visible

    # -- changes

    def _take(self, change: Change) -> None:
        if not self._model.in_view:
            return
        if isinstance(change.event, e.BranchChosen):
            self._branch_changed = True
        if change.entry is not None:
            self._changed[id(change.entry)] = change.entry
        if change.revisions:
            self._thought_changed = True
            if (answer := self._answer) is not None and answer.open:
                self._changed[id(answer)] = answer

    @property
    def _answer(self) -> Turn | None:
        """The session's newest answer."""
        return self._model.record.transcript.last("assistant")

    def _card(self, entry: Entry) -> Card:
        if isinstance(entry, Turn) and entry.speaker == "user" and self._model.branches.branched:
            places = self._model.branches.versions(entry)
            number = next((n for n, place in enumerate(places, 1) if place == (entry.talk, entry.number)), 0)
            return self.make.card(entry, versions=(number, len(places)))
        answer = self._answer
        if entry is not answer or answer is None or not answer.open or answer.marked:
            return self.make.card(entry)
        revision = current(self._model.record.revisions.revisions)
        if revision is None or not revision.speaking:
            return self.make.card(entry)
        return self.make.card(entry, shortened_answer(revision.text[revision.heard :]), revision)

    @property
    def _guess(self) -> Revision | None:
        """The answer that is to be seen before it is spoken: from the user's third word on."""
        record = self._model.record
        asked = record.transcript.last("user")
        if not self._model.in_view or self._model.talk.phase != "running" or asked is None or asked.backchannel:
            return None
        answer = self._answer
        if (answer is not None and answer.number >= asked.number) or len(asked.text.split()) < LEAST_WORDS:
            return None
        if not self._model.branches.shows(asked):
            return None
        return newest_words(record.revisions.revisions, asked.number)

    def settle(self) -> None:
        """Shows all changes since the last call. No-op while entries of past sessions are still being added."""
        if self._waiting or not (self._changed or self._thought_changed or self._branch_changed):
            return
        if self._branch_changed:
            self._show_branch()
            return
        self._thought_changed = False
        stay, guess = self._view.at_newest() or self._asks_anew, self._guess
        with laid_out_once(self._view.document()):  # so that the guess becomes the answer without a jump
            if guess is None:
                self._show_ghost(None)
            if all((key in self._places) == self._has_card(entry) for key, entry in self._changed.items()):
                for key, entry in self._changed.items():
                    if key in self._places:
                        self._view.set_card(self._first + self._places[key], self._card(entry))
            else:
                self._show_all()
            if guess is not None:
                self._show_ghost(self.make.ghost(guess))
        self._changed.clear()
        self._view.keep_view(stay, 0.0)
        self.settled.emit()

    @property
    def _asks_anew(self) -> bool:
        """Whether the user says something that has no card yet: it is to be seen."""
        return any(
            isinstance(entry, Turn) and entry.speaker == "user" and not entry.backchannel and key not in self._places
            for key, entry in self._changed.items()
            if self._has_card(entry)
        )

    def _has_card(self, entry: Entry) -> bool:
        return is_shown(entry) and (isinstance(entry, Note) or self._model.branches.shows(entry))

    def _show_ghost(self, card: Card | None) -> None:
        """Shows the guessed answer below everything else, or removes it."""
        if card is None and self._has_ghost:
            self._view.remove_card(len(self.items))
        elif card is not None and self._has_ghost:
            self._view.set_card(len(self.items), card)
        elif card is not None:
            self._view.insert_card(len(self.items), card)
        self._has_ghost = card is not None

    def _show_branch(self) -> None:
        """Another branch is in view: keeps the cards that it shares with the one before, and adds the others."""
        earlier = self._visible(self._earlier)
        own = self._visible(self._record.entries()) if self._model.in_view else []
        both, same = [*earlier, *own], 0
        while same < min(len(both), len(self.items)) and both[same] is self.items[same]:
            same += 1
        with laid_out_once(self._view.document()):
            self._show_ghost(None)
            for place in reversed(range(same, len(self.items))):
                self._view.remove_card(place)
            del self.items[same:]
        self._begin_entries()
        self._waiting = deque(earlier[same:])
        self._first = min(len(earlier), same)
        self._shown = [one for one in own[: max(0, same - len(earlier))] if not isinstance(one, str)]
        self._changed = {id(one): one for one in own if not isinstance(one, str)}
        self._index()
        if self._waiting:
            self._show_some()
        elif self._changed:
            self.settle()
        else:
            self.settled.emit()

    # -- internals

    def _begin_entries(self) -> None:
        self._shown, self._places, self._changed = [], {}, {}
        self._thought_changed = self._branch_changed = False
        self._show_ghost(None)
        self._first = len(self._view.cards)

    def _index(self) -> None:
        self._places = {id(entry): place for place, entry in enumerate(self._shown)}

    def _show_some(self) -> None:
        """Shows past entries for up to `SHOWING_SECONDS`; after the last one, shows the current session's changes."""
        if not self._waiting:
            return
        stay, until = self._view.at_newest(), time.perf_counter() + SHOWING_SECONDS
        with laid_out_once(self._view.document()):
            while self._waiting and time.perf_counter() < until:
                self._show_earlier(self._waiting.popleft())
        self._first = len(self._view.cards)
        self._view.keep_view(stay, 0.0)
        if self._waiting:
            self._timer.start()
        else:
            self.settle()
        self.settled.emit()

    def _show_earlier(self, item: Item) -> None:
        place = len(self._view.cards)
        if not isinstance(item, str):
            self._insert(place, self._card(item), item)
        elif not place or self._view.cards[-1].style != "divider":
            self._insert(place, divider(item), item)

    def _insert(self, place: int, card: Card, item: Item) -> None:
        self._view.insert_card(place, card)
        self.items.insert(place, item)
        if isinstance(item, Turn):
            self.filled.emit()

    def _show_all(self) -> None:
        """Shows this session's entries when some have been added, or have lost their words."""
        for place in reversed(range(len(self._shown))):
            if not self._has_card(self._shown[place]):
                del self._shown[place], self.items[self._first + place]
                self._view.remove_card(self._first + place)
        for place, entry in enumerate(one for one in self._visible(self._record.entries()) if not isinstance(one, str)):
            # All entries before this one already have cards, so its index in both lists is the same.
            if place < len(self._shown) and self._shown[place] is entry:
                if id(entry) in self._changed:
                    self._view.set_card(self._first + place, self._card(entry))
            else:
                self._shown.insert(place, entry)
                self._insert(self._first + place, self._card(entry), entry)
        self._index()


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
