"""What the transcript shows before the first word: what one can do, and questions to begin with."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.theme import tokens
from app.gui.widgets.panel import Quiet


class Welcome(QWidget):
    """A heading, a sentence, and four questions."""

    asked = Signal(str)
    """A question was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = QLabel(self.tr("Ask me anything."), self)
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
        inner = QWidget(self)
        inner.setMaximumWidth(tokens().column)
        around = QHBoxLayout(self)
        around.addStretch(1)
        around.addWidget(inner, 1000)
        around.addStretch(1)
        column = QVBoxLayout(inner)
        column.setContentsMargins(unit, 4 * unit, unit, 4 * unit)
        column.setSpacing(2 * unit)
        column.addStretch(1)
        column.addWidget(self.heading)
        column.addWidget(self.sentence)
        column.addSpacing(4 * unit)
        column.addLayout(self._grid)
        column.addStretch(1)
        self._columns = 0
        self._fit()

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # the stub wants a QResizeEvent, which it is
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        set_size(self.heading, "display", QFont.Weight.DemiBold)
        set_size(self.sentence, "body")
        self._arrange()

    def _arrange(self) -> None:
        """The questions stand in two columns where they fit, else below each other."""
        widest = max(button.sizeHint().width() for button in self.questions)
        room = min(self.width(), tokens().column)
        columns = 2 if room >= 2 * widest + 10 * tokens().unit else 1
        if columns != self._columns:
            self._columns = columns
            for place, button in enumerate(self.questions):
                self._grid.removeWidget(button)
                self._grid.addWidget(button, place // columns, place % columns)
