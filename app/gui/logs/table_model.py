"""The log's newest lines as a table: told apart by level and by words, and kept up with at little cost.

Knows nothing of who logs, nor of files.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QApplication

from app.gui.widgets.palette import Look, blend

TIME, LEVEL, WHERE, MESSAGE = range(4)

_Index = QModelIndex | QPersistentModelIndex


class LogLine(Protocol):
    """One line. `number` counts from 1; `at`: seconds since the epoch; `level`: as in `logging`; see `app.diagnostics.logs`."""

    @property
    def number(self) -> int: ...
    @property
    def at(self) -> float: ...
    @property
    def level(self) -> int: ...
    @property
    def where(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def details(self) -> str: ...
    @property
    def thread(self) -> str: ...


class LogSource(Protocol):
    """Where lines come from; all calls are quick."""

    @property
    def newest(self) -> int:
        """Changes with every line, and when the log is cleared."""
        ...

    @property
    def folder(self) -> Path | None:
        """Where the files are; None for none."""
        ...

    def entries(self, after: int = 0) -> Sequence[LogLine]:
        """The kept lines with a number above `after`, oldest first."""
        ...

    def clear(self) -> None:
        """Forgets the lines."""
        ...


class LogTable(QAbstractTableModel):
    """What of the lines of `source` has a `level` or worse and holds the words sought. `catch_up` asks for news."""

    def __init__(self, source: LogSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._seen = 0
        self._all: list[LogLine] = []
        self._shown: list[LogLine] = []
        self._level = 0
        self._words: tuple[str, ...] = ()
        self._heads = (self.tr("Time"), self.tr("Level"), self.tr("Where"), self.tr("Message"))
        self._levels = {
            logging.DEBUG: self.tr("Detail"),
            logging.INFO: self.tr("Note"),
            logging.WARNING: self.tr("Warning"),
            logging.ERROR: self.tr("Error"),
            logging.CRITICAL: self.tr("Fault"),
        }

    @property
    def total(self) -> int:
        """How many lines there are, shown or not."""
        return len(self._all)

    def line(self, row: int) -> LogLine:
        """The line that a row shows."""
        return self._shown[row]

    def level_word(self, level: int) -> str:
        """A level in a word."""
        return (
            self._levels.get(level)
            or self._levels[max((known for known in self._levels if known <= level), default=logging.DEBUG)]
        )

    def set_filter(self, level: int, sought: str) -> None:
        """Shows lines of `level` and worse that hold every one of the words sought, in whatever case."""
        words = tuple(sought.lower().split())
        if (level, words) != (self._level, self._words):
            self._level, self._words = level, words
            self._show_anew()

    def catch_up(self) -> int:
        """Takes over what is new; tells how many rows have gone at the top to make room."""
        newest = self._source.newest
        if newest == self._seen:
            return 0
        kept = self._source.entries()
        new = [line for line in kept if line.number > self._seen]
        self._seen = kept[-1].number if kept else newest
        if not kept or not self._all or kept[0].number > self._all[-1].number:
            self._all = list(kept)
            gone = len(self._shown)
            self._show_anew()
            return gone
        oldest = kept[0].number
        self._all = list(kept)
        gone = next((row for row, line in enumerate(self._shown) if line.number >= oldest), len(self._shown))
        if gone:
            self.beginRemoveRows(QModelIndex(), 0, gone - 1)
            del self._shown[:gone]
            self.endRemoveRows()
        fit = [line for line in new if self._fits(line)]
        if fit:
            at = len(self._shown)
            self.beginInsertRows(QModelIndex(), at, at + len(fit) - 1)
            self._shown += fit
            self.endInsertRows()
        return gone

    def _show_anew(self) -> None:
        self.beginResetModel()
        self._shown = [line for line in self._all if self._fits(line)]
        self.endResetModel()

    def _fits(self, line: LogLine) -> bool:
        if line.level < self._level:
            return False
        if not self._words:
            return True
        text = f"{line.where}\n{line.message}\n{line.details}\n{line.thread}".lower()
        return all(word in text for word in self._words)

    # -- Qt's own

    def rowCount(self, parent: _Index | None = None) -> int:
        """How many lines are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Time, level, where, message."""
        return 0 if parent is not None and parent.isValid() else len(self._heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The columns' names."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What stands in a cell, and in which colour."""
        line, column = self._shown[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                if column == TIME:
                    return clock(line.at)
                if column == LEVEL:
                    return self.level_word(line.level)
                return line.where if column == WHERE else first_line(line)
            case Qt.ItemDataRole.ForegroundRole:
                palette = QApplication.palette()
                look = Look.of(palette)
                if line.level >= logging.ERROR and column in (LEVEL, MESSAGE):
                    return look.bad
                if line.level >= logging.WARNING and column == LEVEL:
                    return blend(look.warn, look.text, 0.15 if look.dark else 0.5)
                return look.dim if column in (TIME, WHERE) or line.level < logging.WARNING else None
            case Qt.ItemDataRole.ToolTipRole if column == WHERE:
                return line.where
        return None


def clock(at: float) -> str:
    """A time of day, to the millisecond."""
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"


def first_line(line: LogLine) -> str:
    """What a row shows: the message's first line, or what the error behind it says if there is no message."""
    text = line.message.strip() or line.details.strip().rpartition("\n")[2]
    head, _, rest = text.partition("\n")
    return f"{head} …" if rest else head


def whole_text(line: LogLine, level: str) -> str:
    """Everything about a line, to be read or copied."""
    date = time.strftime("%Y-%m-%d", time.localtime(line.at))
    head = f"{date} {clock(line.at)}  {level}  {line.where}" + (f"  [{line.thread}]" if line.thread else "")
    return "\n".join(filter(None, (head, line.message, line.details.rstrip())))
