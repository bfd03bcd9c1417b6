"""The page that the transcript shows while it is empty: a short introduction and sample questions.

On the first start of the app, the owner adds cards for the microphone and the model.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app.gui.design.fonts import set_size
from app.gui.design.look import Dressed
from app.gui.design.plain import PlainLabel
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, fill_area
from app.gui.widgets.panel import Quiet


class Welcome(Dressed, QScrollArea):
    """A heading, a tagline and four sample questions. Shows as many rows of questions as fit; scrolls if even the rest
    doesn't.
    """

    asked = Signal(str)
    """Emits the text of the clicked question."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = PlainLabel(self.tr("Ask me anything."), self)
        self.sentence = Quiet(self.tr("I start answering before you have finished."), self)
        for label in (self.heading, self.sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
        self.questions = [
            QPushButton(text, self)
            for text in (
                self.tr("What is the capital of Sweden?"),
                self.tr("How many days are there in a week?"),
                self.tr("Why does the moon change its shape?"),
                self.tr("Give me an idea for dinner tonight."),
            )
        ]
        for button in self.questions:
            button.setAutoDefault(False)
            button.setAccessibleName(self.tr("Ask: {0}").format(button.text()))
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _=False, button=button: self.asked.emit(button.text()))
        unit = tokens().unit
        self._grid = QGridLayout()
        self._grid.setSpacing(2 * unit)
        page, inner = QWidget(self), QWidget(self)
        inner.setMaximumWidth(tokens().column)
        around = self._around = QHBoxLayout(page)  # keeps the style's margins
        around.addStretch(1)
        around.addWidget(inner, 1000)
        around.addStretch(1)
        items = (None, self.heading, self.sentence, 2 * unit, self._grid, None)
        self._column = column(*items, within=inner, spacing=2 * unit)
        self._set_air(4)
        self._cards: QWidget | None = None
        fill_area(self, page)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Welcome"))
        self._columns = 0
        self._dress()

    def show_cards(self, cards: QWidget) -> None:
        """Shows `cards` above the questions."""
        self._cards = cards
        self._set_air(1)
        self._column.insertWidget(self._column.indexOf(self._grid), cards)
        cards.show()

    def drop_cards(self) -> None:
        """Removes the widget added by `show_cards`."""
        if self._cards is not None:
            self._cards.hide()
            self._cards.deleteLater()
            self._cards = None
            self._set_air(4)

    def _set_air(self, units: int) -> None:
        """Sets the top and bottom margins, in layout units."""
        unit = tokens().unit
        self._column.setContentsMargins(unit, units * unit, unit, units * unit)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # the stub expects a QResizeEvent, which this is
        self._arrange()

    def _dress(self) -> None:
        set_size(self.heading, "display", QFont.Weight.DemiBold)
        set_size(self.sentence, "body")
        self._arrange()

    def _arrange(self) -> None:
        """Arranges the questions in two columns if there is space, otherwise in one, and shows the rows that fit."""
        widest = max(button.sizeHint().width() for button in self.questions)
        room = min(self.viewport().width(), tokens().column)
        columns = 2 if room >= 2 * widest + 10 * tokens().unit else 1
        if columns != self._columns:
            self._columns = columns
            for place, button in enumerate(self.questions):
                self._grid.removeWidget(button)
                self._grid.addWidget(button, place // columns, place % columns)
        row = self.questions[0].sizeHint().height() + self._grid.spacing()
        shown = sum(not button.isHidden() for button in self.questions)
        rest = self._around.totalHeightForWidth(self.viewport().width()) - -(-shown // columns) * row
        rows = max(0, (self.viewport().height() - rest) // row)
        for place, button in enumerate(self.questions):
            button.setVisible(place // columns < rows)
