"""The first run's offer of a better language model: the best that is fast enough on this machine, with its size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import progress_bar, push_button, row, set_share
from app.gui.widgets.panel import Quiet
from app.services.model_service import ModelView

BEST = "first run: the best model"


def find_best(
    context: QObject,
    background: BackgroundTasks,
    controller: ModelsController,
    language: str,
    found: Callable[[ModelView | None], None],
) -> None:
    """Finds the best model that runs here, for `context`; may take some seconds, since the smallest is timed first."""
    best = controller.service.best
    if not controller.busy:
        background.run(context, BEST, lambda: asyncio.to_thread(best, language), found, lambda sentence: None)


class ModelOffer(QWidget):
    """Hidden until something better than the smallest model is known to run here. A download goes on without it."""

    def __init__(self, controller: ModelsController, parent: QWidget) -> None:
        super().__init__(parent)
        self._controller = controller
        self._view: ModelView | None = None
        self.words = Quiet(parent=self)
        self.words.setAccessibleName(self.tr("A better model"))
        self.bar = progress_bar(self.tr("Download of the better model"), self, slim=True)
        self.get_button = push_button(self.tr("Do&wnload"), self.tr("Download the better model"), self)
        self.stop_button = push_button(self.tr("Sto&p"), self.tr("Stop the download of the better model"), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.addLayout(row(self.words, self.get_button, self.stop_button, stretch=0))
        column.addWidget(self.bar)
        self.get_button.clicked.connect(self._get)
        self.stop_button.clicked.connect(controller.stop)
        controller.progressed.connect(self._show_progress)
        controller.arrived.connect(self._arrived)
        controller.failed.connect(self._failed)
        self.hide()

    def show_best(self, view: ModelView | None) -> None:
        """Offers the best model that this machine runs; None for no better one than the smallest."""
        self._view = view
        self._show()

    def _get(self) -> None:
        if self._view is not None:
            self._controller.get(self._view.key)
            self._show()

    def _arrived(self, key: str) -> None:
        if self._view is not None and key == self._view.key:
            self._show()

    def _show_progress(self, words: str, share: float) -> None:
        set_share(self.bar, share)

    def _failed(self, sentence: str) -> None:
        self._show()
        self.words.setText(sentence)

    def _show(self) -> None:
        view = self._view
        self.setVisible(view is not None)
        if view is None:
            return
        size, busy = f"{view.bytes / 1e9:.1f}", self._controller.busy
        here = view.usable or not any(v.key == view.key and not v.usable for v in self._controller.service.models())
        if here:
            words = self.tr("{0} is on this machine, and is used by “Built in”.").format(view.label)
        elif busy:
            words = self.tr("{0} is being downloaded ({1} GB). Until then the small model answers.")
        else:
            words = self.tr("This machine is fast enough for {0} ({1} GB to download), which knows far more.")
        self.words.setText(words.format(view.label, size))
        self.bar.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.get_button.setVisible(not busy and not here)
