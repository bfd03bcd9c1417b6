"""The kept conversations as a list model with headings, changed row by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
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

from app.gui.conversations.row_texts import Days, RowTexts, title_of
from app.gui.conversations.sections import Row, folders_of, rows_of
from app.gui.design.plain import tip
from app.gui.widgets.list_steps import steps_between
from app.history.base import ConversationView
from app.platform.local_time import local_date

_Index = QModelIndex | QPersistentModelIndex


class ConversationList(QAbstractListModel):
    """`renamed` emits a key and the title that the user has typed, empty for the one made from the first words. The
    model shows a typed title at once; who saves it may change it again.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self._views: tuple[ConversationView, ...] = ()
        self._now = 0.0
        self._opened: set[str] = set()  # folders
        self._all_open = False
        self.current = ""
        """The key of the open conversation."""
        self.live = ""
        """The key of the conversation in which a session runs."""
        self.texts = RowTexts(self)

    # -- changing what is shown

    def show(self, views: Iterable[ConversationView], now: float, locale: QLocale, *, all_open: bool = False) -> None:
        """Shows these conversations. `now`: seconds since 1970. `all_open`: also those in closed folders."""
        self._views, self._now, self._all_open = tuple(views), now, all_open
        days = Days(now)
        rows = list(rows_of(self._views, days, None if all_open else self._opened))
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

    def open_folder(self, folder: str, is_open: bool) -> None:
        """Shows what is in a folder, or hides it."""
        (self._opened.add if is_open else self._opened.discard)(folder)
        self._show_again()

    def reveal(self, key: str) -> None:
        """Opens the folder in which a conversation is, if it is in one."""
        folder = next((view.folder for view in self._views if view.key == key), "")
        if folder and folder not in self._opened:
            self.open_folder(folder, True)

    def mark(self, *, current: str | None = None, live: str | None = None) -> None:
        """Marks the open conversation, or the one in which a session runs; empty for none, None: as before."""
        before = {self.current, self.live}
        if current and current != self.current:
            self.reveal(current)
        self.current = self.current if current is None else current
        self.live = self.live if live is None else live
        for key in before | {self.current, self.live}:
            if (place := self.place(key)) >= 0:
                self._emit_changed(place, place)

    def grow_old(self, now: float) -> None:
        """Updates the dates at midnight."""
        if local_date(now) != self.texts.days.today:
            self._now = now
            self._show_again()

    def set_locale(self, locale: QLocale) -> None:
        """Writes dates as this locale does."""
        self.show(self._views, self._now, locale, all_open=self._all_open)

    def _show_again(self) -> None:
        self.show(self._views, self._now, self.texts.locale, all_open=self._all_open)

    # -- what a row says

    @property
    def folders(self) -> list[str]:
        """The names of the folders that there are."""
        return folders_of(self._views)

    def folder(self, index: _Index) -> Row | None:
        """The heading of a folder at an index; None for other rows, or nothing."""
        row = self.rows[index.row()] if index.isValid() else None
        return row if row is not None and row.folder else None

    def place(self, key: str) -> int:
        """The row of a conversation; -1 if it is not shown."""
        return next((place for place, row in enumerate(self.rows) if row.view is not None and row.name == key), -1)

    def view(self, key: str) -> ConversationView | None:
        """A conversation, also one in a closed folder; None if it is not listed."""
        place = self.place(key)
        if place >= 0:
            return self.rows[place].view  # with a title that was typed just now
        return next((view for view in self._views if view.key == key), None)

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
        """Headings can't be selected, except those of folders."""
        flags = Qt.ItemFlag
        if self.folder(index) is not None:
            return flags.ItemIsEnabled | flags.ItemIsSelectable | flags.ItemNeverHasChildren
        if not index.isValid() or self.rows[index.row()].view is None:
            return flags.NoItemFlags
        return flags.ItemIsEnabled | flags.ItemIsSelectable | flags.ItemIsEditable | flags.ItemNeverHasChildren

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, roles = self.rows[index.row()], Qt.ItemDataRole
        if row.view is None and role == roles.AccessibleTextRole and row.folder:
            return self.texts.spoken_folder(row.folder, row.count, row.open)
        if row.view is None:
            heading = row.folder or self.texts.heading(row.name)
            return heading if role in (roles.DisplayRole, roles.AccessibleTextRole) else None
        match role:
            case roles.DisplayRole:
                return self.title(row.view)
            case roles.EditRole:
                return title_of(row.view)
            case roles.ToolTipRole:
                return tip(self.texts.tip(row.view), wrap=True)
            case roles.AccessibleTextRole:
                return self.texts.spoken(row.view, is_open=row.name == self.current, is_live=row.name == self.live)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Takes a typed title; one that was not changed stays as it was made."""
        view = self.rows[index.row()].view if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or view is None:
            return False
        text = " ".join(str(value).split())
        if text == title_of(view) or (not text and not view.named):
            return True
        if text:
            self.rows[index.row()] = Row(view.key, replace(view, title=text, named=True))
            self._emit_changed(index.row(), index.row())
        self.renamed.emit(view.key, text)
        return True
