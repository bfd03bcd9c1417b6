"""The table of log entries, which follows the newest entry until the user scrolls away.

The inspector's Log page shows it, with a button that opens the search and diagnostics dialog.
"""

from __future__ import annotations

import logging

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.diagnostics.logs import Log
from app.gui.design.motion import timer
from app.gui.design.plain import named
from app.gui.logs.table_model import LEVEL, MESSAGE, TIME, WHERE, LogTable
from app.gui.widgets import form
from app.gui.widgets.buttons import SlimButton

UPDATE_MS = 500


class LogPage(QWidget):
    """The inspector's Log page, which shows the entries of `source`. Polls for new ones while visible."""

    dialog_wanted = Signal()

    def __init__(self, source: Log, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = LogTable(source, self)
        self.view = LogView(self.table, self)
        self.open_button = named(SlimButton(self.tr("&Search and diagnostics…"), self), self.tr("Open the whole log"))
        self.open_button.clicked.connect(self.dialog_wanted)
        form.column((self.view, 1), form.row(None, self.open_button), within=self, spacing=4, margins=(0, 0, 0, 4))
        self._timer = timer(self, UPDATE_MS, self.view.catch_up, repeats=True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.view.catch_up()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()


class LogView(QTableView):
    """The table widget for a `LogTable`. `following_changed` emits the new value of `following`."""

    following_changed = Signal(bool)

    def __init__(self, table: LogTable, parent: QWidget) -> None:
        super().__init__(parent)
        self._table = table
        self.following = True
        """Whether the table scrolls to new entries. True until the user scrolls away from the newest one."""
        self.setModel(table)
        self.setAccessibleName(self.tr("Log entries"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.verticalHeader().hide()
        heads = named(self.horizontalHeader(), self.tr("Columns of the log"))
        heads.setHighlightSections(False)
        heads.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._set_sizes()

    def catch_up(self) -> None:
        """Shows the entries logged since the last call. If the user has scrolled away, keeps the scroll position."""
        bar = self.verticalScrollBar()
        position, following = bar.value(), self.following
        with QSignalBlocker(bar):
            removed = self._table.catch_up()
            if not following:
                bar.setValue(max(0, position - removed))
        if following:
            self.follow()

    def follow(self) -> None:
        """Scrolls to the newest entry and starts following."""
        self.scrollToBottom()
        self._set_following(True)

    def selected_rows(self) -> list[int]:
        """Returns the indices of the selected rows, from top to bottom."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def select_newest_error(self) -> None:
        """Selects the newest error, if any, and scrolls to it."""
        rows = range(self._table.rowCount() - 1, -1, -1)
        row = next((row for row in rows if self._table.entry(row).level >= logging.ERROR), None)
        if row is not None:
            self.selectRow(row)
            self.scrollTo(self._table.index(row, TIME))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the newest entry in view while following."""
        following = self.following
        super().resizeEvent(event)
        if following:
            self.follow()

    def changeEvent(self, event: QEvent) -> None:
        """Adjusts row heights and column widths when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_table"):
            self._set_sizes()

    def _on_scrolled(self) -> None:
        bar = self.verticalScrollBar()
        self._set_following(bar.value() >= bar.maximum())

    def _set_following(self, following: bool) -> None:
        self.following = following
        self.following_changed.emit(following)

    def _set_sizes(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 6)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column, widest in ((TIME, "00:00:00.000"), (LEVEL, self.tr("Warning")), (WHERE, "app.session.frame_loop")):
            self.setColumnWidth(column, metrics.horizontalAdvance(widest) + 20)
