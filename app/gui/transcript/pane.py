"""The transcript pane: both sides' turns in order, updated live, with a line wherever another model took over.

Buttons for a turn appear below the last answer, and on the turn under the pointer.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QDateTime, QLocale, QPoint, Qt, QTime, Signal
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from app.conversation.record.record import Change, Entry
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.cards.card import Card, laid_out_once
from app.gui.cards.find_bar import FindBar
from app.gui.cards.view import CardView
from app.gui.design.motion import timer
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.oracle.revisions import current, newest_words
from app.gui.state.past_talk import PastTalk
from app.gui.state.session_model import SessionModel
from app.gui.transcript.composer import Composer
from app.gui.transcript.consent_card import ConsentCard
from app.gui.transcript.document_chips import DocumentChips
from app.gui.transcript.entries import THOUGHTS, TranscriptCards, divider, is_shown, shortened_answer
from app.gui.transcript.film import ThoughtFilm
from app.gui.transcript.header import TranscriptHeader
from app.gui.transcript.turn_actions import HoverWatch, TurnActions
from app.gui.transcript.welcome import Welcome
from app.gui.widgets.form import column, row

SIDE_PX, GAP_PX = 16, 8
LEAST_WORDS = 3
"""From this many of the user's words on, the guessed answer is shown."""
SHOWING_SECONDS = 0.012
"""Time spent adding cards of past sessions before returning to the event loop. Their layout takes twice as long."""


class TranscriptPane(QWidget):
    """The transcript pane, which follows `model`. The owner must add `header` to a layout of its own."""

    play_wanted = Signal(object)
    """Emitted when the user asks to replay this `Turn`."""
    other_model_wanted = Signal(str)
    """Emitted when the user asks to submit this text to another model."""

    thoughts_wanted = Signal(object)
    """Emitted when the user asks for the model's thoughts behind this assistant `Turn`."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.header = TranscriptHeader(model, self)
        self.view = named(CardView(parent=self), self.tr("Conversation"))
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.inner_link_tip = self.tr("Shows what the model would have answered while you spoke.")
        self.view.followed.connect(self._follow)
        self.find_bar = FindBar(self.view, self)
        self.composer = Composer(model, self)
        self.can_play: Callable[[Turn], bool] = lambda turn: False
        """A function that returns whether a turn's audio is available. Set by the owner of the audio."""
        self.menu: QMenu | None = None
        """The most recently opened context menu, if any."""
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._column = column(within=self, spacing=0)
        self.add_below(self.find_bar)
        self.welcome = Welcome(self)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.view)
        self._column.addWidget(self.pages, 1)
        self.consent = ConsentCard(model, self)
        self.add_below(self.consent)
        self.documents = DocumentChips(model, self)
        self.add_below(self.documents)
        self.add_below(self.composer)
        self.actions_ = TurnActions(self.view)
        self.view.content.foot = self.actions_.sizeHint().height()
        HoverWatch(self.view, self._hover)
        self._connect_actions()
        self._make = TranscriptCards(self)
        self.film = ThoughtFilm(self._make, self._show_frame, self)
        self._cards: list[Turn | None] = []  # the turn shown by each card; None for a divider or note
        self._past: deque[Entry | str] = deque()  # entries and headings of past sessions still to be shown
        self._past_timer = timer(self, 0, self._show_some)
        self._has_ghost = False  # the last card is that of an answer that isn't spoken yet
        self._begin_entries()
        model.follow(self._take, self.settle)
        model.began.connect(self._begin)
        model.ended.connect(self._end)
        model.past_added.connect(self._add_past)
        model.cleared.connect(self._clear)

    def add_below(self, widget: QWidget) -> None:
        """Adds a widget at the bottom, as wide as the transcript's column."""
        widget.setMaximumWidth(tokens().column)
        self._column.addLayout(row(None, (widget, 1000), None, margins=(SIDE_PX, 0, SIDE_PX, GAP_PX)))

    # -- sessions

    def _begin(self, first: bool) -> None:
        """Starts a session below a divider."""
        now = self.locale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        heading = (self.tr("New conversation, {0}") if first else self.tr("Continued, {0}")).format(now)
        self._begin_entries()
        if self._past:
            self._past.append(heading)
        elif self.view.cards:
            self._show_past(heading)
            self.view.show_newest()
        self._first = len(self.view.cards)

    def _end(self, turns: Sequence[Turn]) -> None:
        """The session has ended, and with it `turns`, which were open."""
        if self._model.in_view:
            self._changed.update((id(turn), turn) for turn in turns)
            if self._changed:
                self.show_rest()
                self.settle()

    def _clear(self) -> None:
        """Removes all entries: another conversation is going to be shown."""
        self.find_bar.leave()
        self.film.stop()
        self.composer.take_back()
        self.composer.forget()
        self.view.clear_cards()
        self._cards, self._has_ghost = [], False
        self._past.clear()
        self._show_page()
        self._begin_entries()

    def _add_past(self, talk: PastTalk) -> None:
        """Adds a past session below the existing ones. Its entries are shown in batches."""
        self._begin_entries()
        began = QDateTime.fromSecsSinceEpoch(round(talk.began))
        self._past += self.locale().toString(began, QLocale.FormatType.ShortFormat), *talk.entries
        if not self._past_timer.isActive():
            self._show_some()

    @property
    def showing(self) -> bool:
        """Whether entries of past sessions are still being added."""
        return bool(self._past)

    def show_rest(self) -> None:
        """Synchronously shows all remaining entries of past sessions and any pending changes."""
        while self._past:
            self._show_some()
        self._past_timer.stop()

    @property
    def has_words(self) -> bool:
        """Whether there are any turns, including those that haven't been shown yet."""
        return any(turn is not None for turn in self._cards) or any(isinstance(one, Turn) for one in self._past)

    @property
    def empty(self) -> bool:
        """Whether nothing has been said in this conversation."""
        return not any(turn.text for turn in self._model.turns)

    # -- changes

    def _take(self, change: Change) -> None:
        if not self._model.in_view:
            return
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
        answer = self._answer
        if entry is not answer or answer is None or not answer.open or answer.marked:
            return self._make.card(entry)
        revision = current(self._model.record.revisions.revisions)
        if revision is None or not revision.speaking:
            return self._make.card(entry)
        return self._make.card(entry, shortened_answer(revision.text[revision.heard :]), revision)

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
        return newest_words(record.revisions.revisions, asked.number)

    def settle(self) -> None:
        """Shows all changes since the last call. No-op while entries of past sessions are still being added."""
        if self._past or not (self._changed or self._thought_changed):
            return
        self._thought_changed = False
        stay, guess = self.view.at_newest(), self._guess
        with laid_out_once(self.view.document()):  # so that the guess becomes the answer without a jump
            if guess is None:
                self._show_ghost(None)
            if all((entry_id in self._places) == is_shown(entry) for entry_id, entry in self._changed.items()):
                for entry_id, entry in self._changed.items():
                    if entry_id in self._places:
                        self.view.set_card(self._first + self._places[entry_id], self._card(entry))
            else:
                self._show_all()
            if guess is not None:
                self._show_ghost(self._make.ghost(guess))
        self._changed.clear()
        self.view.keep_view(stay, 0.0)
        if not self.actions_.underMouse():
            self._show_foot()

    def _show_ghost(self, card: Card | None) -> None:
        """Shows the guessed answer below everything else, or removes it."""
        if card is None and self._has_ghost:
            self._cards.pop()
            self.view.remove_card(len(self._cards))
        elif card is not None and self._has_ghost:
            self.view.set_card(len(self._cards) - 1, card)
        elif card is not None:
            self._insert(len(self._cards), card, None)
        self._has_ghost = card is not None

    # -- internals

    def _begin_entries(self) -> None:
        self._shown: list[Entry] = []  # this session's entries that have a card, in display order
        self._places: dict[int, int] = {}  # the index of each entry in `_shown`, by id()
        self._changed: dict[int, Entry] = {}
        self._thought_changed = False
        self._show_ghost(None)
        self._first = len(self.view.cards)  # the index of this session's first card in the view

    def _show_some(self) -> None:
        """Shows past entries for up to `SHOWING_SECONDS`; after the last one, shows the current session's changes."""
        if not self._past:
            return
        stay, until = self.view.at_newest(), time.perf_counter() + SHOWING_SECONDS
        with laid_out_once(self.view.document()):
            while self._past and time.perf_counter() < until:
                self._show_past(self._past.popleft())
        self._first = len(self.view.cards)
        self.view.keep_view(stay, 0.0)
        if self._past:
            self._past_timer.start()
        else:
            self.settle()

    def _show_past(self, entry: Entry | str) -> None:
        place = len(self.view.cards)
        if not isinstance(entry, str):
            if not is_shown(entry):
                return
            self._insert(place, self._make.card(entry), entry if isinstance(entry, Turn) else None)
        elif not place or self.view.cards[-1].style != "divider":
            self._insert(place, divider(entry), None)

    def _show_page(self) -> None:
        """Shows the cards, or the welcome page if there are no turns yet."""
        self.pages.setCurrentWidget(self.view if self.has_words else self.welcome)

    def _insert(self, place: int, card: Card, turn: Turn | None) -> None:
        self.view.insert_card(place, card)
        self._cards.insert(place, turn)
        if turn is not None:
            self._show_page()

    def _show_all(self) -> None:
        """Shows this session's entries when some have been added, or have lost their words."""
        for place in reversed(range(len(self._shown))):
            if not is_shown(self._shown[place]):
                del self._shown[place], self._cards[self._first + place]
                self.view.remove_card(self._first + place)
        for place, entry in enumerate(filter(is_shown, self._model.record.entries())):
            # All entries before this one already have cards, so its index in both lists is the same.
            if place < len(self._shown) and self._shown[place] is entry:
                if id(entry) in self._changed:
                    self.view.set_card(self._first + place, self._card(entry))
            else:
                self._shown.insert(place, entry)
                self._insert(self._first + place, self._card(entry), entry if isinstance(entry, Turn) else None)
        self._places = {id(entry): place for place, entry in enumerate(self._shown)}
        self._show_page()

    # -- turn actions

    def _connect_actions(self) -> None:
        actions = self.actions_
        actions.copy.clicked.connect(lambda: _to_clipboard(actions.turn.text if actions.turn else ""))
        actions.hear.clicked.connect(lambda: self.play_wanted.emit(actions.turn))
        actions.ask.clicked.connect(lambda: self._with_words(self.composer.put))
        actions.other.clicked.connect(lambda: self._with_words(self.other_model_wanted.emit))
        actions.edit.clicked.connect(lambda: self._with_words(self.composer.edit))

    def _with_words(self, does: Callable[[str], None]) -> None:
        if self.actions_.question is not None:
            does(self.actions_.question.text)

    def _hover(self, place: QPoint | None) -> None:
        card = self.view.card_at(place) if place is not None else -1
        turn = self._cards[card] if card >= 0 else None
        if turn is None or turn.open or not turn.text:
            inside = place is not None and self.actions_.geometry().adjusted(-8, -8, 8, 8).contains(place)
            if not inside and not (place is None and self.actions_.underMouse()):
                self._show_foot()
        elif turn is not self.actions_.turn or self.actions_.isHidden():
            self._show_actions(card, turn)

    def _show_foot(self) -> None:
        """Shows the actions for the last answer below it, once it is over."""
        card = len(self._cards) - 1
        turn = self._cards[card] if card >= 0 else None
        cards_ready = len(self._cards) == len(self.view.cards)  # it may scroll while they are changed
        if turn is None or turn.open or turn.speaker == "user" or not turn.text or not cards_ready:
            self.actions_.hide()
        else:
            self._show_actions(card, turn)

    def _show_actions(self, card: int, turn: Turn) -> None:
        below = turn.speaker == "assistant" and card == len(self._cards) - 1
        question = self._question(card)
        box, playable = self.view.box_of(card), self.can_play(turn)
        self.actions_.show_for(turn, question, box, playable=playable, below=below)

    def _question(self, card: int) -> Turn | None:
        """Returns the user's turn that a card shows, or whose answer it shows, if it can be asked again."""
        turn = self._cards[card]
        if turn is not None and turn.speaker == "assistant":
            number, talk = turn.number, turn.talk
            earlier = (one for one in reversed(self._cards[:card]) if one is not None and one.speaker == "user")
            turn = next((one for one in earlier if (one.number, one.talk) == (number, talk)), None)
        return turn if turn is not None and self._askable(turn) else None

    def _follow(self, address: str) -> None:
        turn = self._cards[self.view.card_at_cursor()]  # the click has moved the cursor to the link
        if address != THOUGHTS or turn is None:
            return
        number, talk = turn.number, turn.talk
        kept = self._model.record.revisions.revisions if talk == self._model.number else []
        thoughts = [one for one in kept if one.turn == number and one.text and not one.secondary]
        if thoughts:
            self.film.play(turn, thoughts)
        else:
            self.thoughts_wanted.emit(turn)

    def _show_frame(self, turn: Turn, card: Card | None) -> None:
        """Shows a card in a turn's place for a while; None: its own card."""
        place = next((place for place, one in enumerate(self._cards) if one is turn), None)
        if place is not None:
            self.view.set_card(place, card or self._make.card(turn))

    def _askable(self, turn: Turn) -> bool:
        return turn.speaker == "user" and bool(turn.text) and not turn.open and self.composer.isEnabled()

    def text(self) -> str:
        """Returns the transcript as plain text, each turn preceded by the speaker's name."""
        self.show_rest()
        names = {"user": self.tr("You"), "assistant": self.tr("KAME")}
        turns = [turn for turn in self._cards if turn is not None and turn.text]
        return "\n\n".join(f"{names[turn.speaker]}: {_words(turn)}" for turn in turns)

    def _open_menu(self, place: QPoint) -> None:
        if not self.view.viewport().rect().contains(place):  # opened by keyboard, text cursor out of view
            self.view.ensureCursorVisible()
            place = self.view.cursorRect().center()
        menu = self.menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_actions(menu, self.view.card_at(place))
        menu.popup(self.view.viewport().mapToGlobal(place))

    def _add_actions(self, menu: QMenu, card: int) -> None:
        turn, question = (self._cards[card], self._question(card)) if card >= 0 else (None, None)
        words = _words(turn) if turn is not None else ""
        asked = question.text if question is not None else ""
        copy = menu.addAction(self.tr("&Copy the selection"), self.view.copy)
        copy.setEnabled(self.view.textCursor().hasSelection())
        copy_turn = menu.addAction(self.tr("Copy this &turn"), lambda: _to_clipboard(words))
        copy_turn.setEnabled(bool(words))
        copy_all = menu.addAction(self.tr("Copy the &whole conversation"), lambda: _to_clipboard(self.text()))
        copy_all.setEnabled(not self.empty)
        menu.addSeparator()
        play = menu.addAction(self.tr("&Hear it again"), lambda: self.play_wanted.emit(turn))
        play.setEnabled(turn is not None and not turn.open and self.can_play(turn))
        thoughts = menu.addAction(self.tr("&Show its thoughts"), lambda: self.thoughts_wanted.emit(turn))
        thoughts.setEnabled(turn is not None and turn.speaker == "assistant" and turn.revisions > 0)
        ask = menu.addAction(self.tr("&Ask this again"), lambda: self.composer.put(asked))
        other = menu.addAction(self.tr("Ask with another &model…"), lambda: self.other_model_wanted.emit(asked))
        edit = menu.addAction(self.tr("&Edit and ask"), lambda: self.composer.edit(asked))
        for action in (ask, other, edit):
            action.setEnabled(question is not None)
        menu.addSeparator()
        menu.addAction(self.tr("&Find…"), self.find_bar.appear)


def _words(turn: Turn) -> str:
    """Returns the text to copy for a turn: its Markdown source if there is one, otherwise its plain text."""
    return turn.written.strip() or turn.text


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
