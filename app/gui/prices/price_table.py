"""An editable table of model prices. Prices set by the user are bold; the app's own are not.

Enter edits a cell; Tab moves focus out of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from decimal import Decimal
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.gui.design.look import Look
from app.gui.design.plain import named, tip
from app.services.price_service import Price, PriceRow

ROWS_SEEN = 12


class PriceView(QTableView):
    """A table in which Enter edits the current cell and Tab moves focus elsewhere."""

    def shape(self) -> None:
        """Sets up columns, keys and delegate. Must be called after setting the model."""
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(
            triggers.DoubleClicked | triggers.SelectedClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed
        )
        self.setItemDelegate(_Cell(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        header = named(self.horizontalHeader(), self.tr("The table's columns"))
        header.setHighlightSections(False)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("00000.0000") + 12)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(MODEL, QHeaderView.ResizeMode.Stretch)
        self.setMinimumHeight(self.sizeHint().height() // 2)

    def sizeHint(self) -> QSize:
        """Returns a size at which `ROWS_SEEN` rows are visible."""
        rows = self.verticalHeader().defaultSectionSize() * ROWS_SEEN
        return QSize(super().sizeHint().width(), rows + self.horizontalHeader().sizeHint().height())

    def commit(self) -> None:
        editor = self.indexWidget(self.currentIndex())
        if editor is not None:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            if self.state() != QAbstractItemView.State.EditingState and self.currentIndex().isValid():
                self.edit(self.currentIndex())
        else:
            super().keyPressEvent(event)


class _Cell(QStyledItemDelegate):
    """An item delegate that gives cell editors an accessible name."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        table = index.model()
        head = table.headerData(index.column(), Qt.Orientation.Horizontal)
        name = table.index(index.row(), MODEL).data()
        editor.setAccessibleName(f"{name}: {head}" if index.column() != MODEL and name else head)
        if isinstance(editor, QLineEdit) and index.column() != MODEL:
            editor.setAlignment(aligned(index.column()))
        return editor


MODEL, READ, CACHED, WRITTEN = range(4)

_PRICE = re.compile(r"[0-9]{1,300}(?:[.,][0-9]{0,400})?|[.,][0-9]{1,400}")
"""Matches a decimal number without an exponent. The limits cover every number that a price file may contain."""

Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class Line:
    """A row as typed, possibly invalid.

    `shipped`: the app's own prices, if any. `proposed`: whether the app added the row and the user hasn't edited it.
    """

    texts: list[str]
    shipped: tuple[float, float, float] | None = None
    proposed: bool = False

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None]:
        """The prices of input, cached input (by default that of input) and output; None for an invalid text."""
        read, cached, written = (as_price(text) for text in self.texts[READ:])
        return read, cached if self.texts[CACHED] else read, written

    def own(self, column: int) -> bool:
        """Returns whether a column contains the user's value rather than the app's own."""
        if self.shipped is None:
            return True
        if column == MODEL:
            return self.numbers != self.shipped
        return self.numbers[column - READ] != self.shipped[column - READ]


def as_price(text: str) -> float | None:
    """Parses a price in US dollars, with "." or "," as the decimal separator. Returns None if it is invalid."""
    text = text.strip().removeprefix("$").strip()
    return float(text.replace(",", ".")) if _PRICE.fullmatch(text) else None


def price_text(dollars: float) -> str:
    """Formats a price with all its decimal places, but at least two."""
    whole, _, rest = format(Decimal(str(dollars)), "f").partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


class PriceTable(QAbstractTableModel):
    """The dialog's table model. Keeps invalid input as typed; `fault` returns an error message for it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []
        self._heads = (self.tr("Model"), self.tr("Input"), self.tr("Cached input"), self.tr("Output"))
        self._helps = (
            self.tr("The model's name. Its dated versions cost the same, unless they have a row of their own."),
            self.tr("US dollars per million tokens of input."),
            self.tr("US dollars per million tokens of input from the server's cache; empty: the same as input."),
            self.tr("US dollars per million tokens of output."),
        )

    def show_rows(self, rows: Iterable[PriceRow]) -> None:
        self.beginResetModel()
        self.lines = []
        for row in rows:
            cached = "" if row.price.tokens_cached == row.price.tokens_in else price_text(row.price.tokens_cached)
            texts = [row.model, price_text(row.price.tokens_in), cached, price_text(row.price.tokens_out)]
            self.lines.append(Line(texts, astuple(row.shipped) if row.shipped is not None else None))
        self.endResetModel()

    def rows(self) -> list[PriceRow]:
        """Returns the valid rows."""
        kept = []
        for line in self.lines:
            read, cached, written = line.numbers
            if read is not None and cached is not None and written is not None:
                shipped = Price(*line.shipped) if line.shipped is not None else None
                kept.append(PriceRow(line.texts[MODEL], Price(read, cached, written), shipped))
        return kept

    def place(self, model: str) -> int:
        """Returns the index of a model's row, or -1 if there is none."""
        return next((row for row, line in enumerate(self.lines) if line.texts[MODEL] == model.strip().lower()), -1)

    def add(self, model: str) -> int:
        """Adds a row without prices and returns its index."""
        row = len(self.lines)
        self.beginInsertRows(QModelIndex(), row, row)
        self.lines.append(Line([model.strip().lower(), "", "", ""], proposed=True))
        self.endInsertRows()
        return row

    def remove(self, row: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row)
        del self.lines[row]
        self.endRemoveRows()

    def set_back(self, row: int) -> None:
        """Resets a row to the app's own prices, if it has any."""
        line = self.lines[row]
        if line.shipped is not None:
            read, cached, written = line.shipped
            line.texts[READ:] = price_text(read), "" if cached == read else price_text(cached), price_text(written)
            self._changed(row)

    def fault(self, row: int, column: int) -> str:
        """Returns an error message for a cell; empty if it is valid or nothing has been entered in the row yet."""
        line = self.lines[row]
        model, text = line.texts[MODEL], line.texts[column]
        if line.proposed:
            return ""
        if column == MODEL:
            if not text:
                return self.tr("A row names no model. Enter one, or remove the row.")
            if self.place(text) != row:
                return self.tr("“{0}” is in the table already. Change that row, and remove this one.").format(text)
            return ""
        if not text:
            if column == CACHED:
                return ""
            return self.tr("A price of “{0}” is missing. Enter it, or remove the row.").format(model)
        if as_price(text) is not None:
            return ""
        if text.lstrip("$ ").startswith(("-", "\u2212")):
            return self.tr("“{0}” is below zero. Enter the price without the sign.").format(text)
        return self.tr("“{0}” is not a price. Enter dollars as a number, like 2.50.").format(text)

    def faults(self, *, missing: bool) -> list[tuple[QModelIndex, str]]:
        """Returns the invalid cells with their error messages. `missing`: whether to include empty cells."""
        return [
            (self.index(row, column), sentence)
            for row, line in enumerate(self.lines)
            for column in (MODEL, READ, CACHED, WRITTEN)
            if (line.texts[column] or missing) and (sentence := self.fault(row, column))
        ]

    # -- Qt overrides

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._heads)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Makes all cells editable, except for the model names in rows with the app's own prices."""
        fixed = index.column() == MODEL and self.lines[index.row()].shipped is not None
        return super().flags(index) | (Qt.ItemFlag.NoItemFlags if fixed else Qt.ItemFlag.ItemIsEditable)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        roles = Qt.ItemDataRole
        return {
            roles.DisplayRole: self._heads[section],
            roles.ToolTipRole: tip(self._helps[section]),
            roles.TextAlignmentRole: aligned(section),
        }.get(Qt.ItemDataRole(role))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        line, roles = self.lines[row], Qt.ItemDataRole
        text = line.texts[column]
        match role:
            case roles.EditRole:
                return text
            case roles.DisplayRole:
                return text or (self.tr("as input") if column == CACHED else "")
            case roles.TextAlignmentRole:
                return aligned(column)
            case roles.FontRole if text and line.own(column):
                font = QFont()
                font.setWeight(QFont.Weight.DemiBold)
                return font
            case roles.ForegroundRole if self.fault(row, column):
                return Look.of(QApplication.palette()).bad
            case roles.ForegroundRole if not text:
                return Look.of(QApplication.palette()).dim
            case roles.ToolTipRole:
                return tip("\n".join(filter(None, (text if column == MODEL else "", self._whose(line, column)))))
            case roles.AccessibleDescriptionRole:
                return self.fault(row, column) or self._whose(line, column)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Stores the typed text even if it is invalid."""
        if role != Qt.ItemDataRole.EditRole:
            return False
        line, column, text = self.lines[index.row()], index.column(), str(value).strip()
        if text == line.texts[column]:
            return True
        if column == MODEL:
            text = text.lower()
        elif (price := as_price(text)) is not None:
            text = price_text(price)
        line.texts[column] = text
        line.proposed = False
        self._changed(index.row())
        return True

    def _changed(self, row: int) -> None:
        self.dataChanged.emit(self.index(row, MODEL), self.index(row, WRITTEN))

    def _whose(self, line: Line, column: int) -> str:
        if line.shipped is None:
            return self.tr("Yours; the app has no price for it.") if column == MODEL else ""
        if not line.own(column):
            return ""
        if column == MODEL:
            return self.tr("Yours; the app has other prices for it.")
        return self.tr("Yours; the app's is {0}.").format("$" + price_text(line.shipped[column - READ]))


def aligned(column: int) -> Qt.AlignmentFlag:
    """Returns a column's alignment: left for names, right for prices."""
    side = Qt.AlignmentFlag.AlignLeft if column == MODEL else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
