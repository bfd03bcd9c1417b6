"""A list model of the saved conversations, grouped under headings.

Pinned conversations come first, then folders, then the remaining conversations under date headings. Updates are applied
as removals, moves and insertions of rows, so that views keep their selection and scroll position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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

from app.gui.design.plain import tip
from app.history.base import LONGEST_TITLE, ConversationView
from app.platform.local_time import local_date, local_datetime
from app.untrusted.text import one_line

_FOLDER = "folder:"


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation or, if `view` is None, a heading.

    - `name`: unique identifier: the conversation's key, or the name of the section or folder
    - `folder`: for the heading of a folder, the folder's name
    - `count`: number of conversations in the folder
    - `open`: whether the folder is open, so that its conversations are shown
    """

    name: str
    view: ConversationView | None = None
    folder: str = ""
    count: int = 0
    open: bool = True


def folders_of(views: Iterable[ConversationView]) -> list[str]:
    """Returns the names of all folders in alphabetical order."""
    return sorted({view.folder for view in views if view.folder}, key=lambda name: (name.casefold(), name))


def rows_of(views: Collection[ConversationView], days: Days, opened: Collection[str] | None) -> Iterator[Row]:
    """Yields the rows in display order. `opened`: the names of the open folders; None opens all."""
    newest_first = sorted(views, key=lambda view: view.changed, reverse=True)
    pinned = [view for view in newest_first if view.pinned]
    if pinned:
        yield Row("pinned")
        yield from (Row(view.key, view) for view in pinned)
    others = [view for view in newest_first if not view.pinned]
    for folder in folders_of(others):
        inside = [view for view in others if view.folder == folder]
        is_open = opened is None or folder in opened
        yield Row(_FOLDER + folder, None, folder, len(inside), is_open)
        if is_open:
            yield from (Row(view.key, view) for view in inside)
    section = ""
    for view in others:
        if view.folder:
            continue
        if days.section(view.changed) != section:
            section = days.section(view.changed)
            yield Row(section)
        yield Row(view.key, view)


SECTIONS = {"today": 0, "yesterday": 1, "week": 7, "month": 30}
"""Maximum age in days for each date section. Older conversations are in the section "earlier"."""

_UNMARKED = {2: None, 3: None}
"""A translation table that removes the control characters around search matches."""


class Days:
    """Maps times to date sections relative to `now`.

    Times are in seconds since 1970, and days begin at midnight in the local time zone.
    """

    def __init__(self, now: float) -> None:
        self.today = local_date(now)

    def section(self, moment: float) -> str:
        """Returns the section for a time. Times in the future belong to "today"."""
        ago = (self.today - local_date(moment)).days
        return next((name for name, days in SECTIONS.items() if ago <= days), "earlier")


class RowTexts(QObject):
    """Builds the text of the rows from the current `days` and `locale`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.days = Days(0.0)
        self.locale = QLocale()

    def heading(self, section: str) -> str:
        """Returns the heading of a section: a key of `SECTIONS`, "earlier" or "pinned"."""
        return {
            "pinned": self.tr("Pinned"),
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "month": self.tr("Last 30 days"),
            "earlier": self.tr("Earlier"),
        }[section]

    def spoken_folder(self, folder: str, count: int, is_open: bool) -> str:
        """Returns the accessible text of a folder's heading."""
        many = self.tr("1 conversation") if count == 1 else self.tr("{0} conversations").format(count)
        return ", ".join(
            (self.tr("Folder {0}").format(folder), many, self.tr("open") if is_open else self.tr("closed"))
        )

    def title(self, view: ConversationView) -> str:
        """Returns a conversation's title as a single line, or a placeholder if it has none."""
        return title_of(view) or self.tr("Untitled")

    def detail(self, view: ConversationView) -> str:
        """Returns the time of a conversation's last change and its last model."""
        return " · ".join(filter(None, (self._when(view.changed), _model(view))))

    def tip(self, view: ConversationView) -> str:
        """Returns the tooltip text of a conversation."""
        parts = [self.title(view)]
        moment = QDateTime.fromSecsSinceEpoch(int(view.changed))
        parts.append(self.locale.toString(moment, QLocale.FormatType.ShortFormat))
        if view.turns:
            turns = self.tr("1 turn") if view.turns == 1 else self.tr("{0} turns").format(view.turns)
            parts.append(turns + (self.tr(", with sound") if view.sound else ""))
        if view.backends:
            parts.append(", ".join(one_line(model, LONGEST_TITLE) for model in view.backends))
        return "\n".join(parts)

    def spoken(self, view: ConversationView, *, is_open: bool, is_live: bool) -> str:
        parts = [self.title(view), self._when(view.changed), _model(view)]
        if is_open:
            parts.append(self.tr("open"))
        if view.pinned:
            parts.append(self.tr("pinned"))
        if is_live:
            parts.append(self.tr("running"))
        parts.append(view.snippet.translate(_UNMARKED))
        return ", ".join(filter(None, parts))

    def _when(self, moment: float) -> str:
        at = local_datetime(moment)
        if at.year in (MINYEAR, MAXYEAR):
            return ""  # an imported file can contain any date
        day = QDate(at.year, at.month, at.day)
        clock = self.locale.toString(QTime(at.hour, at.minute), QLocale.FormatType.ShortFormat)
        days = (self.days.today - at.date()).days
        if days == 0:
            return self.tr("Today {0}").format(clock)
        if days == 1:
            return self.tr("Yesterday {0}").format(clock)
        if 1 < days < 7:
            return f"{self.locale.standaloneDayName(day.dayOfWeek())} {clock}"
        if at.year == self.days.today.year:
            return self.locale.toString(day, self.tr("d MMMM"))
        return self.locale.toString(day, self.tr("d MMMM yyyy"))


def title_of(view: ConversationView) -> str:
    """Returns a conversation's title as a single line, or an empty string if it has none."""
    return one_line(view.title, LONGEST_TITLE)


def _model(view: ConversationView) -> str:
    """Returns the name of the model that answered last, or of the configured one.

    To save space, an owner prefix ("owner/model") is omitted.
    """
    model = view.backends[-1] if view.backends else view.setup.backend.model
    return one_line(model.rpartition("/")[2] or model, LONGEST_TITLE)


MOST_STEPS = 48
"""Maximum number of moves, and of removals and insertions together, in an update. Beyond it, for example after a
search, the model is reset instead.
"""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps that transform one list into another: removals, then moves, then insertions.

    - `gone`: inclusive ranges (first, last) to remove, as positions in the old list
    - `moves`: upward moves (from, to), to be applied sequentially
    - `new`: inclusive ranges (first, last) to insert, as positions in the new list
    """

    gone: tuple[tuple[int, int], ...]
    moves: tuple[tuple[int, int], ...]
    new: tuple[tuple[int, int], ...]


def steps_between(old: Sequence[str], new: Sequence[str]) -> Steps | None:
    """Returns the steps that transform one list of unique names into another.

    Returns None if the steps exceed `MOST_STEPS`, or if the lists have no names in common.
    """
    had, wanted = set(old), set(new)
    gone = _runs(place for place, name in enumerate(old) if name not in wanted)
    come = _runs(place for place, name in enumerate(new) if name not in had)
    left = [name for name in old if name in wanted]
    if not left or len(gone) + len(come) > MOST_STEPS:
        return None
    moves: list[tuple[int, int]] = []
    for place, name in enumerate(name for name in new if name in had):
        if left[place] != name:
            at = left.index(name, place)
            left.insert(place, left.pop(at))
            moves.append((at, place))
            if len(moves) > MOST_STEPS:
                return None
    return Steps(gone, tuple(moves), come)


def _runs(places: Iterable[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return tuple(runs)


_Index = QModelIndex | QPersistentModelIndex


class ConversationList(QAbstractListModel):
    """The list model of the saved conversations.

    `renamed` emits a key and the title entered by the user, which is empty to request an automatic title. The model
    shows a new title immediately, before it has been saved.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self._views: tuple[ConversationView, ...] = ()
        self._now = 0.0
        self._opened: set[str] = set()  # names of the open folders
        self._all_open = False
        self.current = ""
        """The key of the open conversation, or an empty string."""
        self.live = ""
        """The key of the conversation that has a running session, or an empty string."""
        self.texts = RowTexts(self)

    # -- updates

    def show(self, views: Iterable[ConversationView], now: float, locale: QLocale, *, all_open: bool = False) -> None:
        """Updates the rows to show `views`.

        - `now`: the current time in seconds since 1970
        - `locale`: the locale for formatting dates
        - `all_open`: whether to also show the contents of closed folders
        """
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
        """Opens or closes a folder."""
        (self._opened.add if is_open else self._opened.discard)(folder)
        self._show_again()

    def reveal(self, key: str) -> None:
        """Opens the folder that contains a conversation, if it is in one."""
        folder = next((view.folder for view in self._views if view.key == key), "")
        if folder and folder not in self._opened:
            self.open_folder(folder, True)

    def mark(self, *, current: str | None = None, live: str | None = None) -> None:
        """Marks a conversation as open (`current`) or as having a running session (`live`).

        An empty key removes the mark; None leaves it unchanged.
        """
        before = {self.current, self.live}
        if current and current != self.current:
            self.reveal(current)
        self.current = self.current if current is None else current
        self.live = self.live if live is None else live
        for key in before | {self.current, self.live}:
            if (place := self.place(key)) >= 0:
                self._emit_changed(place, place)

    def grow_old(self, now: float) -> None:
        """Updates headings and dates if a new day has begun. `now`: the current time in seconds since 1970."""
        if local_date(now) != self.texts.days.today:
            self._now = now
            self._show_again()

    def set_locale(self, locale: QLocale) -> None:
        """Sets the locale for formatting dates."""
        self.show(self._views, self._now, locale, all_open=self._all_open)

    def _show_again(self) -> None:
        self.show(self._views, self._now, self.texts.locale, all_open=self._all_open)

    # -- queries

    @property
    def folders(self) -> list[str]:
        """The names of all folders in alphabetical order."""
        return folders_of(self._views)

    def folder(self, index: _Index) -> Row | None:
        """Returns the folder heading at an index, or None for other rows and invalid indexes."""
        row = self.rows[index.row()] if index.isValid() else None
        return row if row is not None and row.folder else None

    def place(self, key: str) -> int:
        """Returns the row number of a conversation, or -1 if it isn't shown."""
        return next((place for place, row in enumerate(self.rows) if row.view is not None and row.name == key), -1)

    def view(self, key: str) -> ConversationView | None:
        """Returns a conversation, even if it is in a closed folder, or None if there is none with this key."""
        place = self.place(key)
        if place >= 0:
            return self.rows[place].view  # may have a new title that hasn't been saved yet
        return next((view for view in self._views if view.key == key), None)

    def key(self, index: _Index) -> str:
        """Returns the key of the conversation at an index, or an empty string for headings and invalid indexes."""
        row = self.rows[index.row()] if index.isValid() else None
        return row.name if row is not None and row.view is not None else ""

    def title(self, view: ConversationView) -> str:
        """Returns a conversation's title as a single line, or a placeholder if it has none."""
        return self.texts.title(view)

    def _emit_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # -- Qt overrides

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Makes headings unselectable, except for those of folders."""
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
        """Applies a title entered by the user and emits `renamed`, unless the title is unchanged."""
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
