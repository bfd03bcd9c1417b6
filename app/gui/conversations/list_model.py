"""The kept conversations as a list model: newest first, under headings by day, and changed row by row.

Knows no widget, and nothing of who keeps them. What a row says of its date is made when it is asked for.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTime,
    Signal,
)

from app.gui.widgets.list_steps import steps_between
from app.history.base import ConversationView
from app.platform.local_time import local_date, local_datetime

_Index = QModelIndex | QPersistentModelIndex

_SECTIONS = {"today": 0, "yesterday": 1, "week": 7, "month": 30}
"""The list's parts, and how many days ago what is in them happened at most; all before is “earlier”."""


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation, or without a `view` the heading of a section. `name` tells it from all others."""

    name: str
    view: ConversationView | None = None


class Days:
    """The days about `now` (seconds since 1970), in the zone of this machine."""

    def __init__(self, now: float) -> None:
        self.today = local_date(now)

    def section(self, moment: float) -> str:
        """Which part of the list a moment belongs to; what is yet to come counts as today."""
        ago = (self.today - local_date(moment)).days
        for name, days in _SECTIONS.items():
            if ago <= days:
                return name
        return "earlier"


class ConversationList(QAbstractListModel):
    """`show` has it show these; `renamed` says that the user has typed a title (empty: the one made from its words).

    Headings can't be picked. The model shows a typed title at once; what else comes of it is for others to find out.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.current = ""
        """The conversation that the window shows."""
        self.live = ""
        """The conversation in which a talk runs."""
        self._days = Days(0.0)
        self._locale = QLocale()

    # -- changing what is shown

    def show(self, views: Iterable[ConversationView], now: float, locale: QLocale) -> None:
        """Shows these. `now`: seconds since 1970, by which days are told apart."""
        days = Days(now)
        rows = list(_with_headings(views, days))
        dated_anew = days.today != self._days.today or locale != self._locale
        self._days, self._locale = days, locale
        steps = steps_between([row.name for row in self.rows], [row.name for row in rows])
        if steps is None:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
            return
        for first, last in reversed(steps.gone):
            self.beginRemoveRows(QModelIndex(), first, last)
            del self.rows[first : last + 1]
            self.endRemoveRows()
        for place, to in steps.moves:
            self.beginMoveRows(QModelIndex(), place, place, QModelIndex(), to)
            self.rows.insert(to, self.rows.pop(place))
            self.endMoveRows()
        for first, last in steps.new:
            self.beginInsertRows(QModelIndex(), first, last)
            self.rows[first:first] = rows[first : last + 1]
            self.endInsertRows()
        changed = [place for place, row in enumerate(rows) if self.rows[place] != row]
        self.rows = rows
        for place in changed:
            self._tell_changed(place, place)
        if dated_anew:
            self._tell_all_changed()

    def mark(self, *, current: str | None = None, live: str | None = None) -> None:
        """Marks the conversation that is open, or the one with a talk in it; empty for none."""
        before = {self.current, self.live}
        self.current = self.current if current is None else current
        self.live = self.live if live is None else live
        for key in before ^ {self.current, self.live} | {self.current, self.live}:
            if (place := self.place(key)) >= 0:
                self._tell_changed(place, place)

    def grow_old(self, now: float) -> None:
        """Shows today as yesterday once it is."""
        if local_date(now) != self._days.today:
            self.show([row.view for row in self.rows if row.view is not None], now, self._locale)

    # -- what a row says

    def place(self, key: str) -> int:
        """The row of a conversation; -1 when it isn't shown."""
        return next((place for place, row in enumerate(self.rows) if row.view is not None and row.name == key), -1)

    def view(self, key: str) -> ConversationView | None:
        """A conversation that is shown."""
        place = self.place(key)
        return self.rows[place].view if place >= 0 else None

    def key(self, index: _Index) -> str:
        """The conversation at an index; empty for a heading, or nothing."""
        row = self.rows[index.row()] if index.isValid() else None
        return row.name if row is not None and row.view is not None else ""

    def heading(self, row: Row) -> str:
        """The words of a section's heading."""
        return {
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "month": self.tr("Last 30 days"),
            "earlier": self.tr("Earlier"),
        }[row.name.removeprefix(_HEADING)]

    def title(self, view: ConversationView) -> str:
        """Its title, in one line."""
        return " ".join(view.title.split()) or self.tr("Untitled")

    def detail(self, view: ConversationView) -> str:
        """When it went on last, and which brain was heard last."""
        return " · ".join(filter(None, (self._when(view.changed), _backend(view))))

    def _when(self, moment: float) -> str:
        at = local_datetime(moment)
        if at.year in (MINYEAR, MAXYEAR):
            return ""  # a file that was brought in may say anything
        day = QDate(at.year, at.month, at.day)
        clock = self._locale.toString(QTime(at.hour, at.minute), QLocale.FormatType.ShortFormat)
        days = (self._days.today - at.date()).days
        if days == 0:
            return self.tr("Today {0}").format(clock)
        if days == 1:
            return self.tr("Yesterday {0}").format(clock)
        if 1 < days < 7:
            return f"{self._locale.standaloneDayName(day.dayOfWeek())} {clock}"
        if at.year == self._days.today.year:
            return self._locale.toString(day, self.tr("d MMMM"))
        return self._locale.toString(day, self.tr("d MMMM yyyy"))

    def _tip(self, view: ConversationView) -> str:
        parts = [self.title(view)]
        moment = QDateTime.fromSecsSinceEpoch(int(view.changed))
        parts.append(self._locale.toString(moment, QLocale.FormatType.ShortFormat))
        if view.turns:
            turns = self.tr("1 turn") if view.turns == 1 else self.tr("{0} turns").format(view.turns)
            parts.append(turns + (self.tr(", with sound") if view.sound else ""))
        if view.backends:
            parts.append(", ".join(view.backends))
        # As rich text, since a title may look like it, and would be taken for it.
        return "<qt>" + "<br>".join(html.escape(part) for part in parts) + "</qt>"

    def _spoken(self, view: ConversationView) -> str:
        """A row in the words of a screen reader."""
        parts = [self.title(view), self._when(view.changed), _backend(view)]
        if view.key == self.current:
            parts.append(self.tr("open"))
        if view.key == self.live:
            parts.append(self.tr("a talk is under way"))
        if view.snippet:
            parts.append(view.snippet.translate(_UNMARKED))
        return ", ".join(filter(None, parts))

    def _tell_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    def _tell_all_changed(self) -> None:
        if self.rows:
            self._tell_changed(0, len(self.rows) - 1)

    # -- Qt's own

    def rowCount(self, parent: _Index | None = None) -> int:
        """How many rows there are, with the headings."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Only conversations can be picked."""
        flags = Qt.ItemFlag
        if not index.isValid() or self.rows[index.row()].view is None:
            return flags.NoItemFlags
        return flags.ItemIsEnabled | flags.ItemIsSelectable | flags.ItemIsEditable | flags.ItemNeverHasChildren

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a row says, to eyes and to ears."""
        if not index.isValid():
            return None
        row, roles = self.rows[index.row()], Qt.ItemDataRole
        if row.view is None:
            return self.heading(row) if role in (roles.DisplayRole, roles.AccessibleTextRole) else None
        match role:
            case roles.DisplayRole:
                return self.title(row.view)
            case roles.EditRole:
                return " ".join(row.view.title.split())
            case roles.ToolTipRole:
                return self._tip(row.view)
            case roles.AccessibleTextRole:
                return self._spoken(row.view)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Takes a title over; what was not changed stays as it was made."""
        view = self.rows[index.row()].view if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or view is None:
            return False
        text = " ".join(str(value).split())
        if text == " ".join(view.title.split()) or (not text and not view.named):
            return True
        if text:
            self.rows[index.row()] = Row(view.key, replace(view, title=text, named=True))
            self._tell_changed(index.row(), index.row())
        self.renamed.emit(view.key, text)
        return True


_HEADING = "\0"
_UNMARKED = {2: None, 3: None}


def _backend(view: ConversationView) -> str:
    """The brain that was heard last, or else is to be, without whose it is: narrow panes have little room."""
    model = view.backends[-1] if view.backends else view.setup.backend.model
    return model.rpartition("/")[2] or model


def _with_headings(views: Iterable[ConversationView], days: Days) -> Iterator[Row]:
    section = ""
    for view in sorted(views, key=lambda view: view.changed, reverse=True):
        if (mine := days.section(view.changed)) != section:
            section = mine
            yield Row(_HEADING + section)
        yield Row(view.key, view)
