"""The words in the list of conversations: headings by day, titles, dates, tool tips, and what screen readers say."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR

from PySide6.QtCore import QDate, QDateTime, QLocale, QObject, QTime

from app.history.base import LONGEST_TITLE, ConversationView
from app.platform.local_time import local_date, local_datetime
from app.untrusted.text import one_line

SECTIONS = {"today": 0, "yesterday": 1, "week": 7, "month": 30}
"""The list's sections, and the greatest age in days of what is in them; all older ones are “earlier”."""

_UNMARKED = {2: None, 3: None}
"""Removes the marks around what a search has found."""


class Days:
    """The days around `now` (seconds since 1970), in this machine's time zone."""

    def __init__(self, now: float) -> None:
        self.today = local_date(now)

    def section(self, moment: float) -> str:
        """Which section a moment belongs to; the future counts as today."""
        ago = (self.today - local_date(moment)).days
        return next((name for name, days in SECTIONS.items() if ago <= days), "earlier")


class RowTexts(QObject):
    """Made when they are asked for, with the present `days` and `locale`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.days = Days(0.0)
        self.locale = QLocale()

    def heading(self, section: str) -> str:
        """The heading of a section: a key of `SECTIONS`, "earlier" or "pinned"."""
        return {
            "pinned": self.tr("Pinned"),
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "month": self.tr("Last 30 days"),
            "earlier": self.tr("Earlier"),
        }[section]

    def spoken_folder(self, folder: str, count: int, is_open: bool) -> str:
        """What screen readers say of a folder's heading."""
        many = self.tr("1 conversation") if count == 1 else self.tr("{0} conversations").format(count)
        return ", ".join(
            (self.tr("Folder {0}").format(folder), many, self.tr("open") if is_open else self.tr("closed"))
        )

    def title(self, view: ConversationView) -> str:
        """A conversation's title on one line."""
        return title_of(view) or self.tr("Untitled")

    def detail(self, view: ConversationView) -> str:
        """When it was changed last, and its last model."""
        return " · ".join(filter(None, (self._when(view.changed), _model(view))))

    def tip(self, view: ConversationView) -> str:
        """The lines of a tooltip."""
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
            return ""  # an imported file may hold any date
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
    """A conversation's title on one line; empty if it has none."""
    return one_line(view.title, LONGEST_TITLE)


def _model(view: ConversationView) -> str:
    """The model that answered last, or is to answer first, without its owner: narrow panes have little room."""
    model = view.backends[-1] if view.backends else view.setup.backend.model
    return one_line(model.rpartition("/")[2] or model, LONGEST_TITLE)
