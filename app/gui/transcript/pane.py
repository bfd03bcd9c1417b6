"""The transcript pane: both sides' turns in order, updated live, with a line wherever another model took over.

Buttons appear on the turn under the pointer: copy, replay, ask again, ask another model, edit.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QEvent, QLocale, QObject, QPoint, QRectF, Qt, QTime, Signal
from PySide6.QtGui import QColor, QGuiApplication, QMouseEvent, QPaintEvent, QPalette
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from app.conversation import events as e
from app.conversation.prompt import ChatMessage
from app.conversation.record.transcript import Turn
from app.gui.cards.card import Card, laid_out_once
from app.gui.cards.find_bar import FindBar
from app.gui.cards.view import CardView
from app.gui.design.icons import IconButton
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.motion import timer
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.transcript.composer import Composer
from app.gui.transcript.consent_card import ConsentCard
from app.gui.transcript.document_chips import DocumentChips
from app.gui.transcript.entries import THOUGHTS, Entry, TranscriptCards, TranscriptEntries, divider
from app.gui.transcript.header import TranscriptHeader
from app.gui.transcript.past_talk import PastTalk
from app.gui.transcript.welcome import Welcome
from app.gui.widgets.form import column, row

BUTTON_SIDE_PX, EDGE_PX = 2, 8


class TurnActions(QWidget):
    """The buttons that appear on a turn's card. A child of the view's viewport; the pane handles the clicks."""

    def __init__(self, view: CardView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.turn: Turn | None = None
        self.copy = IconButton("copy", self.tr("Copy"), self, size=16)
        self.hear = IconButton("volume-2", self.tr("Hear it again"), self, size=16)
        self.ask = IconButton("refresh-cw", self.tr("Ask again"), self, size=16)
        self.other = IconButton("repeat-2", self.tr("Ask with another model"), self, size=16)
        self.edit = IconButton("pencil", self.tr("Edit and ask"), self, size=16)
        buttons = (self.copy, self.hear, self.ask, self.other, self.edit)
        for button in buttons:
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keyboard users find the same actions in the context menu
        row(*buttons, within=self, spacing=0, margins=BUTTON_SIDE_PX)
        self.hide()

    def show_for(self, turn: Turn, box: QRectF, *, playable: bool, askable: bool) -> None:
        """Shows the buttons for `turn`, whose card occupies the rectangle `box` in the viewport."""
        self.turn = turn
        self.copy.setEnabled(bool(turn.text))
        self.hear.setVisible(playable)
        for button in (self.ask, self.other, self.edit):
            button.setVisible(askable)
        self.adjustSize()
        right = min(box.right(), self._view.viewport().width()) - self.width() - EDGE_PX
        top = max(EDGE_PX, box.top() - self.height() / 2)
        self.move(QPoint(round(right), round(top)))
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        with painter_on(self) as painter:
            fill, edge = QColor(shown.raised), QColor(shown.frame)
            draw_rounded(painter, self.rect(), shown.radius, inset=0.5, fill=fill, edge=edge)


class HoverWatch(QObject):
    """Calls `moved` with the pointer's position in a view's viewport, or None when it leaves or the view scrolls."""

    def __init__(self, view: CardView, moved: Callable[[QPoint | None], None]) -> None:
        super().__init__(view)
        self._moved = moved
        view.viewport().setMouseTracking(True)
        view.viewport().installEventFilter(self)
        view.verticalScrollBar().valueChanged.connect(lambda _: moved(None))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            if event.buttons() == Qt.MouseButton.NoButton:
                self._moved(event.position().toPoint())
        elif event.type() == QEvent.Type.Leave:
            self._moved(None)
        return False


SIDE_PX, GAP_PX = 16, 8
SHOWING_SECONDS = 0.012
"""Time spent adding cards of past sessions before returning to the event loop. Their layout takes twice as long."""


class TranscriptPane(QWidget):
    """The transcript pane. `apply` processes an event; `settle` displays all changes since the last call.

    The owner must add `header` to a layout of its own.
    """

    play_wanted = Signal(object)
    """Emitted when the user asks to replay this `Turn`."""
    ask_wanted = Signal(str)
    """Emitted when the user asks to submit this text again."""
    other_model_wanted = Signal(str)
    """Emitted when the user asks to submit this text to another model."""

    thoughts_wanted = Signal(object)
    """Emitted when the user asks for the model's thoughts behind this assistant `Turn`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = TranscriptHeader(self)
        self.view = named(CardView(parent=self), self.tr("Conversation"))
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.inner_link_tip = self.tr("Shows what the model thought before this answer.")
        self.view.followed.connect(self._follow)
        self.find_bar = FindBar(self.view, self)
        self.composer = Composer(self)
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
        self.consent = ConsentCard(self)
        self.add_below(self.consent)
        self.documents = DocumentChips(self)
        self.add_below(self.documents)
        self.add_below(self.composer)
        self.actions_ = TurnActions(self.view)
        HoverWatch(self.view, self._hover)
        self._connect_actions()
        self._make = TranscriptCards(self)
        self._talk = 0  # the number of the current session, counted from 1 in this view
        self._earlier: list[Turn] = []  # turns of the previous sessions in view
        self._cards: list[Turn | None] = []  # the turn shown by each card; None for a divider or note
        self._past: deque[Entry | str] = deque()  # entries and headings of past sessions still to be shown
        self._past_timer = timer(self, 0, self._show_some)
        self._begin_entries()

    def add_below(self, widget: QWidget) -> None:
        """Adds a widget at the bottom, as wide as the transcript's column."""
        widget.setMaximumWidth(tokens().column)
        self._column.addLayout(row(None, (widget, 1000), None, margins=(SIDE_PX, 0, SIDE_PX, GAP_PX)))

    # -- sessions

    def begin(self, first: bool = False) -> None:
        """Starts a session below a divider.

        `first`: whether it is the first one of a new conversation, in which case the turns above it are excluded from
        the context for models.
        """
        now = self.locale().toString(QTime.currentTime(), QLocale.FormatType.ShortFormat)
        self._begin((self.tr("New conversation, {0}") if first else self.tr("Continued, {0}")).format(now))
        if first:
            self._earlier = []

    def end(self) -> None:
        """Closes all open turns. Called when the session ends."""
        self._changed.update(map(id, self._entries.end()))
        self.settle()

    def clear(self) -> None:
        """Removes all entries. Called before another conversation is shown."""
        self.find_bar.leave()
        self.composer.take_back()
        self.composer.forget()
        self.view.clear_cards()
        self._talk, self._earlier, self._cards = 0, [], []
        self._past.clear()
        self._show_page()
        self._begin_entries()

    def show_talk(self, talk: PastTalk, heading: str) -> None:
        """Adds a past session below the existing ones. Its entries are shown in batches; `heading` states its date."""
        self._leave_session()
        self._earlier += talk.turns
        for turn in talk.turns:
            turn.talk = self._talk
        self._past += heading, *talk.entries
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
    def messages(self) -> tuple[ChatMessage, ...]:
        """The conversation's turns as context for a model, excluding backchannels."""
        turns = [*self._earlier, *self._entries.turns]
        return tuple(ChatMessage(t.speaker, t.meant) for t in turns if t.meant and not t.backchannel)

    @property
    def talk(self) -> int:
        """The number of the newest session in view, counted from 1; 0 if there is none."""
        return self._talk

    @property
    def empty(self) -> bool:
        """Whether nothing has been said in this conversation."""
        return not any(turn.text for turn in (*self._earlier, *self._entries.turns))

    # -- events

    def apply(self, event: e.Event) -> None:
        """Processes an event. Its changes are displayed by the next `settle`."""
        self.consent.apply(event)
        entry = self._entries.apply(event)
        if isinstance(entry, Turn):
            entry.talk = self._talk
        if entry is not None:
            self._changed.add(id(entry))

    def settle(self) -> None:
        """Shows all changes since the last call. No-op while entries of past sessions are still being added."""
        if self._past or not self._changed:
            return
        stay = self.view.at_newest()
        if len(self._shown) == self._entries.count:
            for key in self._changed:
                place = self._places[key]
                self.view.set_card(self._first + place, self._make.card(self._shown[place]))
        else:
            self._insert_new()
        self._changed.clear()
        self.view.keep_view(stay, 0.0)

    # -- internals

    def _begin_entries(self) -> None:
        self._entries = TranscriptEntries()
        self._shown: list[Entry] = []  # this session's entries that have a card, in display order
        self._places: dict[int, int] = {}  # the index of each entry in `_shown`, by id()
        self._changed: set[int] = set()
        self._first = len(self.view.cards)  # the index of this session's first card in the view

    def _begin(self, heading: str) -> None:
        self._leave_session()
        if self._past:
            self._past.append(heading)
        elif self.view.cards:
            self._show_past(heading)
            self.view.show_newest()
        self._first = len(self.view.cards)

    def _leave_session(self) -> None:
        """Completes the current session's entries; later ones belong to a new session."""
        if self._changed:
            self.show_rest()
            self.settle()
        self._earlier += self._entries.turns
        self._talk += 1
        self._begin_entries()

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

    def _insert_new(self) -> None:
        for place, entry in enumerate(self._entries.in_order()):
            # All entries before this one already have cards, so its index in both lists is the same.
            if place < len(self._shown) and self._shown[place] is entry:
                if id(entry) in self._changed:
                    self.view.set_card(self._first + place, self._make.card(entry))
            else:
                self._shown.insert(place, entry)
                self._insert(self._first + place, self._make.card(entry), entry if isinstance(entry, Turn) else None)
        self._places = {id(entry): place for place, entry in enumerate(self._shown)}

    # -- turn actions

    def _connect_actions(self) -> None:
        actions = self.actions_
        actions.copy.clicked.connect(lambda: _to_clipboard(actions.turn.text if actions.turn else ""))
        actions.hear.clicked.connect(lambda: self.play_wanted.emit(actions.turn))
        actions.ask.clicked.connect(lambda: self._with_words(self.ask_wanted.emit))
        actions.other.clicked.connect(lambda: self._with_words(self.other_model_wanted.emit))
        actions.edit.clicked.connect(lambda: self._with_words(self.composer.edit))

    def _with_words(self, does: Callable[[str], None]) -> None:
        if self.actions_.turn is not None:
            does(self.actions_.turn.text)

    def _hover(self, place: QPoint | None) -> None:
        card = self.view.card_at(place) if place is not None else -1
        turn = self._cards[card] if card >= 0 else None
        if turn is None or turn.open or not turn.text:
            inside = place is not None and self.actions_.geometry().adjusted(-8, -8, 8, 8).contains(place)
            if not inside and not (place is None and self.actions_.underMouse()):
                self.actions_.hide()
            return
        if turn is not self.actions_.turn or self.actions_.isHidden():
            playable = self.can_play(turn)
            self.actions_.show_for(turn, self.view.box_of(card), playable=playable, askable=self._askable(turn))

    def _follow(self, address: str) -> None:
        turn = self._cards[self.view.card_at_cursor()]  # the click has moved the cursor to the link
        if address == THOUGHTS and turn is not None:
            self.thoughts_wanted.emit(turn)

    def _askable(self, turn: Turn) -> bool:
        return turn.speaker == "user" and bool(turn.text) and not turn.open and self.composer.isEnabled()

    def turn_at(self, place: QPoint) -> Turn | None:
        """Returns the turn at a point in the view's viewport, or None."""
        card = self.view.card_at(place)
        return self._cards[card] if card >= 0 else None

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
        self._add_actions(menu, self.turn_at(place))
        menu.popup(self.view.viewport().mapToGlobal(place))

    def _add_actions(self, menu: QMenu, turn: Turn | None) -> None:
        words = _words(turn) if turn is not None else ""
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
        ask = menu.addAction(self.tr("&Ask this again"), lambda: self.ask_wanted.emit(words))
        other = menu.addAction(self.tr("Ask with another &model…"), lambda: self.other_model_wanted.emit(words))
        edit = menu.addAction(self.tr("&Edit and ask"), lambda: self.composer.edit(words))
        for action in (ask, other, edit):
            action.setEnabled(turn is not None and self._askable(turn))
        menu.addSeparator()
        menu.addAction(self.tr("&Find…"), self.find_bar.appear)


def _words(turn: Turn) -> str:
    """Returns the text to copy for a turn: its Markdown source if there is one, otherwise its plain text."""
    return turn.written.strip() or turn.text


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
