"""Has a server fetch a model by name: a field, a bar that tells how far it is, and a way to stop it."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Quiet
from app.services.backend_service import BackendService
from app.session.control import BackendChoice

ERRAND = "fetch a model"


class PullBox(QWidget):
    """`fetched` tells a `BackendChoice` when its model is there. What is under way goes on when the box is hidden."""

    fetched = Signal(object)
    reshaped = Signal()
    _told = Signal(str, float)

    def __init__(self, service: BackendService, background: BackgroundTasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._errands = background
        self._server = BackendChoice("")
        heading = QLabel(self.tr("Fetch a model"), self)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        self.name = QLineEdit(self)
        self.name.setAccessibleName(self.tr("Model to fetch"))
        self.name.setPlaceholderText(self.tr("model to fetch, such as gemma3:4b"))
        self.fetch_button = QPushButton(self.tr("F&etch"), self)
        self.fetch_button.setAccessibleName(self.tr("Fetch the model"))
        self.cancel_button = QPushButton(self.tr("Cancel"), self)
        self.cancel_button.setAccessibleName(self.tr("Stop fetching"))
        for button in (self.fetch_button, self.cancel_button):
            button.setAutoDefault(False)
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Fetching the model"))
        self.bar.setRange(0, 1000)
        self.words = Quiet(parent=self, selectable=True)
        self.words.setAccessibleName(self.tr("How the fetching goes"))
        row = QHBoxLayout()
        row.addWidget(self.name, 1)
        row.addWidget(self.fetch_button)
        row.addWidget(self.cancel_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(8)
        column.addWidget(heading)
        column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.words)
        self.name.returnPressed.connect(self._fetch)
        self.fetch_button.clicked.connect(self._fetch)
        self.cancel_button.clicked.connect(self._cancel)
        # The desk may report from a thread of its own: a signal brings its words to this one.
        self._told.connect(self._tell)
        self._show("")

    def turn_to(self, choice: BackendChoice, can_pull: bool) -> None:
        """Fetches to this brain's server from now on, if it can fetch."""
        self.setVisible(can_pull)
        if not self._errands.busy(ERRAND):
            self._server = choice
            self._show("")

    def _fetch(self) -> None:
        name = self.name.text().strip()
        if not name or self._errands.busy(ERRAND):
            return
        wanted = BackendChoice(self._server.provider, name, self._server.base_url)
        self.bar.setValue(0)
        self._errands.run(
            ERRAND, lambda: self._service.pull(wanted, self._report), lambda _: self._done(wanted), self._show
        )
        self._show(self.tr("asking for {0}").format(name))

    def _cancel(self) -> None:
        self._errands.cancel(ERRAND)
        self._show(self.tr("Stopped. What has come is kept: fetching it again goes on from there."))

    def _done(self, fetched: BackendChoice) -> None:
        self.name.clear()
        self.fetched.emit(fetched)
        self._show(self.tr("{0} is here.").format(fetched.model))

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._told.emit(words, share)

    @Slot(str, float)
    def _tell(self, words: str, share: float) -> None:
        if self._errands.busy(ERRAND):
            self.bar.setValue(round(min(1.0, max(0.0, share)) * 1000))
            self.words.setText(words)

    def _show(self, words: str) -> None:
        busy = self._errands.busy(ERRAND)
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.bar.setVisible(busy)
        self.name.setEnabled(not busy)
        self.fetch_button.setVisible(not busy)
        self.cancel_button.setVisible(busy)
        self.reshaped.emit()
