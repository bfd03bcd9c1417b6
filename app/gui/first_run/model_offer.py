"""The first run's offer of a better language model: the best that this machine runs in time, with its size."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Quiet
from app.services.model_service import ModelView
from app.settings.declarations import Settings

LOOK = "first run: the best model"


class ModelOffer(QWidget):
    """Hidden until something better than the smallest model is known to run here. The download goes on without it."""

    def __init__(
        self, manager: ModelsController, settings: Settings, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._manager = manager
        self._settings = settings
        self._errands = background
        self._view: ModelView | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        self.words = Quiet(parent=self)
        self.words.setAccessibleName(self.tr("A better model"))
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Download of the model"))
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.get_button = QPushButton(self.tr("&Get it"), self)
        self.get_button.setAccessibleName(self.tr("Get the better model"))
        self.stop_button = QPushButton(self.tr("Sto&p"), self)
        self.stop_button.setAccessibleName(self.tr("Stop the download of the model"))
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addStretch(1)
        for button in (self.get_button, self.stop_button):
            button.setAutoDefault(False)
            row.addWidget(button)
        column.addWidget(self.words)
        column.addLayout(row)
        self.get_button.clicked.connect(self._get)
        self.stop_button.clicked.connect(manager.stop)
        manager.progressed.connect(self._progressed)
        manager.arrived.connect(lambda key: self._show() if self._view is not None and key == self._view.key else None)
        manager.failed.connect(self._failed)
        self.hide()

    def look(self) -> None:
        """Finds out which model is the best here; that may take some seconds, since the smallest is timed once."""
        if self._view is None and not self._manager.busy:
            work = self._manager.service.best
            language = self._settings.language
            self._errands.run(LOOK, lambda: asyncio.to_thread(work, language), self._found, lambda sentence: None)

    def _found(self, view: ModelView | None) -> None:
        self._view = view
        self._show()

    def _get(self) -> None:
        if self._view is not None:
            self._manager.get(self._view.key)
            self._show()

    def _progressed(self, words: str, share: float) -> None:
        self.bar.setValue(round(max(0.0, share) * 1000))

    def _failed(self, sentence: str) -> None:
        self._show()
        self.words.setText(sentence)

    def _show(self) -> None:
        view = self._view
        self.setVisible(view is not None)
        if view is None:
            return
        size, busy = f"{view.bytes / 1e9:.1f}", self._manager.busy
        here = view.usable or not any(v.key == view.key and not v.usable for v in self._manager.service.models())
        if here:
            words = self.tr("{0} is here, and the built-in brain uses it.").format(view.label)
        elif busy:
            words = self.tr("{0} is coming ({1} GB). Until it is here, the small one answers.").format(view.label, size)
        else:
            words = self.tr("This machine also runs {0} in time ({1} GB to download), which knows far more.").format(
                view.label, size
            )
        self.words.setText(words)
        self.bar.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.get_button.setVisible(not busy and not here)
