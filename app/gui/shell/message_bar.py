"""Sentences for the user above the talk: what happened and what to do, gone when it is solved, read or closed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.conversation.events import About
from app.conversation.sound_processing import DeviceKind
from app.gui.shell.message_row import Level, MessageRow, reading_ms
from app.gui.state.choice import MODELLED
from app.session.control import BackendChoice

MOST = 3

TALK_TOPICS = frozenset(get_args(About) + get_args(DeviceKind)) - {""}
"""What a talk tells of: over when another one begins."""

_RANKS: dict[Level, int] = {"notice": 0, "warning": 1, "error": 2}

_log = logging.getLogger(__name__)


class MessageBar(QWidget):
    """At most a few messages, the newest at the bottom; the same sentence is never shown twice, but counted.

    A message with a topic takes the place of the one before it on that topic and that side.
    """

    retried = Signal()
    backend_wanted = Signal(object, bool)
    """The user wants to see about the `BackendChoice` that a message is about; whether it is the one at the side."""
    log_wanted = Signal()
    """The user wants to see what the program has noted down about a fault of its own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.with_service = False
        """Whether there is a dialog for brains, to lead to."""
        self.with_log = True
        """Whether there is a log to show."""
        self.reading_ms: Callable[[str], int] = reading_ms
        """How many milliseconds a notice stays."""
        self.rows: list[MessageRow] = []
        self._came_from: QWidget | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self.setAccessibleName(self.tr("Messages"))
        QApplication.instance().focusChanged.connect(self._focus_moved)
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
        """Shows a sentence; with `retry`, a button to try again; with `backend`, one that leads to the brain that was
        refused, the one at the side if `secondary`; with `offer`, a button with these words that does this; with `fault`,
        which is the program's own, one that leads to the log. A `notice` goes by itself once it may have been read.
        `private`: it may hold what was said (a title, a file's name), and is not noted down.
        """
        _log.info("told the user: %s", "(something of a conversation)" if private else sentence)
        for row in self.rows:
            if (row.sentence, row.retry, row.backend, row.secondary) == (sentence, retry, backend, secondary):
                if _RANKS[level] > _RANKS[row.level]:
                    row.set_level(level)
                    row.reading.setInterval(0)
                row.say_again()
                return
        if topic:
            self._drop_all(row for row in self.rows if (row.topic, row.secondary) == (topic, secondary))
        if len(self.rows) >= MOST and not self._make_room(level):
            return
        row = MessageRow(
            sentence,
            retry,
            backend,
            secondary,
            topic,
            offer[0] if offer is not None else "",
            self,
            level=level,
            fault=fault and self.with_log,
        )
        if offer is not None:
            row.offer_taken.connect(offer[1])
        row.backend_button.setVisible(self.with_service and backend is not None and backend.provider in MODELLED)
        row.backend_wanted.connect(lambda: self.backend_wanted.emit(backend, secondary))
        row.closed.connect(lambda: self._drop(row))
        row.retried.connect(self.retried)
        row.log_wanted.connect(self.log_wanted)
        row.reading.timeout.connect(lambda: self._read(row))
        before = self.rows[-1].close_button if self.rows else self._tabbed_before()
        self.rows.append(row)
        self._layout.addWidget(row)
        if before is not None:
            for button in row.buttons:  # where they are seen, and not behind all that the window had before
                QWidget.setTabOrder(before, button)
                before = button
        row.show()
        self.show()
        if level == "notice":
            row.reading.setInterval(self.reading_ms(sentence))
            row.stay(row.held)
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))

    def sentences(self) -> list[str]:
        """What is shown."""
        return [row.sentence for row in self.rows]

    def take_focus(self) -> bool:
        """Gives the keyboard to the newest message, at the first thing that can be done about it; False: none is
        shown. Escape closes it and gives the keyboard back.
        """
        if not self.rows:
            return False
        next(button for button in self.rows[-1].buttons if button.isVisibleTo(self)).setFocus(
            Qt.FocusReason.ShortcutFocusReason
        )
        return True

    def clear_retries(self) -> None:
        """Takes away what has been got over by a fresh start."""
        self._drop_all(row for row in self.rows if row.retry)

    def clear_refusals(self, *, secondary: bool = False) -> None:
        """Takes away what brains were refused for, on one side: another one has been taken there since."""
        self._drop_all(row for row in self.rows if row.backend is not None and row.secondary == secondary)

    def clear_topic(self, topic: str) -> None:
        """Takes away what was said on a topic: it has been got over."""
        self._drop_all(row for row in self.rows if row.topic == topic)

    def solved(self, *topics: str) -> None:
        """Takes away what was said on these topics: what they tell of works again."""
        self._drop_all(row for row in self.rows if row.topic in topics and row.topic)

    def clear_talk(self) -> None:
        """Takes away what was said about the last talk; what is about something else stays until that is solved."""
        self._drop_all(row for row in self.rows if row.topic in TALK_TOPICS)

    def _tabbed_before(self) -> QWidget | None:
        """What Tab reaches before this bar."""
        other = self.previousInFocusChain()
        while other is not self and other is not self.window():
            if other.focusPolicy() & Qt.FocusPolicy.TabFocus and not self.isAncestorOf(other):
                return other
            other = other.previousInFocusChain()
        return None

    def _make_room(self, level: Level) -> bool:
        """Drops what can be done without best; a notice takes the place of nothing that is worse."""
        # Of what is equally bad, what can still be acted on stays longest, then what is newer.
        row = min(self.rows, key=lambda row: (_RANKS[row.level], row.retry))
        if level == "notice" and row.level != "notice":
            return False
        self._drop(row)
        return True

    def _read(self, row: MessageRow) -> None:
        window = self.window()
        if window.isVisible() and not window.isMinimized():
            self._drop(row)
        else:
            row.reading.start()  # nobody can have read it

    def _focus_moved(self, old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and self.isAncestorOf(new):
            if old is not None and not self.isAncestorOf(old) and old.window() is self.window():
                self._came_from = old
        elif new is not None:
            self._came_from = None
        for row in self.rows:
            row.stay(row.held)

    def _drop_all(self, rows: Iterable[MessageRow]) -> None:
        for row in list(rows):
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
            # Not on to whatever comes next: a key that is pressed now was meant for where the user was.
            if self.rows:
                self.rows[-1].close_button.setFocus()
            elif self._came_from is not None:
                with suppress(RuntimeError):  # it has gone meanwhile
                    self._came_from.setFocus()
        row.hide()
        row.deleteLater()
        if not self.rows:
            self.hide()
