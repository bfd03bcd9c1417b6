"""A box that downloads a model to a server by its name, with progress and a way to stop."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import StatusLine, bold, progress_bar, push_button, row, set_share
from app.services.backend_service import BackendService
from app.session.control import BackendChoice

FETCH = "fetch a model"


class PullBox(QWidget):
    """`fetched` emits a `BackendChoice` once its model is there. A download goes on while the box is hidden."""

    fetched = Signal(object)
    reshaped = Signal()
    _reported = Signal(str, float)

    def __init__(self, service: BackendService, background: BackgroundTasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._server = BackendChoice("")
        self.name = QLineEdit(self)
        self.name.setAccessibleName(self.tr("Model to download"))
        self.name.setPlaceholderText(self.tr("model to download, such as gemma3:4b"))
        self.fetch_button = push_button(self.tr("&Download"), self.tr("Download the model"), self)
        self.cancel_button = push_button(self.tr("Stop"), self.tr("Stop the download"), self)
        self.bar = progress_bar(self.tr("Download of the model"), self)
        self.words = StatusLine(self.tr("State of the download"), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(8)
        column.addWidget(bold(self.tr("Download a model"), self))
        column.addLayout(row(self.name, self.fetch_button, self.cancel_button))
        column.addWidget(self.bar)
        column.addWidget(self.words)
        self.name.returnPressed.connect(self._fetch)
        self.fetch_button.clicked.connect(self._fetch)
        self.cancel_button.clicked.connect(self._cancel)
        # The service may report from its own thread: a signal moves the report to this one.
        self._reported.connect(self._show_progress)
        self._show("")

    def turn_to(self, choice: BackendChoice, can_pull: bool) -> None:
        """Downloads to this choice's server from now on; hidden if that server can't download."""
        self.setVisible(can_pull)
        if not self._background.busy(FETCH):
            self._server = choice
            self._show("")

    def _fetch(self) -> None:
        name = self.name.text().strip()
        if not name or self._background.busy(FETCH):
            return
        choice = BackendChoice(self._server.provider, name, self._server.base_url)
        self.bar.setValue(0)
        self._background.run(
            self, FETCH, lambda: self._service.pull(choice, self._report), lambda _: self._done(choice), self._show
        )
        self._show(self.tr("Requesting {0} …").format(name))

    def _cancel(self) -> None:
        self._background.cancel(FETCH)
        self._show(self.tr("Stopped. What has been downloaded is kept: download it again to continue."))

    def _done(self, fetched: BackendChoice) -> None:
        self.name.clear()
        self.fetched.emit(fetched)
        self._show(self.tr("{0} is on the server.").format(fetched.model))

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._reported.emit(words, share)

    @Slot(str, float)
    def _show_progress(self, words: str, share: float) -> None:
        if self._background.busy(FETCH):
            set_share(self.bar, share)
            self.words.setText(words)

    def _show(self, words: str) -> None:
        busy = self._background.busy(FETCH)
        self.words.say(words)
        self.bar.setVisible(busy)
        self.name.setEnabled(not busy)
        self.fetch_button.setVisible(not busy)
        self.cancel_button.setVisible(busy)
        self.reshaped.emit()
