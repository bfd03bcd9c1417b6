"""The first run's first page: what this machine has, row by row, and what fits it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.gui.first_run.graphics_strip import GraphicsStrip
from app.gui.first_run.parts import Boxed, Page
from app.gui.first_run.signs import Mark
from app.gui.models.graphics_controller import GraphicsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Quiet
from app.services.machine_service import MachineService, MachineView

ERRAND = "look at the machine"


class MachinePage(Page):
    """`found` tells a `MachineView`. Looks in the background: nothing has to wait for it."""

    found = Signal(object)
    failed = Signal()
    """It could not be looked at; the page itself says why."""

    def __init__(
        self,
        machine: MachineService,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        graphics: GraphicsController | None = None,
    ) -> None:
        self.title = self.tr("This machine")
        self.words = self.tr("What is here, and what fits it. The embedded voice is ready in any case.")
        super().__init__(parent)
        self._machine = machine
        self._errands = background
        self._asked = False
        self.view: MachineView | None = None
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Looking at this machine"))
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(self.fontMetrics().height() // 2 + 2)
        self.progress = Quiet(parent=self)
        self.progress.setAccessibleName(self.tr("What is being looked at"))
        self.rows = QGridLayout()
        self.rows.setHorizontalSpacing(10)
        self.rows.setVerticalSpacing(9)
        self.rows.setColumnStretch(2, 1)
        self.box = Boxed(self, live=True)
        self.advice = QLabel(self.box)
        self.advice.setWordWrap(True)
        self.advice.setTextFormat(Qt.TextFormat.PlainText)
        self.advice.setAccessibleName(self.tr("What fits this machine"))
        self.box.column.addWidget(self.advice)
        self.again = QPushButton(self.tr("&Look again"), self)
        self.again.setAccessibleName(self.tr("Look again"))
        self.again.setAutoDefault(False)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.progress)
        self.graphics = GraphicsStrip(graphics, self)
        self.column.addLayout(self.rows)
        self.column.addSpacing(4)
        self.column.addWidget(self.graphics)
        self.column.addWidget(self.box)
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addStretch(1)
        self.again.clicked.connect(self.look)
        self._show(looking=False)

    def look(self) -> None:
        """Looks at the machine, anew if it has before."""
        self._asked = self.again.hasFocus()
        self.bar.setValue(0)
        self.progress.setText(self.tr("Looking at this machine …"))
        self._errands.run(ERRAND, lambda: self._machine.look(self._report), self._found, self._failed)
        self._show(looking=True)

    def stop(self) -> None:
        """Ends a look that is under way."""
        self._errands.cancel(ERRAND)

    def _report(self, words: str, share: float) -> None:
        self.progress.setText(words)
        self.bar.setValue(round(min(1.0, max(0.0, share)) * 1000))

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
        while self.rows.count():
            self.rows.takeAt(0).widget().deleteLater()
        top = Qt.AlignmentFlag.AlignTop
        for row, finding in enumerate(view.findings):
            mark = Mark(finding.state, self)
            topic, words = QLabel(names[finding.topic], self), QLabel(finding.sentence, self)
            font = topic.font()
            font.setBold(True)
            topic.setFont(font)
            words.setWordWrap(True)
            words.setTextFormat(Qt.TextFormat.PlainText)
            words.setAccessibleName(f"{names[finding.topic]}, {mark.accessibleName()}: {finding.sentence}")
            for column, widget in enumerate((mark, topic, words)):
                self.rows.addWidget(widget, row, column, top)
        self.advice.setText(view.advice)
        self.graphics.show_offer(view.graphics)
        self._show(looking=False)
        self.found.emit(view)

    def _failed(self, sentence: str) -> None:
        self._show(looking=False)
        self.progress.setText(sentence)
        self.progress.setVisible(True)
        if self.view is None:
            self.failed.emit()

    def _show(self, *, looking: bool) -> None:
        """The button waits while a look is under way, and then has the keyboard again if it had."""
        self.bar.setVisible(looking)
        self.progress.setVisible(looking)
        self.box.setVisible(bool(self.advice.text()))
        self.again.setVisible(self.view is not None or not looking)
        self.again.setEnabled(not looking)
        if self._asked and not looking and self.isVisible():
            self._asked = False
            self.again.setFocus()
