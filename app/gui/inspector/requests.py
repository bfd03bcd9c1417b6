"""The page “Requests”: what each model was asked in this conversation, how fast it answered, and what that cost."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, QSortFilterProxyModel, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from app.gui.inspector.request_log import RequestLog
from app.gui.inspector.request_table import MODEL, SORT_ROLE, RequestTable
from app.gui.inspector.request_words import COLUMNS
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.panel import Quiet

REFRESH_MS = 300
SWATCH_PX = 10
MODEL_LETTERS, NUMBER_LETTERS = 22, 6
"""The widths of columns, where their titles are shorter."""


class RequestsPage(QWidget):
    """Reads `log` a few times a second while it is visible, and never else."""

    def __init__(self, log: RequestLog, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._shown = -1
        self.table = RequestTable(log, self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self.table)
        self._sorted.setSortRole(SORT_ROLE)
        self.view = QTableView(self)
        self.empty = Quiet(self.tr("No model was asked yet."), self.view.viewport())
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = Quiet(parent=self)
        self.copy_button = SlimButton(self.tr("&Copy as text"), self)
        self.copy_button.setAccessibleName(self.tr("Copy the requests as text"))
        self.copy_button.setToolTip(self.tr("The selected lines, or all, with tabs between the columns."))
        self._set_up_view()
        QHBoxLayout(self.view.viewport()).addWidget(self.empty)
        foot = QHBoxLayout()
        foot.addWidget(self.count, 1)
        foot.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addWidget(self.view, 1)
        column.addLayout(foot)
        self._timer = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        self.copy_button.clicked.connect(self.copy)
        self.view.installEventFilter(self)

    def _set_up_view(self) -> None:
        view, heads = self.view, self.view.horizontalHeader()
        view.setModel(self._sorted)
        view.setAccessibleName(self.tr("Requests of this conversation"))
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setTabKeyNavigation(False)
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setIconSize(QSize(SWATCH_PX, SWATCH_PX))
        view.setSortingEnabled(True)
        view.sortByColumn(0, Qt.SortOrder.DescendingOrder)
        view.verticalHeader().hide()
        view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        heads.setHighlightSections(False)
        heads.setAccessibleName(self.tr("Columns of the requests"))
        heads.setStretchLastSection(True)
        self._set_sizes()

    def _set_sizes(self) -> None:
        metrics = self.view.fontMetrics()
        self.view.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for place, column in enumerate(COLUMNS):
            letters = MODEL_LETTERS if place == MODEL else NUMBER_LETTERS
            title = metrics.horizontalAdvance(self.table.words.title(column)) + metrics.height() + 24
            self.view.setColumnWidth(place, max(title, metrics.horizontalAdvance("0") * letters))

    def touch(self) -> None:
        """Refreshes soon if it is visible: something may have changed."""
        if self.isVisible() and self._log.changes != self._shown and not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Shows what is known now."""
        self._shown = self._log.changes
        self.table.refresh()
        count = self.table.rowCount()
        self.empty.setVisible(not count)
        self.copy_button.setEnabled(bool(count))
        self.count.setText(self.tr("1 request") if count == 1 else self.tr("{0} requests").format(f"{count:,}"))

    def copy(self) -> None:
        """Copies the selected lines, or all, as they are sorted."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        sources = (self._sorted.mapToSource(self._sorted.index(r, 0)) for r in rows or range(self._sorted.rowCount()))
        QGuiApplication.clipboard().setText(self.table.text([source.row() for source in sources]))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The table takes the keys of “Copy”, which are also the menu's."""
        kinds = QEvent.Type
        if not (isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy)):
            return False
        if event.type() == kinds.KeyPress:
            self.copy()
        event.accept()
        return True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_timer"):
            self._set_sizes()
