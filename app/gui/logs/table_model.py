"""A table model of the newest log entries, filtered by level and words."""

from __future__ import annotations

import logging
import time
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QApplication

from app.diagnostics.logs import Log, LogEntry
from app.gui.design.look import Look, blend
from app.gui.design.plain import tip

TIME, LEVEL, WHERE, MESSAGE = range(4)

_Index = QModelIndex | QPersistentModelIndex


class LogTable(QAbstractTableModel):
    """The entries of `source` that match the filter, oldest first. `catch_up` fetches new ones."""

    def __init__(self, source: Log, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._seen = 0
        self._all: list[LogEntry] = []
        self._shown: list[LogEntry] = []
        self._level = 0
        self._words: tuple[str, ...] = ()
        self._heads = (self.tr("Time"), self.tr("Level"), self.tr("Where"), self.tr("Message"))
        self._levels = {
            logging.DEBUG: self.tr("Detail"),
            logging.INFO: self.tr("Note"),
            logging.WARNING: self.tr("Warning"),
            logging.ERROR: self.tr("Error"),
            logging.CRITICAL: self.tr("Bug"),
        }

    @property
    def total(self) -> int:
        """The number of entries, including those that don't match the filter."""
        return len(self._all)

    def entry(self, row: int) -> LogEntry:
        """Returns the entry in a row."""
        return self._shown[row]

    def level_word(self, level: int) -> str:
        """Returns the display name of a level."""
        return self._levels[max((known for known in self._levels if known <= level), default=logging.DEBUG)]

    def set_filter(self, level: int, sought: str) -> None:
        """Filters for entries of at least `level` that contain every word in `sought`, ignoring case."""
        words = tuple(sought.lower().split())
        if (level, words) != (self._level, self._words):
            self._level, self._words = level, words
            self._reset()

    def catch_up(self) -> int:
        """Fetches new entries and removes those that `source` has dropped. Returns the number of rows removed."""
        newest = self._source.newest
        if newest == self._seen:
            return 0
        kept = list(self._source.entries())
        new = [entry for entry in kept if entry.number > self._seen and self._matches(entry)]
        continued = bool(kept and self._all and kept[0].number <= self._all[-1].number)
        self._seen = kept[-1].number if kept else newest
        self._all = kept
        if not continued:
            removed = len(self._shown)
            self._reset()
            return removed
        oldest = kept[0].number
        removed = next((row for row, entry in enumerate(self._shown) if entry.number >= oldest), len(self._shown))
        if removed:
            self.beginRemoveRows(QModelIndex(), 0, removed - 1)
            del self._shown[:removed]
            self.endRemoveRows()
        if new:
            first = len(self._shown)
            self.beginInsertRows(QModelIndex(), first, first + len(new) - 1)
            self._shown += new
            self.endInsertRows()
        return removed

    def _reset(self) -> None:
        self.beginResetModel()
        self._shown = [entry for entry in self._all if self._matches(entry)]
        self.endResetModel()

    def _matches(self, entry: LogEntry) -> bool:
        if entry.level < self._level:
            return False
        if not self._words:
            return True
        text = f"{entry.where}\n{entry.message}\n{entry.details}\n{entry.thread}".lower()
        return all(word in text for word in self._words)

    # -- Qt's model interface

    def rowCount(self, parent: _Index | None = None) -> int:
        """Returns the number of entries shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Returns the number of columns: time, level, where, message."""
        return 0 if parent is not None and parent.isValid() else len(self._heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Returns a column's title or alignment."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Returns a cell's text, colour or tooltip."""
        entry, column = self._shown[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                if column == TIME:
                    return clock(entry.at)
                if column == LEVEL:
                    return self.level_word(entry.level)
                return entry.where if column == WHERE else first_line(entry)
            case Qt.ItemDataRole.ForegroundRole:
                palette = QApplication.palette()
                look = Look.of(palette)
                if entry.level >= logging.ERROR and column in (LEVEL, MESSAGE):
                    return look.bad
                if entry.level >= logging.WARNING and column == LEVEL:
                    return blend(look.warn, look.text, 0.15 if look.dark else 0.5)
                return look.dim if column in (TIME, WHERE) or entry.level < logging.WARNING else None
            case Qt.ItemDataRole.ToolTipRole if column == WHERE:
                return tip(entry.where)
        return None


def clock(at: float) -> str:
    """Formats a Unix timestamp as local time of day, with milliseconds."""
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"


def first_line(entry: LogEntry) -> str:
    """Returns the first line of the message or, if that is empty, the last line of the details."""
    text = entry.message.strip() or entry.details.strip().rpartition("\n")[2]
    head, _, rest = text.partition("\n")
    return f"{head} …" if rest else head


def full_text(entry: LogEntry, level: str) -> str:
    """Formats an entry with all its details. `level` is the display name of its level."""
    date = time.strftime("%Y-%m-%d", time.localtime(entry.at))
    head = f"{date} {clock(entry.at)}  {level}  {entry.where}" + (f"  [{entry.thread}]" if entry.thread else "")
    return "\n".join(filter(None, (head, entry.message, entry.details.rstrip())))
