"""Messages above the conversation, which disappear when they are solved, read or closed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.conversation.events import About
from app.conversation.sound_processing import DeviceKind
from app.gui.shell.message_row import Level, Message, MessageRow, reading_ms
from app.gui.state.choice import MODELLED
from app.session.control import BackendChoice

MOST = 3

SESSION_TOPICS = frozenset(get_args(About) + get_args(DeviceKind)) - {""}
"""Topics of messages about a session, which end with it."""

_RANKS: dict[Level, int] = {"notice": 0, "warning": 1, "error": 2}

_log = logging.getLogger(__name__)


class MessageBar(QWidget):
    """Shows at most `MOST` messages, the newest at the bottom; a repeated message is counted, not shown twice."""

    retried = Signal()
    backend_wanted = Signal(object, bool)
    """Opens the connection of a message's `BackendChoice`; the second value: whether it is the comparison model's."""
    log_wanted = Signal()
    """Opens the log, for a fault of the program."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.with_service = False
        """Whether there is a dialog for connections."""
        self.with_log = True
        """Whether there is a log to show."""
        self.reading_ms: Callable[[str], int] = reading_ms
        """How many milliseconds a notice stays that offers nothing."""
        self.rows: list[MessageRow] = []
        self._focus_before: QWidget | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self.setAccessibleName(self.tr("Messages"))
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)
        self.hide()

    def say(
        self,
        sentence: str,
        retry: bool = False,
        backend: BackendChoice | None = None,
        secondary: bool = False,
        topic: str = "",
        offer: tuple[str, Callable[[], None]] | None = None,
        *,
        level: Level = "error",
        fault: bool = False,
        private: bool = False,
    ) -> None:
        """Shows a message.

        `retry`: with a button to try again. `backend`: with a button that opens the connection of the model that was
        refused, with `secondary` the comparison model. `topic`: replaces the message on this topic, and of the same
        `secondary`. `offer`: with a button of this text that calls this function. `fault`: the program's own, with a
        button that opens the log. `private`: may contain what was said (a title, a file's name), and is not logged.
        """
        _log.info("told the user: %s", "(part of a conversation)" if private else sentence)
        text, action = offer or ("", None)
        message = Message(sentence, retry, backend, secondary, topic, text, level, fault and self.with_log)
        for row in self.rows:
            if row.message.same(message):
                if _RANKS[level] > _RANKS[row.level]:
                    row.set_level(level)
                    row.reading.setInterval(0)
                row.count_again()
                return
        if topic:
            self._drop_if(lambda row: (row.message.topic, row.message.secondary) == (topic, secondary))
        if len(self.rows) < MOST or self._make_room(level):
            row = self._add(message)
            if action is not None:
                row.offer_taken.connect(action)

    def _add(self, message: Message) -> MessageRow:
        row = MessageRow(message, self)
        backend = message.backend
        row.backend_button.setVisible(self.with_service and backend is not None and backend.provider in MODELLED)
        row.backend_wanted.connect(lambda: self.backend_wanted.emit(backend, message.secondary))
        row.closed.connect(lambda: self._drop(row))
        row.retried.connect(self.retried)
        row.log_wanted.connect(self.log_wanted)
        row.reading.timeout.connect(lambda: self._on_read(row))
        before = self.rows[-1].close_button if self.rows else self._tab_predecessor()
        self.rows.append(row)
        self._layout.addWidget(row)
        if before is not None:
            for button in row.buttons:  # Tab follows the order on screen, not the order of creation
                QWidget.setTabOrder(before, button)
                before = button
        row.show()
        self.show()
        if message.level == "notice" and not message.offer:  # what is offered waits for an answer
            row.reading.setInterval(self.reading_ms(message.sentence))
            row.restart_reading()
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))
        return row

    def sentences(self) -> list[str]:
        """The sentences that are shown."""
        return [row.sentence for row in self.rows]

    def take_focus(self) -> bool:
        """Focuses the newest message's first button; False without one. Escape closes it and restores the focus."""
        if not self.rows:
            return False
        button = next(button for button in self.rows[-1].buttons if button.isVisibleTo(self))
        button.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def close_newest(self) -> None:
        """Closes the newest message, if there is one."""
        if self.rows:
            self._drop(self.rows[-1])

    def clear_retries(self) -> None:
        """Removes the messages that offer to try again."""
        self._drop_if(lambda row: row.message.retry)

    def clear_refusals(self, *, secondary: bool = False) -> None:
        """Removes the messages about a refused model, or comparison model: another one is in use now."""
        self._drop_if(lambda row: row.message.backend is not None and row.message.secondary == secondary)

    def clear_topic(self, topic: str) -> None:
        """Removes the messages on a topic: the problem is solved."""
        self._drop_if(lambda row: row.message.topic == topic)

    def solved(self, *topics: str) -> None:
        """Removes the messages on these topics: the problems are solved."""
        self._drop_if(lambda row: row.message.topic in topics and bool(row.message.topic))

    def clear_talk(self) -> None:
        """Removes the messages about the last session."""
        self._drop_if(lambda row: row.message.topic in SESSION_TOPICS)

    def _tab_predecessor(self) -> QWidget | None:
        """The widget before this bar in the order of Tab."""
        other = self.previousInFocusChain()
        while other is not None and other is not self and other is not self.window():
            if other.focusPolicy() & Qt.FocusPolicy.TabFocus and not self.isAncestorOf(other):
                return other
            other = other.previousInFocusChain()
        return None

    def _make_room(self, level: Level) -> bool:
        """Drops the least important message; False if a notice would displace something worse."""
        # Of equal levels, a message that offers to try again stays longest, then a newer one.
        row = min(self.rows, key=lambda row: (_RANKS[row.level], row.message.retry))
        if level == "notice" and row.level != "notice":
            return False
        self._drop(row)
        return True

    def _on_read(self, row: MessageRow) -> None:
        window = self.window()
        if window.isVisible() and not window.isMinimized():
            self._drop(row)
        else:
            row.reading.start()  # it was not visible

    def _on_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.isAncestorOf(new):
            if old is not None and not self.isAncestorOf(old) and old.window() is self.window():
                self._focus_before = old
        elif new is not None:
            self._focus_before = None
        for row in self.rows:
            row.restart_reading()

    def _drop_if(self, condition: Callable[[MessageRow], bool]) -> None:
        for row in list(self.rows):
            if condition(row):
                self._drop(row)

    def _drop(self, row: MessageRow) -> None:
        if row not in self.rows:
            return
        focus = QApplication.focusWidget()
        focused = focus is not None and row.isAncestorOf(focus)
        row.reading.stop()
        self.rows.remove(row)
        self._layout.removeWidget(row)
        if focused:
            # Not to the next widget in the order of Tab: keys pressed now were meant for where the user was before.
            if self.rows:
                self.rows[-1].close_button.setFocus()
            elif self._focus_before is not None:
                with suppress(RuntimeError):  # it was deleted meanwhile
                    self._focus_before.setFocus()
        row.hide()
        row.deleteLater()
        if not self.rows:
            self.hide()
