"""The first run's first page “This machine”: what it has, row by row, and what fits it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.gui.first_run.cards.choice_card import Boxed
from app.gui.first_run.cards.graphics_strip import GraphicsStrip
from app.gui.first_run.page import Page
from app.gui.first_run.signs import Mark
from app.gui.models.graphics_controller import GraphicsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import bold, grid, progress_bar, push_button, row, set_share, wrapped
from app.gui.widgets.panel import Quiet
from app.services.machine_service import MachineService, MachineView

CHECK = "check the machine"


class MachinePage(Page):
    """Checks the machine in the background; `found` emits a `MachineView`."""

    found = Signal(object)
    failed = Signal()
    """It could not be checked; the page says why."""

    def __init__(
        self,
        machine: MachineService,
        graphics: GraphicsController | None,
        background: BackgroundTasks,
        parent: QWidget,
    ) -> None:
        super().__init__(
            self.tr("This machine"),
            self.tr("What this machine has, and what fits it. The embedded voice works on any machine."),
            parent,
        )
        self._machine = machine
        self._background = background
        self._had_focus = False
        self.view: MachineView | None = None
        self._row_widgets: list[QWidget] = []
        self.bar = progress_bar(self.tr("Check of this machine"), self, slim=True)
        self.progress = Quiet(parent=self)
        self.progress.setAccessibleName(self.tr("What is being checked"))
        self.rows = grid(10, 9, stretch=2)
        self.box = Boxed(self, live=True)
        self.advice = wrapped(self.box, self.tr("What fits this machine"))
        self.box.column.addWidget(self.advice)
        self.again = push_button(self.tr("Check a&gain"), self.tr("Check again"), self)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.progress)
        self.graphics = GraphicsStrip(graphics, self)
        self.column.addLayout(self.rows)
        self.column.addSpacing(4)
        self.column.addWidget(self.graphics)
        self.column.addWidget(self.box)
        self.column.addLayout(row(self.again, None))
        self.column.addStretch(1)
        self.again.clicked.connect(self.check)
        self._show(busy=False)

    def check(self) -> None:
        """Checks the machine, again if it was checked before."""
        self._had_focus = self.again.hasFocus()
        self.bar.setValue(0)
        self.progress.setText(self.tr("Checking this machine …"))
        self._background.run(self, CHECK, lambda: self._machine.look(self._report), self._found, self._failed)
        self._show(busy=True)

    def stop(self) -> None:
        self._background.cancel(CHECK)

    def _report(self, words: str, share: float) -> None:
        self.progress.setText(words)
        set_share(self.bar, share)

    def _found(self, view: MachineView) -> None:
        self.view = view
        names = {
            "card": self.tr("Graphics card"),
            "processor": self.tr("Processor"),
            "disk": self.tr("Disk"),
            "microphone": self.tr("Microphone"),
            "loudspeaker": self.tr("Loudspeaker"),
            "ollama": self.tr("Ollama"),
            "keys": self.tr("Keys"),
        }
        for widget in self._row_widgets:
            self.rows.removeWidget(widget)
            widget.deleteLater()
        self._row_widgets = []
        for line, finding in enumerate(view.findings):
            mark, topic = Mark(finding.state, self), names[finding.topic]
            name = f"{topic}, {mark.accessibleName()}: {finding.sentence}"
            for column, widget in enumerate((mark, bold(topic, self), wrapped(self, name, finding.sentence))):
                self.rows.addWidget(widget, line, column, Qt.AlignmentFlag.AlignTop)
                self._row_widgets.append(widget)
        self.advice.setText(view.advice)
        self.graphics.show_offer(view.graphics)
        self._show(busy=False)
        self.found.emit(view)

    def _failed(self, sentence: str) -> None:
        self._show(busy=False)
        self.progress.setText(sentence)
        self.progress.setVisible(True)
        if self.view is None:
            self.failed.emit()

    def _show(self, *, busy: bool) -> None:
        """Disables the button during a check, and gives it the focus back after it."""
        self.bar.setVisible(busy)
        self.progress.setVisible(busy)
        self.box.setVisible(bool(self.advice.text()))
        self.again.setVisible(self.view is not None or not busy)
        self.again.setEnabled(not busy)
        if self._had_focus and not busy and self.isVisible():
            self._had_focus = False
            self.again.setFocus()
