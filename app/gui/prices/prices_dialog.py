"""The Prices dialog, in which the user can edit the table of model prices."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import named
from app.gui.prices.price_table import MODEL, READ, PriceTable, PriceView
from app.gui.widgets.form import StatusLine, add_items, row
from app.gui.widgets.panel import Panel, Quiet
from app.services.price_service import PriceRow, PriceService
from app.session.control import UserError


class PricesDialog(Panel):
    """Edits the prices managed by `service`. Emits `kept` after saving."""

    kept = Signal()

    def __init__(self, service: PriceService, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Prices"))
        self.setMinimumWidth(600)
        self._service = service
        self._unpriced = ""
        self._shown: Sequence[PriceRow] = ()
        self.trouble = StatusLine(self.tr("What is wrong with your price table"), self)
        self.table = PriceTable(self)
        self.view = named(PriceView(self), self.tr("Prices, in US dollars per million tokens"))
        self.view.setModel(self.table)
        self.view.shape()
        self.answer = StatusLine(self.tr("What can't be saved"), self)
        self.add_button = self.button(self.tr("&Add a model"), does=self._add)
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the model"), does=self._remove)
        self.back_button = self.button(self.tr("&Back to the app's price"), does=self._remove)
        self.save_button = self.button(self.tr("&Save"), does=self._save)
        self.close_button = self.button(self.tr("Cancel"), does=self.close)
        self._lay_out()
        self.view.selectionModel().currentChanged.connect(self._show_buttons)
        self.table.dataChanged.connect(self._edited)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.view, self._remove)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)

    def open_with(self, model: str = "") -> None:
        """Opens the dialog with the current prices, or brings it to the front, unchanged, if it is already open.

        `model`: a model without a price whose row is selected, and added if necessary; empty for none.
        """
        if not self.isVisible():
            rows, trouble = self._service.prices()
            if trouble:
                trouble += " " + self.tr("If you save here, a new one is written, and a copy of the old one is kept.")
            self.trouble.say(trouble)
            self._shown = rows
            self.table.show_rows(rows)
            self._say("")
            self._show_buttons()
            self._go_to(0, READ)  # otherwise, the view would select the first cell on focus, which isn't editable
        self.appear()
        self._unpriced = model
        if model:
            self.show_model(model)
        self.view.setFocus()

    def show_model(self, model: str) -> None:
        """Selects the row of a model, adding one if there is none."""
        self.view.commit()
        row = self.table.place(model)
        self._go_to(self.table.add(model) if row < 0 else row, READ)

    def _add(self) -> None:
        self.view.commit()
        if self._unpriced and self.table.place(self._unpriced) < 0:
            self.show_model(self._unpriced)
        else:
            self._go_to(self.table.add(""), MODEL)
        self.view.setFocus()
        self.view.edit(self.view.currentIndex())

    def _remove(self) -> None:
        """Removes the current row, or restores its prices if it has the app's own."""
        row = self.view.currentIndex().row()
        if row < 0:
            return
        self.view.commit()
        if self.table.lines[row].shipped is None:
            self.table.remove(row)
        else:
            self.table.set_back(row)
        self._edited()
        self.view.setFocus()

    def _save(self) -> None:
        self.view.commit()
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
        self.answer.say(sentence)
        if sentence and self.isVisible():
            self.column.activate()  # the message shrinks the table, so keep the edited cell in view
            self.view.scrollTo(self.view.currentIndex())

    def _lay_out(self) -> None:
        lead = self.tr("US dollars per million tokens. Your own prices are in bold.")
        buttons = row(self.add_button, self.remove_button, self.back_button, None)
        add_items(self.column, Quiet(lead, self), self.trouble, (self.view, 1), self.answer, buttons, 4)
        note = self.tr(
            "The app's prices are those that the providers listed when this version was made. Check them with the "
            "provider: prices change."
        )
        self.column.addWidget(Quiet(note, self))
        self.foot(self.save_button, self.close_button)
        self.save_button.setDefault(False)  # Enter must not save while another widget has focus
