"""The panel “Log”: what the program has noted down, to be searched and copied, and diagnostics for whoever helps.

Knows the log by its protocol, and where diagnostics come from by a function.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QItemSelection, QSignalBlocker, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSplitter,
    QTableView,
    QWidget,
)

from app.gui.logs.table_model import LEVEL, MESSAGE, TIME, WHERE, LogSource, LogTable, whole_text
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Panel, Quiet

UPDATE_MS = 250
"""New lines are shown so often, and only while somebody may see them."""

SEARCH_MS = 120
"""A search waits until nothing has been typed for so long."""

Diagnose = Callable[[bool], Coroutine[Any, Any, str]]
"""Writes diagnostics, with what was said or without it; never with a key."""


class LogPanel(Panel):
    """Shows the lines of `source` while it is open. `diagnose` gives the text for “Copy diagnostics”."""

    def __init__(self, source: LogSource, diagnose: Diagnose, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Log"))
        self.setMinimumSize(620, 380)
        self._source = source
        self._diagnose = diagnose
        self._errands = background
        self._follows = True
        self.table = LogTable(source, self)
        self.level = QComboBox(self)
        self.search = QLineEdit(self)
        self.newest_button = self.button(self.tr("Go to the &newest"))
        self.view = QTableView(self)
        self.empty = Quiet(parent=self.view.viewport())
        self.details = QPlainTextEdit(self)
        self.copy_button = self.button(self.tr("&Copy lines"), self.tr("Copy the selected lines"))
        self.clear_button = self.button(self.tr("C&lear"), self.tr("Clear the log"))
        self.diagnostics_button = self.button(self.tr("Copy &diagnostics"))
        self.words = QCheckBox(self.tr("&with what was said"), self)
        self.folder_button = self.button(self.tr("&Open the log folder"))
        self.close_button = self.button(self.tr("Close"))
        self.answer = Quiet(parent=self)
        self._update_timer = QTimer(self, interval=UPDATE_MS)
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_MS)
        self._furnish()
        self._lay_out()
        self._connect()

    def open_log(self, *, fault: bool = False) -> None:
        """Appears with the newest lines; with `fault`, at the newest error among them."""
        if not self.isVisible():
            self._follows = True
            self.answer.clear()
        self.folder_button.setVisible(self._source.folder is not None)
        self.appear()
        self.view.setFocus()
        if fault:
            self.level.setCurrentIndex(0)
            self.search.clear()
            self._filter()
            self.catch_up()
            rows = range(self.table.rowCount() - 1, -1, -1)
            worst = next((row for row in rows if self.table.line(row).level >= logging.ERROR), None)
            if worst is not None:
                self.view.selectRow(worst)
                self.view.scrollTo(self.table.index(worst, TIME))

    def catch_up(self) -> None:
        """Shows what has been logged since; stays where the user has scrolled to."""
        bar = self.view.verticalScrollBar()
        place, follows = bar.value(), self._follows
        with QSignalBlocker(bar):
            gone = self.table.catch_up()
            if not follows:
                bar.setValue(max(0, place - gone))
        if follows:
            self.view.scrollToBottom()
            self._follows = True
        self._show_state()

    # -- doing

    def _filter(self) -> None:
        self._search_timer.stop()
        self.table.set_filter(int(self.level.currentData()), self.search.text())
        self.view.scrollToBottom()
        self._follows = True
        self._show_state()

    def _scrolled(self) -> None:
        bar = self.view.verticalScrollBar()
        self._follows = bar.value() >= bar.maximum()
        self.newest_button.setEnabled(not self._follows)

    def _go_to_newest(self) -> None:
        self._follows = True
        self.view.scrollToBottom()
        self.view.setFocus()
        self._show_state()

    def _rows(self) -> list[int]:
        return sorted(index.row() for index in self.view.selectionModel().selectedRows())

    def _selected(self, *_: QItemSelection) -> None:
        rows = self._rows()
        self.copy_button.setEnabled(bool(rows))
        self.details.setPlainText(self._text(rows) if len(rows) <= 20 else self.tr("{0} lines").format(len(rows)))

    def _text(self, rows: list[int]) -> str:
        lines = (self.table.line(row) for row in rows)
        return "\n\n".join(whole_text(line, self.table.level_word(line.level)) for line in lines)

    def _copy(self) -> None:
        if rows := self._rows():
            QApplication.clipboard().setText(self._text(rows) + "\n")
            self._say(self.tr("Copied 1 line.") if len(rows) == 1 else self.tr("Copied {0} lines.").format(len(rows)))

    def _clear(self) -> None:
        self._source.clear()
        self.catch_up()
        self._say(self.tr("The log was cleared here. Its files stay."))

    def _copy_diagnostics(self) -> None:
        with_words = self.words.isChecked()
        self.diagnostics_button.setEnabled(False)
        self._say(self.tr("Writing …"))
        self._errands.run(
            "diagnostics", lambda: self._diagnose(with_words), partial(self._diagnosed, with_words), self._failed
        )

    def _diagnosed(self, with_words: bool, text: str) -> None:
        self.diagnostics_button.setEnabled(True)
        QApplication.clipboard().setText(text)
        self._say(
            self.tr("Copied, without keys, and with what was said. Read it before you pass it on.")
            if with_words
            else self.tr("Copied, without keys and without what was said.")
        )

    def _failed(self, sentence: str) -> None:
        self.diagnostics_button.setEnabled(True)
        self._say(sentence)

    def _open_folder(self) -> None:
        folder = self._source.folder
        if folder is None or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._say(self.tr("The folder can't be shown by the desktop. It is {0}").format(folder))

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)

    def _show_state(self) -> None:
        shown, total = self.table.rowCount(), self.table.total
        self.newest_button.setEnabled(not self._follows)
        self.clear_button.setEnabled(total > 0)
        self.empty.setText(
            ""
            if shown
            else self.tr("Nothing has been noted down yet.")
            if not total
            else self.tr("No line fits. Search for less, or show all levels.")
        )
        self.empty.setVisible(not shown)
        self.count.setText(
            self.tr("{0} of {1} lines").format(f"{shown:,}", f"{total:,}")
            if shown != total
            else self.tr("1 line")
            if total == 1
            else self.tr("{0} lines").format(f"{total:,}")
        )

    # -- building

    def _furnish(self) -> None:
        for level, words in (
            (0, self.tr("All levels")),
            (logging.WARNING, self.tr("Warnings and worse")),
            (logging.ERROR, self.tr("Errors and faults")),
        ):
            self.level.addItem(words, level)
        self.level.setAccessibleName(self.tr("Levels that are shown"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search in the log"))
        self.search.setClearButtonEnabled(True)
        self.count = QLabel(self)
        view = self.view
        view.setModel(self.table)
        view.setAccessibleName(self.tr("Lines of the log"))
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setTabKeyNavigation(False)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setAlternatingRowColors(True)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        view.verticalHeader().hide()
        heads = view.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setAccessibleName(self.tr("Columns of the log"))
        heads.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        middle = QHBoxLayout(view.viewport())
        middle.addWidget(self.empty)
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.details.setPlaceholderText(self.tr("Choose a line to read all of it."))
        self.details.setAccessibleName(self.tr("All of the selected lines"))
        self.copy_button.setEnabled(False)
        self.words.setAccessibleName(self.tr("Diagnostics with what was said"))
        self.answer.setAccessibleName(self.tr("What was done"))
        self._size()

    def _size(self) -> None:
        metrics = self.fontMetrics()
        self.view.verticalHeader().setDefaultSectionSize(metrics.height() + 6)
        self.view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column, widest in ((TIME, "00:00:00.000"), (LEVEL, self.tr("Warning")), (WHERE, "app.session.frame_thread")):
            self.view.setColumnWidth(column, metrics.horizontalAdvance(widest) + 20)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.level)
        top.addWidget(self.search, 1)
        top.addWidget(self.newest_button)
        self.column.addLayout(top)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.setChildrenCollapsible(False)
        split.addWidget(self.view)
        split.addWidget(self.details)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        split.setSizes([320, 130])
        split.setHandleWidth(10)
        self.column.addWidget(split, 1)
        lines = QHBoxLayout()
        lines.addWidget(self.count)
        lines.addStretch(1)
        for button in (self.folder_button, self.copy_button, self.clear_button):
            lines.addWidget(button)
        self.column.addLayout(lines)
        foot = QHBoxLayout()
        foot.addWidget(self.diagnostics_button)
        foot.addWidget(self.words)
        foot.addSpacing(8)
        foot.addWidget(self.answer, 1)
        foot.addWidget(self.close_button)
        self.column.addLayout(foot)
        for first, second in (
            (self.level, self.search),
            (self.search, self.newest_button),
            (self.newest_button, self.view),
            (self.view, self.details),
            (self.details, self.folder_button),
            (self.folder_button, self.copy_button),
            (self.copy_button, self.clear_button),
            (self.clear_button, self.diagnostics_button),
            (self.diagnostics_button, self.words),
            (self.words, self.close_button),
        ):
            QWidget.setTabOrder(first, second)
        self.resize(860, 560)

    def _connect(self) -> None:
        self.level.activated.connect(self._filter)
        self.search.textChanged.connect(self._search_timer.start)
        self.search.returnPressed.connect(self._filter)
        self._search_timer.timeout.connect(self._filter)
        self._update_timer.timeout.connect(self.catch_up)
        bar = self.view.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        self.view.selectionModel().selectionChanged.connect(self._selected)
        self.table.modelReset.connect(self._selected)
        self.newest_button.clicked.connect(self._go_to_newest)
        self.copy_button.clicked.connect(self._copy)
        self.clear_button.clicked.connect(self._clear)
        self.diagnostics_button.clicked.connect(self._copy_diagnostics)
        self.folder_button.clicked.connect(self._open_folder)
        self.close_button.clicked.connect(self.close)
        for keys, widget, action in (
            (QKeySequence.StandardKey.Copy, self.view, self._copy),
            (QKeySequence.StandardKey.Find, self, self._find),
        ):
            shortcut = QShortcut(QKeySequence(keys), widget, action)
            within = Qt.ShortcutContext.WidgetShortcut if widget is self.view else Qt.ShortcutContext.WindowShortcut
            shortcut.setContext(within)

    def _find(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        """Keeps up with the log from now on."""
        super().showEvent(event)
        self.catch_up()
        self._update_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody sees it: it costs nothing."""
        super().hideEvent(event)
        self._update_timer.stop()

    def resizeEvent(self, event: Any) -> None:
        """The newest line stays in sight."""
        follows = self._follows
        super().resizeEvent(event)
        if follows:
            self.view.scrollToBottom()

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "table"):
            self._size()
