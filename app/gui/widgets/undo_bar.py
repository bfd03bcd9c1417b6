"""Message boxes at the bottom of a pane: one to undo an action for a while, one to confirm an action beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QEnterEvent,
    QHideEvent,
    QKeyEvent,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QBoxLayout, QToolButton, QWidget

from app.gui.design.look import Look, blend, draw_rounded, painter_on
from app.gui.design.motion import timer
from app.gui.design.plain import OnClick, named
from app.gui.design.sentences import in_window_language
from app.gui.widgets.form import add_items, row, wrapped

UNDO_MS = 10_000
"""How long an action can be undone. The countdown restarts when the pointer or the focus leaves the bar."""

LONGEST_TITLE = 48


class NoteBox(QWidget):
    """A word-wrapped message with buttons below it.

    `beside`: whether to place the buttons on the right if there is room. `urgent`: whether to use the warning colour.
    """

    def __init__(self, parent: QWidget | None = None, *, beside: bool = False, urgent: bool = False) -> None:
        super().__init__(parent)
        self._urgent = urgent
        self._beside = beside
        self.label = wrapped(self)
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._parts.setContentsMargins(9, 6, 6, 6)
        self._parts.setSpacing(6)
        self._buttons = row(None, spacing=4)
        add_items(self._parts, (self.label, 1), self._buttons)
        self.hide()

    @property
    def sentence(self) -> str:
        """The message; empty while hidden."""
        return self.label.text() if not self.isHidden() else ""

    def say(self, sentence: str) -> None:
        """Shows a message and announces it to screen readers. An empty `sentence` hides the box."""
        sentence = in_window_language(sentence)
        news = bool(sentence) and sentence != self.sentence
        self.label.setText(sentence)
        self.setAccessibleName(sentence)
        self._arrange()
        self.setVisible(bool(sentence))
        if news:
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def add_button(self, text: str, name: str, does: OnClick) -> QToolButton:
        """Adds a button; `name` is its accessible name, and `does` is called or emitted on a click."""
        # Not a push button, which would be too wide for a narrow pane in many styles.
        button = named(QToolButton(self), name)
        button.setText(text)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(does)
        self._buttons.addWidget(button)
        return button

    def _arrange(self) -> None:
        metrics, ways = self.label.fontMetrics(), QBoxLayout.Direction
        word = max((metrics.horizontalAdvance(word) for word in self.label.text().split()), default=0)
        edges = self._parts.contentsMargins()
        room = self.width() - edges.left() - edges.right()
        buttons = self.findChildren(QToolButton)
        wide = sum(button.sizeHint().width() + self._buttons.spacing() for button in buttons)
        beside = self._beside and word + self._parts.spacing() + wide <= room
        self._parts.setDirection(ways.LeftToRight if beside else ways.TopToBottom)
        self._buttons.setDirection(ways.LeftToRight if wide <= room else ways.TopToBottom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        look, ground = Look.of(self.palette()), self.palette().color(QPalette.ColorRole.Window)
        colour = look.warn if self._urgent else look.accent
        with painter_on(self) as painter:
            fill, edge = blend(ground, colour, 0.18 if self._urgent else 0.12), blend(ground, colour, 0.6)
            draw_rounded(painter, self.rect(), 6, inset=0.5, fill=fill, edge=edge)


class UndoBar(NoteBox):
    """Offers to restore removed items. Emits `undone` if the user accepts, and `expired` once it is too late."""

    undone = Signal()
    expired = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, beside=True)
        self.button = self.add_button(self.tr("Undo"), self.tr("Undo the removal"), self.undone)
        self.button.installEventFilter(self)
        self.timer = timer(self, UNDO_MS, self._expire)
        self._hovered = False

    def show_removed(self, titles: Sequence[str]) -> None:
        """Shows which items were removed and restarts the countdown. Hides the bar if `titles` is empty."""
        if not titles:
            self.timer.stop()
            self.say("")
            return
        if len(titles) == 1:
            title = titles[0] if len(titles[0]) <= LONGEST_TITLE else titles[0][: LONGEST_TITLE - 1].rstrip() + "…"
            self.say(self.tr("“{0}” removed.").format(title))
        else:
            self.say(self.tr("{0} conversations removed.").format(len(titles)))
        self._wait()

    def _wait(self) -> None:
        """Restarts the countdown, or stops it if the pointer is over the bar or the button has focus."""
        if self._hovered or self.button.hasFocus():
            self.timer.stop()
        else:
            self.timer.start()

    def _expire(self) -> None:
        self.say("")
        self.expired.emit()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stops the countdown while the pointer is over the bar."""
        self._hovered = True
        self.timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Restarts the countdown."""
        self._leave()
        super().leaveEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Clears the hover state, since a bar hidden under the pointer doesn't receive a leave event."""
        super().hideEvent(event)
        self._leave()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stops the countdown while the button has focus."""
        if watched is self.button and event.type() == QEvent.Type.FocusIn:
            self.timer.stop()
        elif watched is self.button and event.type() == QEvent.Type.FocusOut and not (self.isHidden() or self._hovered):
            self.timer.start()
        return super().eventFilter(watched, event)

    def _leave(self) -> None:
        self._hovered = False
        if not self.isHidden():
            self._wait()


class ConfirmBar(NoteBox):
    """Asks the user to confirm an action, and emits `agreed` if they do. Escape declines."""

    agreed = Signal()
    left = Signal()
    """Emitted when the question is answered or dismissed."""

    def __init__(self, yes: str, no: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, urgent=True)
        self.no_button = self.add_button(no, no, self.decline)
        self.yes_button = self.add_button(yes, yes, self._agree)

    def ask(self, sentence: str) -> None:
        """Shows a question and focuses the button that declines."""
        self.say(sentence)
        self.no_button.setFocus()

    def decline(self) -> None:
        """Dismisses the question."""
        if not self.isHidden():
            self.say("")
            self.left.emit()

    def _agree(self) -> None:
        self.say("")
        self.left.emit()
        self.agreed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Declines on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.decline()
        else:
            super().keyPressEvent(event)
