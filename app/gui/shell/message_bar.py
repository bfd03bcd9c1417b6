"""Messages above the conversation. Each disappears when its problem is solved, or when it is read or closed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.conversation.events import About, DeviceKind
from app.gui.shell.message_row import Level, Message, MessageRow, reading_ms
from app.gui.state.choice import MODELLED
from app.gui.widgets.form import column
from app.session.control import BackendChoice

MOST = 3

SESSION_TOPICS = frozenset(get_args(About) + get_args(DeviceKind)) - {""}
"""Topics of messages that concern a single session and are removed when the next session starts."""

_RANKS: dict[Level, int] = {"notice": 0, "warning": 1, "error": 2}

_log = logging.getLogger(__name__)


class MessageBar(QWidget):
    """A bar with up to `MOST` messages, the newest at the bottom. A repeated message only increments a counter."""

    retried = Signal()
    backend_wanted = Signal(object, bool)
    """Requests the connection dialog for a `BackendChoice`. The bool is True for the comparison model."""
    log_wanted = Signal()
    """Requests that the log be shown, after an internal error."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.with_service = False
        """Whether a connection dialog is available."""
        self.with_log = True
        """Whether a log is available."""
        self.reading_ms: Callable[[str], int] = reading_ms
        """Returns the display time, in milliseconds, of a notice without an offer."""
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
        """Shows a message, unless it is a notice and the bar is full of more important messages.

        - `sentence`: the text of the message
        - `retry`: whether to add a "Try again" button
        - `backend`: the model that rejected a request, if any; adds a button that opens its connection settings
        - `secondary`: whether `backend` is the comparison model
        - `topic`: if given, the message replaces any other with the same topic and `secondary`
        - `offer`: text and callback of an additional button
        - `level`: see `Level`
        - `fault`: whether the cause is an internal error; adds a button that opens the log
        - `private`: whether the text may reveal part of a conversation, such as its title; if so, it isn't logged
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
            for button in row.buttons:  # make Tab follow the visual order, not the order of creation
                QWidget.setTabOrder(before, button)
                before = button
        row.show()
        self.show()
        if message.level == "notice" and not message.offer:  # a notice with an offer stays until the user responds
            row.reading.setInterval(self.reading_ms(message.sentence))
            row.restart_reading()
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))
        return row

    def sentences(self) -> list[str]:
        """Returns the text of each visible message."""
        return [row.sentence for row in self.rows]

    def take_focus(self) -> bool:
        """Focuses the first button of the newest message. Returns False if there are no messages.

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
        """Removes the messages with a retry button."""
        self._drop_if(lambda row: row.message.retry)

    def clear_refusals(self, *, secondary: bool = False) -> None:
        """Removes messages about a model that rejected a request. Called when the model has been replaced.

        `secondary`: whether the comparison model has been replaced.
        """
        self._drop_if(lambda row: row.message.backend is not None and row.message.secondary == secondary)

    def clear_topic(self, topic: str) -> None:
        """Removes the messages with this topic."""
        self._drop_if(lambda row: row.message.topic == topic)

    def clear_talk(self) -> None:
        """Removes the messages that concern the previous session."""
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
        """Removes the least important message. Returns False if `level` is "notice" and all others rank higher."""
        # Among messages of the same level, prefer to keep those with a retry button, then newer ones.
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
            row.reading.start()  # the message wasn't visible, so restart its display time

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
            # Don't let Qt focus the next widget in the tab order: the user expects to return to the previous focus.
            if self.rows:
                self.rows[-1].close_button.setFocus()
            elif self._focus_before is not None:
                with suppress(RuntimeError):  # the widget has been deleted
                    self._focus_before.setFocus()
        row.hide()
        row.deleteLater()
        if not self.rows:
            self.hide()
