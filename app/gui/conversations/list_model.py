"""The kept conversations as a list model: pinned ones, then the rest under headings by day; changed row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.gui.conversations.row_texts import Days, RowTexts
from app.gui.widgets.list_steps import steps_between
from app.history.base import ConversationView
from app.platform.local_time import local_date

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation, or without a `view` the heading of a section. `name` is unique: a key, or the section's name."""

    name: str
    view: ConversationView | None = None


class ConversationList(QAbstractListModel):
    """`renamed` emits a key and the title that the user has typed, empty for the one made from the first words. The
    model shows a typed title at once; who saves it may change it again.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.current = ""
        """The key of the open conversation."""
        self.live = ""
        """The key of the conversation in which a session runs."""
        self.texts = RowTexts(self)

    # -- changing what is shown

    def show(self, views: Iterable[ConversationView], now: float, locale: QLocale) -> None:
        """Shows these conversations. `now`: seconds since 1970."""
        days = Days(now)
        rows = list(_with_headings(views, days))
        new_dates = days.today != self.texts.days.today or locale != self.texts.locale
        self.texts.days, self.texts.locale = days, locale
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
            self._emit_changed(place, place)
        if new_dates and rows:
            self._emit_changed(0, len(rows) - 1)

    def mark(self, *, current: str | None = None, live: str | None = None) -> None:
        """Marks the open conversation, or the one in which a session runs; empty for none, None: as before."""
        before = {self.current, self.live}
        self.current = self.current if current is None else current
        self.live = self.live if live is None else live
        for key in before | {self.current, self.live}:
            if (place := self.place(key)) >= 0:
                self._emit_changed(place, place)

    def grow_old(self, now: float) -> None:
        """Updates the dates at midnight."""
        if local_date(now) != self.texts.days.today:
            self.show([row.view for row in self.rows if row.view is not None], now, self.texts.locale)

    # -- what a row says

    def place(self, key: str) -> int:
        """The row of a conversation; -1 if it is not shown."""
        return next((place for place, row in enumerate(self.rows) if row.view is not None and row.name == key), -1)

    def view(self, key: str) -> ConversationView | None:
        place = self.place(key)
        return self.rows[place].view if place >= 0 else None

    def key(self, index: _Index) -> str:
        """The conversation at an index; empty for a heading, or nothing."""
        row = self.rows[index.row()] if index.isValid() else None
        return row.name if row is not None and row.view is not None else ""

    def title(self, view: ConversationView) -> str:
        """A conversation's title on one line."""
        return self.texts.title(view)

    def _emit_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # -- Qt's own

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Headings can't be selected."""
        flags = Qt.ItemFlag
        if not index.isValid() or self.rows[index.row()].view is None:
            return flags.NoItemFlags
        return flags.ItemIsEnabled | flags.ItemIsSelectable | flags.ItemIsEditable | flags.ItemNeverHasChildren

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, roles = self.rows[index.row()], Qt.ItemDataRole
        if row.view is None:
            return self.texts.heading(row.name) if role in (roles.DisplayRole, roles.AccessibleTextRole) else None
        match role:
            case roles.DisplayRole:
                return self.title(row.view)
            case roles.EditRole:
                return " ".join(row.view.title.split())
            case roles.ToolTipRole:
                return self.texts.tip(row.view)
            case roles.AccessibleTextRole:
                return self.texts.spoken(row.view, is_open=row.name == self.current, is_live=row.name == self.live)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Takes a typed title; one that was not changed stays as it was made."""
        view = self.rows[index.row()].view if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or view is None:
            return False
        text = " ".join(str(value).split())
        if text == " ".join(view.title.split()) or (not text and not view.named):
            return True
        if text:
            self.rows[index.row()] = Row(view.key, replace(view, title=text, named=True))
            self._emit_changed(index.row(), index.row())
        self.renamed.emit(view.key, text)
        return True


def _with_headings(views: Iterable[ConversationView], days: Days) -> Iterator[Row]:
    section = ""
    for view in sorted(views, key=lambda view: (view.pinned, view.changed), reverse=True):
        its_section = "pinned" if view.pinned else days.section(view.changed)
        if its_section != section:
            section = its_section
            yield Row(section)
        yield Row(view.key, view)
