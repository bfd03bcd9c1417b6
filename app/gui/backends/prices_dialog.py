"""What brains cost, as a table that the user can change: the app's own prices, and the user's in bold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.gui.widgets.palette import Look
from app.gui.widgets.panel import Panel, Quiet
from app.services.price_service import Price, PriceRow, PriceService
from app.session.errors import UserError

MODEL, READ, CACHED, WRITTEN = range(4)
ROWS_SEEN = 12

_PRICE = re.compile(r"[0-9]{1,300}(?:[.,][0-9]{0,400})?|[.,][0-9]{1,400}")
"""As many digits as any number of a file may have."""

_Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class Line:
    """A row as it is typed, which may be no price yet. `proposed`: the user has entered nothing in it so far."""

    texts: list[str]
    shipped: tuple[float, float, float] | None = None
    proposed: bool = False

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None]:
        """The three prices; None for what is none."""
        read, cached, written = (as_price(text) for text in self.texts[READ:])
        return read, cached if self.texts[CACHED] else read, written

    def own(self, column: int) -> bool:
        """Whether what stands in a column is the user's, and not the app's."""
        if self.shipped is None:
            return True
        if column == MODEL:
            return self.numbers != self.shipped
        return self.numbers[column - READ] != self.shipped[column - READ]


def as_price(text: str) -> float | None:
    """What is typed as dollars, with “.” or “,” as the decimal point; None for what is no price."""
    text = text.strip().removeprefix("$").strip()
    return float(text.replace(",", ".")) if _PRICE.fullmatch(text) else None


def price_text(dollars: float) -> str:
    """A price in full, with two decimals at least."""
    whole, _, rest = format(Decimal(str(dollars)), "f").partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


def _dollars(price: Price) -> tuple[float, float, float]:
    return price.tokens_in, price.tokens_cached, price.tokens_out


class PriceTable(QAbstractTableModel):
    """The rows of the dialog. What can't be kept stands in it as it was typed, and `fault` says what is wrong."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []
        self._heads = (self.tr("Model"), self.tr("Read"), self.tr("Read from cache"), self.tr("Written"))
        self._helps = (
            self.tr("The model's name. Its dated versions cost the same, unless they have a row of their own."),
            self.tr("US dollars for a million tokens that the brain reads."),
            self.tr("US dollars for a million tokens that it reads from its server's cache; empty: the same as read."),
            self.tr("US dollars for a million tokens that it writes."),
        )

    def show_rows(self, rows: Iterable[PriceRow]) -> None:
        """Shows these and no others."""
        self.beginResetModel()
        self.lines = []
        for row in rows:
            read, cached, written = _dollars(row.price)
            texts = [row.model, price_text(read), "" if cached == read else price_text(cached), price_text(written)]
            self.lines.append(Line(texts, _dollars(row.shipped) if row.shipped is not None else None))
        self.endResetModel()

    def rows(self) -> list[PriceRow]:
        """What is to be kept, once there is no fault in it."""
        kept = []
        for line in self.lines:
            read, cached, written = line.numbers
            if read is not None and cached is not None and written is not None:
                shipped = Price(*line.shipped) if line.shipped is not None else None
                kept.append(PriceRow(line.texts[MODEL], Price(read, cached, written), shipped))
        return kept

    def place(self, model: str) -> int:
        """The row of a model; -1 when it has none."""
        return next((row for row, line in enumerate(self.lines) if line.texts[MODEL] == model.strip().lower()), -1)

    def add(self, model: str) -> int:
        """Adds a row without prices, and tells which it is."""
        row = len(self.lines)
        self.beginInsertRows(QModelIndex(), row, row)
        self.lines.append(Line([model.strip().lower(), "", "", ""], proposed=True))
        self.endInsertRows()
        return row

    def remove(self, row: int) -> None:
        """Takes a row of the user's out."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self.lines[row]
        self.endRemoveRows()

    def set_back(self, row: int) -> None:
        """Gives a row the app's own prices again."""
        line = self.lines[row]
        if line.shipped is not None:
            read, cached, written = line.shipped
            line.texts[READ:] = price_text(read), "" if cached == read else price_text(cached), price_text(written)
            self._changed(row)

    def fault(self, row: int, column: int) -> str:
        """What is wrong with a cell, as a sentence; empty when nothing is."""
        line = self.lines[row]
        model, text = line.texts[MODEL], line.texts[column]
        if line.proposed:
            return ""
        if column == MODEL:
            if not text:
                return self.tr("A row names no model, so its price can't count. Name one, or remove the row.")
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
            return self.tr("“{0}” is below zero, which no price is. Enter it without the sign.").format(text)
        return self.tr("“{0}” is no price. Enter dollars as a number, like 2.50.").format(text)

    def faults(self, *, missing: bool) -> list[tuple[QModelIndex, str]]:
        """Where something is wrong, and what; with `missing`, also where nothing is entered yet."""
        return [
            (self.index(row, column), sentence)
            for row, line in enumerate(self.lines)
            for column in (MODEL, READ, CACHED, WRITTEN)
            if (line.texts[column] or missing) and (sentence := self.fault(row, column))
        ]

    # -- Qt's own

    def rowCount(self, parent: _Index | None = None) -> int:
        """How many rows there are."""
        return 0 if parent is not None and parent.isValid() else len(self.lines)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Model, read, read from cache, written."""
        return 0 if parent is not None and parent.isValid() else len(self._heads)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """All can be changed but the names of the app's own rows."""
        fixed = index.column() == MODEL and self.lines[index.row()].shipped is not None
        return super().flags(index) | (Qt.ItemFlag.NoItemFlags if fixed else Qt.ItemFlag.ItemIsEditable)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The columns' names."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        roles = Qt.ItemDataRole
        return {
            roles.DisplayRole: self._heads[section],
            roles.ToolTipRole: self._helps[section],
            roles.TextAlignmentRole: _aligned(section),
        }.get(Qt.ItemDataRole(role))

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What stands in a cell, and how."""
        row, column = index.row(), index.column()
        line, roles = self.lines[row], Qt.ItemDataRole
        text = line.texts[column]
        match role:
            case roles.EditRole:
                return text
            case roles.DisplayRole:
                return text or (self.tr("as read") if column == CACHED else "")
            case roles.TextAlignmentRole:
                return _aligned(column)
            case roles.FontRole if text and line.own(column):
                font = QFont()
                font.setBold(True)
                return font
            case roles.ForegroundRole if self.fault(row, column):
                return Look.of(QApplication.palette()).bad
            case roles.ForegroundRole if not text:
                return Look.of(QApplication.palette()).dim
            case roles.ToolTipRole:
                return "\n".join(filter(None, (text if column == MODEL else "", self._whose(line, column))))
            case roles.AccessibleDescriptionRole:
                return self.fault(row, column) or self._whose(line, column)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Takes what is typed over, whatever it is."""
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


class PricesDialog(Panel):
    """Changes the table of `service`; `kept` says that it has."""

    kept = Signal()

    def __init__(self, service: PriceService, parent: QWidget) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Prices of brains"))
        self.setMinimumWidth(600)
        self._service = service
        self._wanted = ""
        self._shown: Sequence[PriceRow] = ()
        self.trouble = Quiet(parent=self, selectable=True)
        self.trouble.setAccessibleName(self.tr("What is wrong with your price table"))
        self.table = PriceTable(self)
        self.view = _TableView(self)
        self.view.setAccessibleName(self.tr("Prices, in US dollars for a million tokens"))
        self.view.setModel(self.table)
        self.view.shape()
        self.answer = Quiet(parent=self, selectable=True)
        self.answer.setAccessibleName(self.tr("What can't be saved"))
        self.add_button = self.button(self.tr("&Add a model"))
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the model"))
        self.back_button = self.button(self.tr("&Back to the app's price"))
        self.save_button = self.button(self.tr("&Save"))
        self.close_button = self.button(self.tr("Cancel"))
        self._lay_out()
        self.view.selectionModel().currentChanged.connect(self._show_buttons)
        self.table.dataChanged.connect(self._edited)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.view, self._take_away)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.add_button.clicked.connect(self._add)
        self.remove_button.clicked.connect(self._take_away)
        self.back_button.clicked.connect(self._take_away)
        self.save_button.clicked.connect(self._save)
        self.close_button.clicked.connect(self.close)

    def open_with(self, model: str = "") -> None:
        """Appears with the table of now, unless it is being changed already; `model`: one that has no price yet."""
        if not self.isVisible():
            rows, trouble = self._service.prices()
            if trouble:
                trouble += " " + self.tr("If you save here, a new one is written, and the old one is kept beside it.")
            self.trouble.setText(trouble)
            self.trouble.setVisible(bool(trouble))
            self._shown = rows
            self.table.show_rows(rows)
            self._say("")
            self._show_buttons()
            self._go_to(0, READ)  # before the view has the focus, with which it would take the first cell, a fixed one
        self.appear()
        self._wanted = model
        if model:
            self.show_model(model)
        self.view.setFocus()

    def show_model(self, model: str) -> None:
        """Goes to the prices of a model, in a row of its own."""
        self.view.settle()
        row = self.table.place(model)
        self._go_to(self.table.add(model) if row < 0 else row, READ)

    def _add(self) -> None:
        self.view.settle()
        if self._wanted and self.table.place(self._wanted) < 0:
            self.show_model(self._wanted)
        else:
            self._go_to(self.table.add(""), MODEL)
        self.view.setFocus()
        self.view.edit(self.view.currentIndex())

    def _take_away(self) -> None:
        """Removes the row, or sets it back to what the app has."""
        row = self.view.currentIndex().row()
        if row < 0:
            return
        self.view.settle()
        if self.table.lines[row].shipped is None:
            self.table.remove(row)
        else:
            self.table.set_back(row)
        self._edited()
        self.view.setFocus()

    def _save(self) -> None:
        self.view.settle()
        faults = self.table.faults(missing=True)
        if faults:
            place, sentence = faults[0]
            self._say(sentence)
            self._go_to(place.row(), place.column())
            self.view.setFocus()
            return
        try:
            self._service.keep_prices(self.table.rows(), self._shown)
        except UserError as error:
            self._say(str(error))
            return
        self.kept.emit()
        self.close()

    def _edited(self) -> None:
        faults = self.table.faults(missing=False)
        self._say(faults[0][1] if faults else "")
        self._show_buttons()

    def _show_buttons(self) -> None:
        row = self.view.currentIndex().row()
        line = self.table.lines[row] if 0 <= row < len(self.table.lines) else None
        self.remove_button.setEnabled(line is not None and line.shipped is None)
        self.back_button.setEnabled(line is not None and line.shipped is not None and line.own(MODEL))

    def _go_to(self, row: int, column: int) -> None:
        index = self.table.index(row, column)
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)
        self.answer.setVisible(bool(sentence))
        if sentence and self.isVisible():
            self.layout().activate()  # it takes its room from the table: what is being changed stays in view
            self.view.scrollTo(self.view.currentIndex())

    def _lay_out(self) -> None:
        lead = self.tr("US dollars for a million tokens. What is yours is in bold.")
        self.column.addWidget(Quiet(lead, self))
        self.column.addWidget(self.trouble)
        self.column.addWidget(self.view, 1)
        self.column.addWidget(self.answer)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        row.addWidget(self.back_button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addSpacing(4)
        honest = self.tr(
            "The app's prices are as the providers listed them when its table was made. Providers change "
            "them: compare with theirs."
        )
        self.column.addWidget(Quiet(honest, self))
        self.foot(self.save_button, self.close_button)
        self.save_button.setDefault(False)  # Enter on another button must not save


class _TableView(QTableView):
    """A table whose cells Enter opens, and that Tab leaves."""

    def shape(self) -> None:
        """How it looks and listens; its model is there."""
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
        header = self.horizontalHeader()
        header.setAccessibleName(self.tr("The table's columns"))
        header.setHighlightSections(False)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("00000.0000") + 12)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(MODEL, QHeaderView.ResizeMode.Stretch)
        self.setMinimumHeight(self.sizeHint().height() // 2)

    def sizeHint(self) -> QSize:
        """Room for a dozen rows."""
        rows = self.verticalHeader().defaultSectionSize() * ROWS_SEEN
        return QSize(super().sizeHint().width(), rows + self.horizontalHeader().sizeHint().height())

    def settle(self) -> None:
        """Takes over what is being typed."""
        editor = self.indexWidget(self.currentIndex())
        if editor is not None:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the cell."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            if self.state() != QAbstractItemView.State.EditingState and self.currentIndex().isValid():
                self.edit(self.currentIndex())
        else:
            super().keyPressEvent(event)


class _Cell(QStyledItemDelegate):
    """Names the field in which a cell is typed."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        """The field, with its model and column for who can't see them."""
        editor = super().createEditor(parent, option, index)
        table = index.model()
        head = table.headerData(index.column(), Qt.Orientation.Horizontal)
        name = table.index(index.row(), MODEL).data()
        editor.setAccessibleName(f"{name}: {head}" if index.column() != MODEL and name else head)
        if isinstance(editor, QLineEdit) and index.column() != MODEL:
            editor.setAlignment(_aligned(index.column()))
        return editor


def _aligned(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == MODEL else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
