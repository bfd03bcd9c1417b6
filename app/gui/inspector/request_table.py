"""The table model of the requests; `refresh` takes in what has changed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.gui.design.model_colours import model_colour
from app.gui.design.plain import tip
from app.gui.design.theme import tokens
from app.gui.inspector.request_log import Request, RequestLog
from app.gui.inspector.request_words import COLUMNS, Cell, RequestWords

SORT_ROLE = Qt.ItemDataRole.UserRole
MODEL = COLUMNS.index("model")
_LEFT = {MODEL, COLUMNS.index("end")}
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class RequestTable(QAbstractTableModel):
    """The requests of `log`, oldest first; a view sorts them through a proxy."""

    def __init__(self, log: RequestLog, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words = RequestWords(self)
        self._log = log
        self._requests: list[Request] = []
        self._cells: list[tuple[Cell, ...]] = []
        self._states: list[tuple[object, ...]] = []

    def refresh(self) -> None:
        """Shows what the log holds now; only what has changed is worded again."""
        now = self._log.requests
        self._remove(now[0].place if now else None)
        first = len(self._requests)
        if len(now) > first:
            self.beginInsertRows(_NOWHERE, first, len(now) - 1)
            for request in now[first:]:
                self._requests.append(request)
                self._states.append(_state(request))
                self._cells.append(self.words.cells(request))
            self.endInsertRows()
        for row in range(first):
            request = self._requests[row]
            if (state := _state(request)) != self._states[row]:
                self._states[row], self._cells[row] = state, self.words.cells(request)
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))

    def _remove(self, oldest: int | None) -> None:
        """Removes the rows before the request that is the oldest now; None: all."""
        gone = sum(oldest is None or request.place < oldest for request in self._requests)
        if gone:
            self.beginRemoveRows(_NOWHERE, 0, gone - 1)
            del self._requests[:gone], self._states[:gone], self._cells[:gone]
            self.endRemoveRows()

    def text(self, rows: list[int]) -> str:
        """These rows with the columns' titles, with tabs between the cells."""
        lines = [[self.words.title(column) for column in COLUMNS]]
        lines += [[cell.text for cell in self._cells[row]] for row in rows]
        return "".join("\t".join(line) + "\n" for line in lines)

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._requests)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._cells[row][column].text
            case Qt.ItemDataRole.UserRole:
                return self._cells[row][column].key
            case Qt.ItemDataRole.DecorationRole if column == MODEL:
                request = self._requests[row]
                return model_colour(request.backend, request.model, tokens().dark)
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignLeft if column in _LEFT else Qt.AlignmentFlag.AlignRight
                return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.words.title(COLUMNS[section])
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self.words.help(COLUMNS[section])) or None
            case Qt.ItemDataRole.TextAlignmentRole:
                # Not to the right, where the arrow of the sorting is painted.
                side = Qt.AlignmentFlag.AlignLeft if section in _LEFT else Qt.AlignmentFlag.AlignHCenter
                return side | Qt.AlignmentFlag.AlignVCenter
        return None


def _state(request: Request) -> tuple[object, ...]:
    """Changes whenever the words for a request do."""
    return (request.status, request.spoken, request.secondary, len(request.text), request.counted is None)
