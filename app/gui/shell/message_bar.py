"""Messages above the conversation. Each disappears when its problem is solved, or when it is read or closed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.sentences import in_window_language
from app.gui.shell.message_row import Level, MessageRow, Offer, reading_ms
from app.gui.widgets.form import column

MOST = 3

_RANKS: dict[Level, int] = {"notice": 0, "warning": 1, "error": 2}

_log = logging.getLogger(__name__)


class MessageBar(QWidget):
    """A bar with up to `MOST` messages, the newest at the bottom. A repeated message only increments a counter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self, sentence: str, *offers: Offer, topic: str = "", level: Level = "error", private: bool = False
    ) -> None:
        """Shows a message, unless it is a notice and the bar is full of more important messages.

        - `sentence`: the text of the message; one of the core's is shown in the window's language
        - `offers`: its buttons
        - `topic`: if given, the message replaces any other with the same topic
        - `level`: see `Level`
        - `private`: whether the text may reveal part of a conversation, such as its title; if so, it isn't logged
        """
        _log.info("told the user: %s", "(part of a conversation)" if private else sentence)
        sentence = in_window_language(sentence)
        for row in self.rows:
            if (row.sentence, row.topic) == (sentence, topic):
                if _RANKS[level] > _RANKS[row.level]:
                    row.set_level(level)
                    row.reading.setInterval(0)
                row.count_again()
                return
        if topic:
            self.clear_topic(topic)
        if len(self.rows) < MOST or self._make_room(level):
            self._add(MessageRow(sentence, offers, level, topic, self))

    def _add(self, row: MessageRow) -> None:
        row.closed.connect(lambda: self._drop(row))
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
        if row.level == "notice" and not row.offers:  # a notice with an offer stays until the user responds
            row.reading.setInterval(self.reading_ms(row.sentence))
            row.restart_reading()
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))

    def sentences(self) -> list[str]:
        """Returns the text of each visible message."""
        return [row.sentence for row in self.rows]

    def take_focus(self) -> bool:
        """Focuses the first button of the newest message. Returns False if there are no messages.

        Escape then closes the message and restores the previous focus.
        """
        if not self.rows:
            return False
        self.rows[-1].buttons[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def close_newest(self) -> None:
        """Closes the newest message, if any."""
        if self.rows:
            self._drop(self.rows[-1])

    def clear_topic(self, *topics: str) -> None:
        """Removes the messages with these topics."""
        for row in [row for row in self.rows if row.topic in topics]:
            self._drop(row)

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
        # Among messages of the same level, prefer to keep those with a button, then newer ones.
        row = min(self.rows, key=lambda row: (_RANKS[row.level], bool(row.offers)))
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
