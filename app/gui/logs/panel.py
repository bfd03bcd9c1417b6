"""The Log dialog, for searching and copying log entries, and for copying diagnostics for support."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QWidget,
)

from app.diagnostics.logs import Log
from app.gui.design.motion import timer
from app.gui.design.plain import PlainLabel
from app.gui.design.sentences import in_window_language
from app.gui.logs.table_model import LogTable, full_text
from app.gui.logs.view import LogView
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import add_items, row, search_field
from app.gui.widgets.panel import Panel, Quiet

UPDATE_MS = 250
"""Interval at which to poll for new entries while the dialog is open."""

SEARCH_MS = 120
"""Delay between the last keystroke and the search."""

MOST_IN_FULL = 20
"""Maximum number of selected entries shown in full. If more are selected, only their number is shown."""

Diagnose = Callable[[bool], Coroutine[Any, Any, str]]
"""A function that generates diagnostics, including transcripts if its argument is True, but never API keys."""


class LogPanel(Panel):
    """The Log dialog for the entries of `source`. `diagnose` generates the text for "Copy diagnostics"."""

    def __init__(self, source: Log, diagnose: Diagnose, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Log"))
        self.setMinimumSize(620, 380)
        self._source = source
        self._diagnose = diagnose
        self._background = background
        self.table = LogTable(source, self)
        self.level = QComboBox(self)
        self.search = search_field(self, self.tr("Search in the log"), self.tr("Search"))
        self.newest_button = self.button(self.tr("Go to the &newest"), does=self._go_to_newest)
        self.view = LogView(self.table, self)
        self.empty = Quiet(parent=self.view.viewport())
        self.details = QPlainTextEdit(self)
        self.count = PlainLabel(parent=self)
        self.folder_button = self.button(self.tr("&Open the log folder"), does=self._open_folder)
        self.copy_button = self.button(self.tr("&Copy entries"), self.tr("Copy the selected entries"), does=self._copy)
        self.clear_button = self.button(self.tr("C&lear"), self.tr("Clear the log"), does=self._clear)
        self.diagnostics_button = self.button(self.tr("Copy &diagnostics"), does=self._copy_diagnostics)
        self.words = QCheckBox(self.tr("&with what was said"), self)
        self.close_button = self.button(self.tr("Close"), does=self.close)
        self.answer = Quiet(parent=self)
        self._update_timer = timer(self, UPDATE_MS, self.catch_up, repeats=True)
        self._search_timer = timer(self, SEARCH_MS, self._filter)
        self._set_texts()
        self._lay_out()
        self._connect()

    def open_log(self, *, fault: bool = False) -> None:
        """Opens the dialog at the newest entry or, if `fault`, unfiltered and with the newest error selected."""
        if not self.isVisible():
            self.view.follow()
            self.answer.clear()
        self.folder_button.setVisible(self._source.folder is not None)
        self.appear()
        self.view.setFocus()
        if fault:
            self.level.setCurrentIndex(0)
            self.search.clear()
            self._filter()
            self.catch_up()
            self.view.select_newest_error()

    def catch_up(self) -> None:
        """Shows the entries logged since the last call."""
        self.view.catch_up()
        self._show_counts()

    def showEvent(self, event: QShowEvent) -> None:
        """Starts polling for new entries."""
        super().showEvent(event)
        self.catch_up()
        self._update_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops polling for new entries."""
        super().hideEvent(event)
        self._update_timer.stop()

    # -- actions

    def _filter(self) -> None:
        self._search_timer.stop()
        self.table.set_filter(int(self.level.currentData()), self.search.text())
        self.view.follow()
        self._show_counts()

    def _go_to_newest(self) -> None:
        self.view.follow()
        self.view.setFocus()

    def _on_selection_changed(self) -> None:
        rows = self.view.selected_rows()
        self.copy_button.setEnabled(bool(rows))
        few = len(rows) <= MOST_IN_FULL
        self.details.setPlainText(self._text(rows) if few else self.tr("{0} entries").format(len(rows)))

    def _text(self, rows: list[int]) -> str:
        entries = (self.table.entry(row) for row in rows)
        return "\n\n".join(full_text(entry, self.table.level_word(entry.level)) for entry in entries)

    def _copy(self) -> None:
        if rows := self.view.selected_rows():
            QApplication.clipboard().setText(self._text(rows) + "\n")
            one = len(rows) == 1
            self.answer.setText(self.tr("Copied 1 entry.") if one else self.tr("Copied {0} entries.").format(len(rows)))

    def _clear(self) -> None:
        self._source.clear()
        self.catch_up()
        self.answer.setText(self.tr("The log was cleared here. Its files remain."))

    def _copy_diagnostics(self) -> None:
        with_words = self.words.isChecked()
        self.diagnostics_button.setEnabled(False)
        self.answer.setText(self.tr("Writing …"))
        on_done = partial(self._on_diagnosed, with_words)
        self._background.run(
            self, "diagnostics", lambda: self._diagnose(with_words), on_done, self._on_diagnosis_failed
        )

    def _on_diagnosed(self, with_words: bool, text: str) -> None:
        self.diagnostics_button.setEnabled(True)
        QApplication.clipboard().setText(text)
        self.answer.setText(
            self.tr("Copied, without keys, and with what was said. Read it before you pass it on.")
            if with_words
            else self.tr("Copied, without keys and without what was said.")
        )

    def _on_diagnosis_failed(self, sentence: str) -> None:
        self.diagnostics_button.setEnabled(True)
        self.answer.setText(in_window_language(sentence))

    def _open_folder(self) -> None:
        folder = self._source.folder
        if folder is None or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self.answer.setText(self.tr("The folder can't be opened on this desktop. It is {0}").format(folder))

    def _find(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _show_counts(self) -> None:
        shown, total = self.table.rowCount(), self.table.total
        self.clear_button.setEnabled(total > 0)
        self.empty.setVisible(not shown)
        self.empty.setText(
            self.tr("No entry matches. Search for less, or show all levels.")
            if total
            else self.tr("Nothing has been logged yet.")
        )
        if shown != total:
            count = self.tr("{0} of {1} entries").format(f"{shown:,}", f"{total:,}")
        else:
            count = self.tr("1 entry") if total == 1 else self.tr("{0} entries").format(f"{total:,}")
        self.count.setText(count)

    # -- building

    def _set_texts(self) -> None:
        for level, words in (
            (0, self.tr("All levels")),
            (logging.WARNING, self.tr("Warnings and worse")),
            (logging.ERROR, self.tr("Errors and bugs")),
        ):
            self.level.addItem(words, level)
        self.level.setAccessibleName(self.tr("Levels that are shown"))
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.details.setPlaceholderText(self.tr("Choose an entry to read all of it."))
        self.details.setAccessibleName(self.tr("The selected entries in full"))
        self.copy_button.setEnabled(False)
        self.words.setAccessibleName(self.tr("Diagnostics with what was said"))
        self.answer.setAccessibleName(self.tr("What was done"))
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def _lay_out(self) -> None:
        QHBoxLayout(self.view.viewport()).addWidget(self.empty)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.setChildrenCollapsible(False)
        split.addWidget(self.view)
        split.addWidget(self.details)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        split.setSizes([320, 130])
        split.setHandleWidth(10)
        add_items(
            self.column,
            row(self.level, self.search, self.newest_button, stretch=1),
            (split, 1),
            row(self.count, self.folder_button, self.copy_button, self.clear_button, stretch=0),
            row(self.diagnostics_button, self.words, self.answer, self.close_button, stretch=2),
        )
        self.resize(860, 560)

    def _connect(self) -> None:
        self.level.activated.connect(self._filter)
        self.search.textChanged.connect(self._search_timer.start)
        self.search.returnPressed.connect(self._filter)
        self.view.following_changed.connect(lambda following: self.newest_button.setEnabled(not following))
        self.view.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.table.modelReset.connect(self._on_selection_changed)
        copy = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self._copy)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._find)
