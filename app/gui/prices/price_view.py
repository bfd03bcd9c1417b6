"""The table view of the prices: Enter edits a cell, Tab leaves the table."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.gui.prices.price_table import MODEL, Index, aligned

ROWS_SEEN = 12


class PriceView(QTableView):
    """A table whose cells Enter opens, and that Tab leaves."""

    def shape(self) -> None:
        """Sets its columns, keys and delegate, once it has its model."""
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
        """Room for `ROWS_SEEN` rows."""
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
    """Names the field in which a cell is typed, for screen readers."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        table = index.model()
        head = table.headerData(index.column(), Qt.Orientation.Horizontal)
        name = table.index(index.row(), MODEL).data()
        editor.setAccessibleName(f"{name}: {head}" if index.column() != MODEL and name else head)
        if isinstance(editor, QLineEdit) and index.column() != MODEL:
            editor.setAlignment(aligned(index.column()))
        return editor
