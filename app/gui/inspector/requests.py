"""The Requests page: a table of the conversation's model requests, with timings, token counts and costs."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QSortFilterProxyModel, Qt
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QTableView, QWidget

from app.conversation.record.revisions import Revision
from app.gui.design.model_look import model_colour, model_name
from app.gui.design.plain import named, set_tip
from app.gui.state.session_model import SessionModel
from app.gui.widgets import form
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.form import set_up_table
from app.gui.widgets.formats import dollars, wait
from app.gui.widgets.panel import Quiet

MODEL, END = 2, 9
"""Indices of the left-aligned columns."""
UNKNOWN = "–"
SORT_ROLE = Qt.ItemDataRole.UserRole
SWATCH_PX = 10
MOST_IN_A_SESSION = 1_000_000
"""More requests than any session has, for sorting by session first."""
MODEL_LETTERS, NUMBER_LETTERS = 22, 6
"""Minimum column widths in characters. A column is wider if its title requires it."""


class Cell(NamedTuple):
    """A table cell: `text` is displayed, `key` is the sort key."""

    text: str
    key: float | str


class RequestsPage(QWidget):
    """A table of the conversation's requests. Call `refresh` whenever they may have changed."""

    def __init__(self, session: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._requests: list[Revision] = []
        self._states: list[tuple[object, ...]] = []
        self._columns = self._titles()
        self._model = QStandardItemModel(0, len(self._columns), self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._model)
        self._sorted.setSortRole(SORT_ROLE)
        self.view = QTableView(self)
        self.empty = Quiet(self.tr("No requests yet."), self.view.viewport())
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = Quiet(parent=self)
        self.copy_button = named(SlimButton(self.tr("&Copy as text"), self), self.tr("Copy the requests as text"))
        self.copy_button.setToolTip(self.tr("The selected lines, or all, with tabs between the columns."))
        self._set_up_view()
        QHBoxLayout(self.view.viewport()).addWidget(self.empty)
        foot = form.row(self.count, self.copy_button, stretch=0)
        form.column(self.view, foot, within=self, spacing=4, margins=(0, 0, 0, 4), stretch=0)
        self.copy_button.clicked.connect(self.copy)
        self.view.installEventFilter(self)

    def _set_up_view(self) -> None:
        view, heads = self.view, self.view.horizontalHeader()
        view.setModel(self._sorted)
        set_up_table(view, self.tr("Requests of this conversation"), SWATCH_PX)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setSortingEnabled(True)
        view.sortByColumn(0, Qt.SortOrder.DescendingOrder)
        heads.setAccessibleName(self.tr("Columns of the requests"))
        heads.setStretchLastSection(True)
        for place, (title, help_) in enumerate(self._columns):
            head = QStandardItem(title)
            set_tip(head, help_)
            # Not right-aligned, because the sort arrow is painted on the right.
            side = Qt.AlignmentFlag.AlignLeft if place in (MODEL, END) else Qt.AlignmentFlag.AlignHCenter
            head.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            self._model.setHorizontalHeaderItem(place, head)
        self._set_sizes()

    def _set_sizes(self) -> None:
        metrics = self.view.fontMetrics()
        self.view.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for place, (title, _) in enumerate(self._columns):
            letters = MODEL_LETTERS if place == MODEL else NUMBER_LETTERS
            least = metrics.horizontalAdvance(title) + metrics.height() + 24
            self.view.setColumnWidth(place, max(least, metrics.horizontalAdvance("0") * letters))

    def refresh(self) -> None:
        """Updates the table, rewriting only the rows that have changed."""
        requests = self._session.revisions
        kept = set(requests)
        gone = next((place for place, one in enumerate(self._requests) if one in kept), len(self._requests))
        self._model.removeRows(0, gone)
        self._requests, self._states = list(requests), self._states[gone:]
        for row, request in enumerate(requests):
            # Changes whenever any of the row's text changes.
            counted = request.counted is not None
            state = (request, request.status, request.spoken, request.secondary, len(request.text), counted)
            if row == len(self._states):
                self._states.append(())
            if state != self._states[row]:
                self._states[row] = state
                self._write(row, request)
        count = len(requests)
        self.empty.setVisible(not count)
        self.copy_button.setEnabled(bool(count))
        self.count.setText(self.tr("1 request") if count == 1 else self.tr("{0} requests").format(f"{count:,}"))

    def _write(self, row: int, request: Revision) -> None:
        for place, cell in enumerate(self._cells(request)):
            item = QStandardItem(cell.text)
            item.setData(cell.key, SORT_ROLE)
            side = Qt.AlignmentFlag.AlignLeft if place in (MODEL, END) else Qt.AlignmentFlag.AlignRight
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            if place == MODEL:
                colour = model_colour(request.backend, request.model)
                item.setData(colour, Qt.ItemDataRole.DecorationRole)
            self._model.setItem(row, place, item)

    def copy(self) -> None:
        """Copies the selected rows, or all if none is selected, as tab-separated text in the displayed order."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        lines = [[title for title, _ in self._columns]]
        for row in rows or range(self._sorted.rowCount()):
            lines.append([self._sorted.index(row, place).data() for place in range(len(self._columns))])
        QGuiApplication.clipboard().setText("".join("\t".join(line) + "\n" for line in lines))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles the Copy shortcut while the table has the focus, overriding the menu's action."""
        if not (isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy)):
            return False
        if event.type() == QEvent.Type.KeyPress:
            self.copy()
        event.accept()
        return True

    def changeEvent(self, event: QEvent) -> None:
        """Updates column widths when the font changes, and colours when the palette changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "copy_button"):
            self._set_sizes()
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "copy_button"):
            self._states = [()] * len(self._states)
            self.refresh()

    # -- text

    def _titles(self) -> list[tuple[str, str]]:
        """Returns the column titles, each with help text (empty if the title is self-explanatory)."""
        return [
            (self.tr("No."), ""),
            (self.tr("Turn"), ""),
            (self.tr("Model"), ""),
            (self.tr("Asked"), self.tr("How many of your words the model had when it was asked.")),
            (self.tr("First words"), self.tr("From the request to the first words of the answer.")),
            (self.tr("Words"), self.tr("The number of words in the answer.")),
            (self.tr("Tokens in"), self.tr("“≈” marks estimates: the server did not report a count.")),
            (self.tr("Tokens out"), ""),
            (self.tr("Cost"), ""),
            (self.tr("End"), ""),
        ]

    def _cells(self, request: Revision) -> tuple[Cell, ...]:
        """Returns the cells of a request's row."""
        first, counted = request.first_word_seconds, request.counted
        about = "" if counted is None or counted.counted else "≈ "
        cost = None if counted is None else counted.cost
        name, end = model_name(request.backend, request.model), self._end(request)
        place = request.talk * MOST_IN_A_SESSION + request.number
        return (
            Cell(str(request.number), place),
            Cell(str(request.turn), place),
            Cell(name, name.lower()),
            Cell(str(request.asked_words), request.asked_words),
            Cell(UNKNOWN if first is None else wait(first), -1.0 if first is None else first),
            Cell(str(request.words), request.words),
            Cell(UNKNOWN, -1) if counted is None else Cell(f"{about}{counted.tokens_in:,}", counted.tokens_in),
            Cell(UNKNOWN, -1) if counted is None else Cell(f"{about}{counted.tokens_out:,}", counted.tokens_out),
            Cell(UNKNOWN, -1.0) if cost is None else Cell(dollars(cost), cost),
            Cell(end, end),
        )

    def _end(self, request: Revision) -> str:
        """Returns the outcome of a request, or its state while it is running."""
        status = request.status
        if request.spoken and status != "failed":
            return self.tr("partly spoken") if status in ("superseded", "stopped") else self.tr("spoken")
        return {
            "waiting": self.tr("waiting"),
            "streaming": self.tr("writing"),
            "complete": self.tr("compared") if request.secondary else self.tr("not spoken"),
            "superseded": self.tr("replaced"),
            "failed": self.tr("failed"),
            "stopped": self.tr("stopped"),
        }[status]
