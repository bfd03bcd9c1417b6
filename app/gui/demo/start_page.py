"""The demo's first page: which models and front-ends take part, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from app.demo.base import DemoBackend, DemoFrontEnd, DemoPlan, DemoQuestion
from app.demo.plan import duration, stations
from app.gui.demo.descriptions import DemoWords
from app.gui.demo.result_page import bold_label
from app.gui.widgets.panel import Quiet


class StartPage(QWidget):
    """Has a check box for each model and each front-end."""

    changed = Signal()
    """The plan, or what is offered, has changed."""

    def __init__(self, words: DemoWords, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = words
        self._questions: tuple[DemoQuestion, ...] = ()
        self.backend_boxes: list[tuple[DemoBackend, QCheckBox]] = []
        self.frontend_boxes: list[tuple[DemoFrontEnd, QCheckBox]] = []
        self.can_start = False
        """Whether the plan asks anything."""
        self.about = QLabel(
            self.tr(
                "Asks each model a few spoken questions, with each front-end, and changes the model once in "
                "mid-answer. At the end a chart shows who answered how, and how fast. You need no microphone, and "
                "need not do anything."
            ),
            self,
        )
        self.about.setWordWrap(True)
        self.note = Quiet("", self)
        self.quick = QCheckBox(self.tr("&Quick: one question each, and only the beginning of the answers"), self)
        self.quick.toggled.connect(self._on_changed)
        self.estimate = Quiet("", self)
        self._backend_column, self._frontend_column = QVBoxLayout(), QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.about)
        column.addSpacing(8)
        column.addWidget(bold_label(self.tr("Models"), self))
        column.addLayout(self._backend_column)
        column.addWidget(self.note)
        column.addSpacing(8)
        column.addWidget(bold_label(self.tr("Front-ends"), self))
        column.addLayout(self._frontend_column)
        column.addSpacing(8)
        column.addWidget(self.quick)
        column.addWidget(self.estimate)

    def show_looking(self) -> None:
        """Shows that models and front-ends are being looked for."""
        self._questions = ()
        self._set_note(self.tr("Looking for models …"))
        self._fill((), ())

    def show_offer(
        self, backends: Sequence[DemoBackend], frontends: Sequence[DemoFrontEnd], questions: Sequence[DemoQuestion]
    ) -> None:
        """Offers what can take part; what costs money is not ticked."""
        self._questions = tuple(questions)
        if not backends:
            note = self.tr("There is no model. Set KAME up again, or choose a model above the conversation first.")
        elif len(backends) == 1:
            note = self.tr(
                "There is only one model, so it can't be changed in mid-answer. Get a second one under “Models”."
            )
        elif any(backend.costs for backend in backends):
            note = self.tr("Models that cost money take part only if you tick them.")
        else:
            note = ""
        self._set_note(note)
        self._fill(backends, frontends)

    @property
    def plan(self) -> DemoPlan:
        """What is ticked."""
        return DemoPlan(
            tuple(backend for backend, box in self.backend_boxes if box.isChecked()),
            tuple(frontend for frontend, box in self.frontend_boxes if box.isChecked()),
            self.quick.isChecked(),
        )

    def _set_note(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _fill(self, backends: Sequence[DemoBackend], frontends: Sequence[DemoFrontEnd]) -> None:
        for _, box in (*self.backend_boxes, *self.frontend_boxes):
            box.hide()
            box.deleteLater()
        self.backend_boxes = [
            (backend, self._box(self._words.offered_backend(backend), not backend.costs, self._backend_column))
            for backend in backends
        ]
        self.frontend_boxes = [
            (frontend, self._box(self._words.offered_frontend(frontend), True, self._frontend_column))
            for frontend in frontends
        ]
        self._on_changed()

    def _box(self, text: str, checked: bool, column: QVBoxLayout) -> QCheckBox:
        box = QCheckBox(text.replace("&", "&&"), self)
        box.setChecked(checked)
        box.toggled.connect(self._on_changed)
        column.addWidget(box)
        box.show()  # at once, so that the panel is made high enough for it
        return box

    def _on_changed(self) -> None:
        plan = self.plan
        stops = stations(plan, self._questions) if self._questions else ()
        self.can_start = bool(stops)
        self.estimate.setVisible(bool(self._questions))
        if stops:
            text = self.tr("It takes {0}.").format(self._words.minutes(duration(stops, quick=plan.quick)))
            if not any(stop.swap for stop in stops):
                text += " " + self.tr("With only one model, none is changed in mid-answer.")
        else:
            text = self.tr("Tick at least one model and one front-end.")
        self.estimate.setText(text)
        self.changed.emit()
