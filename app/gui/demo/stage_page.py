"""The demo's page with both sides at work: on a recorded question, or on a visitor's own."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.demo.base import SIDES, DemoBackend
from app.gui.demo.fitted_text import SMALL_SHARE, FittedText
from app.gui.demo.models_row import ModelsRow
from app.gui.demo.side_view import SideView
from app.gui.demo.verdict import Verdict
from app.gui.design.theme import tokens


class StagePage(QWidget):
    """`sides` are the two views. The talk button and the models are there for a visitor's question alone."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._verdict = Verdict(self)
        self.question = FittedText(self, lines=2, weight=QFont.Weight.DemiBold)
        self.hint = FittedText(self, colour="dim", weight=QFont.Weight.Medium)
        self.sides = {side: SideView(side, self._verdict.name(side), self) for side in SIDES}
        self.talk = QPushButton(self.tr("Hold to ask"), self)
        self.talk.setProperty("primary", True)
        self.talk.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the space bar does the same wherever the focus is
        self.models = ModelsRow(self)
        self.note = FittedText(self, colour="dim", lines=2, share=SMALL_SHARE)
        unit = tokens().unit
        pair = QHBoxLayout()
        pair.setSpacing(4 * unit)
        for view in self.sides.values():
            pair.addWidget(view, 1)
        row = QHBoxLayout()
        row.setSpacing(4 * unit)
        self.talk.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        row.addWidget(self.talk)
        row.addWidget(self.models, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(6 * unit, 4 * unit, 6 * unit, 3 * unit)
        column.setSpacing(2 * unit)
        column.addWidget(self.question, 11)
        column.addWidget(self.hint, 6)
        column.addLayout(pair, 73)
        column.addLayout(row, 5)
        column.addWidget(self.note, 5)
        self._for_visitors(False)

    def show_question(self, text: str, number: int, total: int, note: str) -> None:
        """A recorded question is asked; nothing of the one before it is left."""
        self.question.show_text(text)
        self.hint.show_text(self.tr("{0} of {1}").format(number, total))
        self.note.show_text(note)
        self._for_visitors(False)

    def show_preparing(self, number: int, total: int) -> None:
        """The question is still being recorded."""
        self.question.show_text(self.tr("Both are being asked, one after the other …"))
        self.hint.show_text(self.tr("{0} of {1}").format(number, total))
        self.note.show_text("")
        self._for_visitors(False)
        self.clear()

    def show_asking(self, backends: Sequence[DemoBackend], current: int) -> None:
        """A visitor may ask."""
        self.question.show_text(self.tr("Ask it yourself"))
        self.note.show_text(
            self.tr("The tandem answers live. The cascade then gets the recording of your question, silently.")
        )
        self.hint.show_text(self.tr("Getting ready …"))
        self.talk.setEnabled(False)
        self.models.show_models([backend.label for backend in backends], current)
        self._for_visitors(True)
        self.clear()

    def show_ready(self) -> None:
        """A visitor is heard from now on."""
        self.talk.setEnabled(True)
        if len(self.models.labels) > 1:
            self.hint.show_text(self.tr("Hold the space bar and ask. Press 2 in mid-sentence to change its mind."))
        else:
            self.hint.show_text(self.tr("Hold the space bar and ask. There is only one model here to answer."))

    def show_verdict(self, cascade: float | None, tandem: float | None) -> None:
        """Who was heard first, once both were."""
        if words := self._verdict.words(cascade, tandem):
            self.hint.show_text(words)

    def show_model(self, label: str) -> None:
        """Shows which model answers on both sides."""
        for view in self.sides.values():
            view.model.show_text(label)

    def clear(self) -> None:
        """Both sides are at rest."""
        for view in self.sides.values():
            view.clear()

    def _for_visitors(self, on: bool) -> None:
        self.talk.setVisible(on)
        self.models.setVisible(on)
