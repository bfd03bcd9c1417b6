"""Messages above the conversation, which disappear once resolved, read or closed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.conversation.events import About
from app.conversation.sound_processing import DeviceKind
from app.gui.shell.message_row import Level, Message, MessageRow, reading_ms
from app.gui.state.choice import MODELLED
from app.gui.widgets.form import column
from app.session.control import BackendChoice

MOST = 3

SESSION_TOPICS = frozenset(get_args(About) + get_args(DeviceKind)) - {""}
"""Topics of messages about a session, which are removed when the next session starts."""

_RANKS: dict[Level, int] = {"notice": 0, "warning": 1, "error": 2}

_log = logging.getLogger(__name__)


class MessageBar(QWidget):
    """Shows at most `MOST` messages, the newest at the bottom. Repeated messages are counted, not shown twice."""

    retried = Signal()
    backend_wanted = Signal(object, bool)
    """Requests the connection dialog for a `BackendChoice`; the bool says whether it is the comparison model."""
    log_wanted = Signal()
    """Requests the log, after an error in the program."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.with_service = False
        """Whether a connection dialog is available."""
        self.with_log = True
        """Whether a log is available."""
        self.reading_ms: Callable[[str], int] = reading_ms
        """Returns how many milliseconds a notice without an offer is shown."""
        self.rows: list[MessageRow] = []
        self._focus_before: QWidget | None = None
        self._layout = column(within=self, spacing=4)
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
        """Shows a message. A notice is dropped if the bar is full of more important messages.

        - `sentence`: the text
        - `retry`: adds a button to try again
        - `backend`: the model that refused a request; adds a button that opens its connection settings
        - `secondary`: `backend` is the comparison model
        - `topic`: replaces any message with the same topic and `secondary`
        - `offer`: text and callback of another button
        - `level`: see `Level`
        - `fault`: caused by an error in the program; adds a button that opens the log
        - `private`: may reveal part of a conversation (a title or file name), so it isn't logged
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
            for button in row.buttons:  # make Tab follow the order on screen, not of creation
                QWidget.setTabOrder(before, button)
                before = button
        row.show()
        self.show()
        if message.level == "notice" and not message.offer:  # an offer stays until it is answered
            row.reading.setInterval(self.reading_ms(message.sentence))
            row.restart_reading()
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))
        return row

    def sentences(self) -> list[str]:
        """Returns the texts of the visible messages."""
        return [row.sentence for row in self.rows]

    def take_focus(self) -> bool:
        """Focuses the newest message's first button. Returns False if there are no messages.

        Escape then closes the message and restores the previous focus.
        """
        if not self.rows:
            return False
        button = next(button for button in self.rows[-1].buttons if button.isVisibleTo(self))
        button.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def close_newest(self) -> None:
        """Closes the newest message, if any."""
        if self.rows:
            self._drop(self.rows[-1])

    def clear_retries(self) -> None:
        """Removes the messages that offer to try again."""
        self._drop_if(lambda row: row.message.retry)

    def clear_refusals(self, *, secondary: bool = False) -> None:
        """Removes messages about a refused model, or comparison model if `secondary`, after it was replaced."""
        self._drop_if(lambda row: row.message.backend is not None and row.message.secondary == secondary)

    def clear_topic(self, topic: str) -> None:
        """Removes the messages with this topic."""
        self._drop_if(lambda row: row.message.topic == topic)

    def solved(self, *topics: str) -> None:
        """Removes the messages with any of these topics, ignoring empty ones."""
        self._drop_if(lambda row: row.message.topic in topics and bool(row.message.topic))

    def clear_talk(self) -> None:
        """Removes the messages about the previous session."""
        self._drop_if(lambda row: row.message.topic in SESSION_TOPICS)

    def _tab_predecessor(self) -> QWidget | None:
        """Returns the widget before this bar in the tab order, if any."""
        other = self.previousInFocusChain()
        while other is not None and other is not self and other is not self.window():
            if other.focusPolicy() & Qt.FocusPolicy.TabFocus and not self.isAncestorOf(other):
                return other
            other = other.previousInFocusChain()
        return None

    def _make_room(self, level: Level) -> bool:
        """Drops the least important message. Returns False if a notice would displace a more important one."""
        # Among messages of the same level, keep those with a retry button, then newer ones.
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
            row.reading.start()  # the message wasn't visible

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
            # Don't move to the next widget in the tab order: the next keys are meant for the previous focus.
            if self.rows:
                self.rows[-1].close_button.setFocus()
            elif self._focus_before is not None:
                with suppress(RuntimeError):  # the widget has been deleted
                    self._focus_before.setFocus()
        row.hide()
        row.deleteLater()
        if not self.rows:
            self.hide()
