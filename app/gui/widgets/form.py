"""Factory functions for parts of forms and dialogs: rows, labels, buttons, progress bars, tables and status lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.gui.design.fonts import embolden
from app.gui.design.plain import OnClick, PlainLabel, connect_click, named
from app.gui.widgets.panel import Quiet

PERMILLE = 1000
Margins = int | tuple[int, int, int, int]
"""The margins around a layout's items in pixels: one value for all sides, or left, top, right and bottom."""
_Box = TypeVar("_Box", QHBoxLayout, QVBoxLayout)


class StatusLine(Quiet):
    """A selectable status message, hidden while empty. `name` is its accessible name."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent=parent, name=name, selectable=True)
        self.hide()


Item = QWidget | QLayout | int | tuple[Any, ...] | None
"""A widget, a layout, a gap in pixels, or None for a stretch. A tuple adds a stretch factor and an alignment."""


def row(
    *items: Item, within: QWidget | None = None, spacing: int | None = None, margins: Margins = 0, stretch: int = -1
) -> QHBoxLayout:
    """Returns a layout with the items side by side.

    Args:
        within: the widget on which the layout is set, if any.
        spacing: the gap between items in pixels; None for the style's default.
        margins: the margins around the items.
        stretch: the index of the item that takes the remaining space; -1 for none.
    """
    return _laid_out(QHBoxLayout(), within, items, spacing, margins, stretch)


def column(
    *items: Item, within: QWidget | None = None, spacing: int | None = None, margins: Margins = 0, stretch: int = -1
) -> QVBoxLayout:
    """Returns a layout with the items stacked vertically. The arguments are the same as for `row`."""
    return _laid_out(QVBoxLayout(), within, items, spacing, margins, stretch)


def _laid_out(
    layout: _Box, within: QWidget | None, items: Iterable[Item], spacing: int | None, margins: Margins, stretch: int
) -> _Box:
    if within is not None:
        within.setLayout(layout)
    if spacing is not None:
        layout.setSpacing(spacing)
    layout.setContentsMargins(*_sides(margins))
    add_items(layout, *items)
    if stretch >= 0:
        layout.setStretch(stretch, 1)
    return layout


def _sides(margins: Margins) -> tuple[int, int, int, int]:
    return margins if isinstance(margins, tuple) else (margins, margins, margins, margins)


def add_items(layout: QBoxLayout, *items: Item) -> None:
    """Appends items to a row or column."""
    for item in items:
        part, *how = item if isinstance(item, tuple) else (item,)
        if part is None:
            layout.addStretch(*(how or (1,)))
        elif isinstance(part, int):
            layout.addSpacing(part)
        elif isinstance(part, QWidget):
            layout.addWidget(part, *how)
        else:
            layout.addLayout(part, *how)


def grid(across: int, down: int, *, stretch: int, within: QWidget | None = None, margins: Margins = 0) -> QGridLayout:
    """Returns an empty grid layout.

    Args:
        across: the gap between columns in pixels.
        down: the gap between rows in pixels.
        stretch: the index of the column that takes the remaining space.
        within: the widget on which the layout is set, if any.
        margins: the margins around the grid.
    """
    layout = QGridLayout(within)
    layout.setContentsMargins(*_sides(margins))
    layout.setHorizontalSpacing(across)
    layout.setVerticalSpacing(down)
    layout.setColumnStretch(stretch, 1)
    return layout


def bold(text: str, parent: QWidget) -> PlainLabel:
    """Returns a semi-bold label."""
    label = PlainLabel(text, parent)
    embolden(label)
    return label


def label_of(field: QWidget, text: str, parent: QWidget) -> PlainLabel:
    """Returns a label that is the buddy of `field`: its mnemonic moves focus there."""
    label = PlainLabel(text, parent)
    label.setBuddy(field)
    return label


def wrapped(parent: QWidget, name: str = "", text: str = "") -> PlainLabel:
    """Returns a plain-text label with word wrap. `name` is its accessible name."""
    label = named(PlainLabel(text, parent), name)
    label.setWordWrap(True)
    return label


def push_button(text: str, name: str, parent: QWidget, does: OnClick | None = None) -> QPushButton:
    """Returns a button that isn't triggered by Enter in a text field.

    `name` is its accessible name. `does` is called or emitted on a click.
    """
    button = named(QPushButton(text, parent), name)
    button.setAutoDefault(False)
    connect_click(button, does)
    return button


def progress_bar(name: str, parent: QWidget, *, slim: bool = False) -> QProgressBar:
    """Returns a progress bar for use with `set_share`. A `slim` one is half a line high and has no text."""
    bar = named(QProgressBar(parent), name)
    bar.setRange(0, PERMILLE)
    if slim:
        bar.setTextVisible(False)
        bar.setFixedHeight(bar.fontMetrics().height() // 2 + 2)
    return bar


def set_share(bar: QProgressBar, share: float) -> None:
    """Sets the progress, as a fraction from 0 to 1."""
    bar.setValue(round(min(1.0, max(0.0, share)) * PERMILLE))


def text_field(parent: QWidget, name: str, hint: str) -> QLineEdit:
    """Returns an input field. `name` is its accessible name, and `hint` the placeholder text."""
    field = named(QLineEdit(parent), name)
    field.setPlaceholderText(hint)
    return field


def api_key_field(name: str, hint: str, parent: QWidget) -> QLineEdit:
    """Returns a masked input field for an API key, without predictive text input. `hint` is the placeholder text."""
    field = text_field(parent, name, hint)
    field.setEchoMode(QLineEdit.EchoMode.Password)
    hints = Qt.InputMethodHint
    field.setInputMethodHints(hints.ImhHiddenText | hints.ImhSensitiveData | hints.ImhNoPredictiveText)
    return field


def search_field(parent: QWidget, name: str, hint: str = "") -> QLineEdit:
    """Returns a search field with a button to clear it. `name` is its accessible name and the default hint."""
    field = text_field(parent, name, hint or name)
    field.setClearButtonEnabled(True)
    return field


def fill_area(area: QScrollArea, inside: QWidget) -> None:
    """Shows `inside` in a scroll area that only scrolls vertically, without a frame or a background."""
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    for part in (area.viewport(), inside):
        part.setAutoFillBackground(False)


def set_up_table(table: QTableView, name: str, swatch: int) -> None:
    """Makes a table plain and read-only. Selections cover whole rows, and Tab moves focus out of the table.

    `name` is its accessible name. `swatch` is the size of colour swatches in pixels.
    """
    table.setAccessibleName(name)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setIconSize(QSize(swatch, swatch))
    table.horizontalHeader().setHighlightSections(False)
    rows = table.verticalHeader()
    rows.hide()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(table.fontMetrics().height() + 8)


class DollarBox(QDoubleSpinBox):
    """A spin box for an amount in US dollars, without thousands separators."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        locale = QLocale(self.locale())
        options = QLocale.NumberOption
        locale.setNumberOptions(options.RejectGroupSeparator | options.OmitGroupSeparator)
        self.setLocale(locale)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Validates the text after replacing the decimal separator with the locale's."""
        return super().validate(self._pointed(text), place)

    def valueFromText(self, text: str) -> float:
        """Parses the text after replacing the decimal separator with the locale's."""
        return super().valueFromText(self._pointed(text))

    def _pointed(self, text: str) -> str:
        if text == self.specialValueText():
            return text
        point = self.locale().decimalPoint()
        return text.replace(",", point) if point == "." else text.replace(".", point)
