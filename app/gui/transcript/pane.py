"""The transcript pane: both sides' turns in order, updated live, with a line wherever another model took over.

Buttons for a turn appear below the last answer, and on the turn under the pointer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from app.conversation.record.branches import Place
from app.conversation.record.transcript import Turn
from app.gui.cards.find_bar import FindBar
from app.gui.cards.view import CardView
from app.gui.design.icons import IconButton
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.state.session_model import SessionModel
from app.gui.transcript.composer import Composer
from app.gui.transcript.consent_card import ConsentCard
from app.gui.transcript.document_chips import DocumentChips
from app.gui.transcript.entries import EARLIER, LATER, THOUGHTS
from app.gui.transcript.header import TranscriptHeader
from app.gui.transcript.turn_actions import HoverWatch, TurnActions
from app.gui.transcript.turn_cards import ThoughtFilm, TurnCards
from app.gui.transcript.welcome import Welcome
from app.gui.widgets.form import column, row

SIDE_PX, GAP_PX = 16, 8


class TranscriptPane(QWidget):
    """The transcript pane, which follows `model`. The owner must add `header` to a layout of its own."""

    play_wanted = Signal(object)
    """Emitted when the user asks to replay this `Turn`."""
    repeat_wanted = Signal(object, str)
    """Emitted when the user asks to have this answer, a `Turn`, said once more, as in `app.session.control.Repeat`."""

    other_model_wanted = Signal(object)
    """Emitted when the user asks to submit this `Turn` to another model."""

    branch_wanted = Signal(object)
    """Emitted when the user asks for the conversation up to this `Place`."""

    thoughts_wanted = Signal(object)
    """Emitted when the user asks for the model's thoughts behind this assistant `Turn`."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.header = TranscriptHeader(model, self)
        self.view = named(CardView(parent=self), self.tr("Conversation"))
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.inner_link_tips = {
            THOUGHTS: self.tr("Shows what the model would have answered while you spoke."),
            EARLIER: self.tr("Shows the version before it, and what followed."),
            LATER: self.tr("Shows the version after it, and what followed."),
        }
        self.view.followed.connect(self._follow)
        self.cards = TurnCards(model, self.view, self)
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
        self.newest = IconButton(
            "chevron-down", self.tr("Go to the newest"), self.view.viewport(), self.view.show_newest
        )
        self.newest.setProperty("flat", False)
        self.newest.hide()
        bar = self.view.verticalScrollBar()
        for moved in (bar.valueChanged, bar.rangeChanged):
            moved.connect(lambda *_: self._show_way_down())
        self.actions_ = TurnActions(self.view)
        self.view.content.foot = self.actions_.sizeHint().height()
        HoverWatch(self.view, self._hover)
        self._connect_actions()
        self.film = ThoughtFilm(self.cards.make, self.cards.set_card, self)
        self.cards.filled.connect(self._show_page)
        self.cards.settled.connect(self._settle)
        model.cleared.connect(self._clear)

    def add_below(self, widget: QWidget) -> None:
        """Adds a widget at the bottom, as wide as the transcript's column."""
        widget.setMaximumWidth(tokens().column)
        self._column.addLayout(row(None, (widget, 1000), None, margins=(SIDE_PX, 0, SIDE_PX, GAP_PX)))

    # -- what is shown

    def _clear(self) -> None:
        """Another conversation is going to be shown."""
        self.find_bar.leave()
        self.film.stop()
        self.composer.take_back()
        self.composer.forget()
        self.cards.clear()

    def _show_page(self) -> None:
        """Shows the cards, or the welcome page if there are no turns yet."""
        self.pages.setCurrentWidget(self.view if self.cards.has_words else self.welcome)

    def _settle(self) -> None:
        self._show_page()
        if not self.actions_.underMouse():
            self._show_foot()

    def _show_way_down(self) -> None:
        """Shows the button that leads to the newest turn, while that isn't in view."""
        room, size = self.view.viewport().rect(), self.newest.sizeHint()
        self.newest.setGeometry(
            QRect(QPoint(room.center().x() - size.width() // 2, room.bottom() - size.height()), size)
        )
        self.newest.setVisible(not self.view.at_newest())

    @property
    def empty(self) -> bool:
        """Whether nothing has been said in this conversation."""
        return not any(turn.text for turn in self._model.turns)

    # -- turn actions

    def _connect_actions(self) -> None:
        actions = self.actions_
        actions.copy.clicked.connect(lambda: _to_clipboard(actions.turn.text if actions.turn else ""))
        actions.hear.clicked.connect(lambda: self._hear(actions.turn))
        actions.slower.clicked.connect(lambda: self.repeat_wanted.emit(actions.turn, "slower"))
        actions.read_on.clicked.connect(lambda: self.repeat_wanted.emit(actions.turn, "on"))
        actions.ask.clicked.connect(lambda: self._with_question(self.ask_again, actions.question))
        actions.other.clicked.connect(lambda: self._with_question(self.other_model_wanted.emit, actions.question))
        actions.edit.clicked.connect(lambda: self._with_question(self.composer.edit, actions.question))

    def _repeatable(self, turn: Turn | None) -> bool:
        running = self._model.talk.phase == "running"
        return running and turn is not None and turn.speaker == "assistant" and bool(turn.text) and not turn.open

    def _hear(self, turn: Turn | None) -> None:
        if turn is not None and self.can_play(turn):
            self.play_wanted.emit(turn)
        elif self._repeatable(turn):
            self.repeat_wanted.emit(turn, "again")

    def _with_question(self, does: Callable[[Turn], object], question: Turn | None) -> None:
        if question is not None:
            does(question)

    def ask_again(self, question: Turn) -> None:
        """Asks the user's turn `question` again. The last one is replaced; an older one is asked as a new turn."""
        last = next((turn for turn in reversed(self.cards.turns) if turn.speaker == "user" and turn.text), None)
        self.composer.put(question.text, question if question is last else None)

    def _hover(self, place: QPoint | None) -> None:
        card = self.view.card_at(place) if place is not None else -1
        turn = self.cards.turn(card)
        if turn is None or turn.open or not turn.text:
            inside = place is not None and self.actions_.geometry().adjusted(-8, -8, 8, 8).contains(place)
            if not inside and not (place is None and self.actions_.underMouse()):
                self._show_foot()
        elif turn is not self.actions_.turn or self.actions_.isHidden():
            self._show_actions(card, turn)

    def _show_foot(self) -> None:
        """Shows the actions for the last answer below it, once it is over."""
        card = len(self.cards.items) - 1
        turn = self.cards.turn(card)
        if turn is None or turn.open or turn.speaker == "user" or not turn.text or not self.cards.complete:
            self.actions_.hide()
        else:
            self._show_actions(card, turn)

    def _show_actions(self, card: int, turn: Turn) -> None:
        below = turn.speaker == "assistant" and card == len(self.cards.items) - 1
        question = self._question(card)
        box, playable = self.view.box_of(card), self.can_play(turn)
        repeatable = self._repeatable(turn)
        self.actions_.show_for(turn, question, box, playable=playable, repeatable=repeatable, below=below)

    def _question(self, card: int) -> Turn | None:
        """Returns the user's turn that a card shows, or whose answer it shows, if it can be asked again."""
        turn = self.cards.turn(card)
        if turn is not None and turn.speaker == "assistant":
            number, talk = turn.number, turn.talk
            earlier = (self.cards.turn(place) for place in reversed(range(card)))
            questions = (one for one in earlier if one is not None and one.speaker == "user")
            turn = next((one for one in questions if (one.number, one.talk) == (number, talk)), None)
        return turn if turn is not None and self._askable(turn) else None

    def _follow(self, address: str) -> None:
        turn = self.cards.turn(self.view.card_at_cursor())  # the click has moved the cursor to the link
        if turn is None:
            return
        if address in (EARLIER, LATER):
            self._step_version(turn, -1 if address == EARLIER else 1)
            return
        number, talk = turn.number, turn.talk
        kept = self._model.record.revisions.revisions if talk == self._model.number else []
        thoughts = [one for one in kept if one.turn == number and one.text and not one.secondary]
        if thoughts:
            self.film.play(turn, thoughts)
        else:
            self.thoughts_wanted.emit(turn)

    def _version(self, turn: Turn, step: int) -> Place | None:
        """Returns the version that is `step` after that of the user's `turn`; None if there is none."""
        versions = self._model.branches.versions(turn)
        place = next((at for at, one in enumerate(versions) if one == (turn.talk, turn.number)), 0) + step
        return versions[place] if 0 <= place < len(versions) else None

    def _step_version(self, turn: Turn, step: int) -> None:
        if (version := self._version(turn, step)) is not None:
            card = self.view.card_at_cursor()
            self.branch_wanted.emit(self._model.branches.newest(version))
            self.view.put_cursor(card)  # the other version has the same place

    def _askable(self, turn: Turn) -> bool:
        return turn.speaker == "user" and bool(turn.text) and not turn.open and self.composer.isEnabled()

    def text(self) -> str:
        """Returns the transcript as plain text, each turn preceded by the speaker's name."""
        self.cards.show_rest()
        names = {"user": self.tr("You"), "assistant": self.tr("KAME")}
        return "\n\n".join(f"{names[turn.speaker]}: {words_of(turn)}" for turn in self.cards.turns if turn.text)

    def _open_menu(self, place: QPoint) -> None:
        if not self.view.viewport().rect().contains(place):  # opened by keyboard, text cursor out of view
            self.view.ensureCursorVisible()
            place = self.view.cursorRect().center()
        menu = self.menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_actions(menu, self.view.card_at(place))
        menu.popup(self.view.viewport().mapToGlobal(place))

    def _add_actions(self, menu: QMenu, card: int) -> None:
        turn, question = self.cards.turn(card), self._question(card)
        words = words_of(turn) if turn is not None else ""
        copy = menu.addAction(self.tr("&Copy the selection"), self.view.copy)
        copy.setEnabled(self.view.textCursor().hasSelection())
        copy_turn = menu.addAction(self.tr("Copy this &turn"), lambda: _to_clipboard(words))
        copy_turn.setEnabled(bool(words))
        copy_all = menu.addAction(self.tr("Copy the &whole conversation"), lambda: _to_clipboard(self.text()))
        copy_all.setEnabled(not self.empty)
        menu.addSeparator()
        repeatable = self._repeatable(turn)
        hear = menu.addAction(self.tr("&Hear it again"), lambda: self._hear(turn))
        hear.setEnabled(repeatable or (turn is not None and not turn.open and self.can_play(turn)))
        slower = menu.addAction(self.tr("Say it more s&lowly"), lambda: self.repeat_wanted.emit(turn, "slower"))
        slower.setEnabled(repeatable)
        read_on = menu.addAction(self.tr("&Read on"), lambda: self.repeat_wanted.emit(turn, "on"))
        read_on.setEnabled(repeatable and turn is not None and turn.interrupted)
        thoughts = menu.addAction(self.tr("&Show its thoughts"), lambda: self.thoughts_wanted.emit(turn))
        thoughts.setEnabled(turn is not None and turn.speaker == "assistant" and turn.revisions > 0)
        for text, does in (
            (self.tr("&Ask this again"), self.ask_again),
            (self.tr("Ask with another &model…"), self.other_model_wanted.emit),
            (self.tr("&Edit and ask"), self.composer.edit),
        ):
            action = menu.addAction(text, partial(self._with_question, does, question))
            action.setEnabled(question is not None)
        if turn is not None and turn.speaker == "user" and len(self._model.branches.versions(turn)) > 1:
            for text, step in ((self.tr("The version &before"), -1), (self.tr("The &version after"), 1)):
                action = menu.addAction(text, partial(self._step_version, turn, step))
                action.setEnabled(self._version(turn, step) is not None)
        menu.addSeparator()
        menu.addAction(self.tr("&Find…"), self.find_bar.appear)


def words_of(turn: Turn) -> str:
    """Returns the text of a turn to copy or to say: its Markdown source if there is one, otherwise its plain text."""
    return turn.written.strip() or turn.text


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
