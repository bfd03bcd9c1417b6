"""Downloads the weights of front-ends."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.models.fetch_controller import FetchController
from app.session.control import WeightsStore


class WeightsController(FetchController):
    """`done` emits a front-end whose weights are here."""

    done = Signal(str)

    def __init__(self, store: WeightsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store

    def missing(self, frontend: str) -> str:
        """What is missing of a front-end's weights, as a sentence; empty if they are here or not needed."""
        return self._store.missing(frontend)

    def get(self, frontend: str) -> None:
        """Starts to download a front-end's weights, or continues it."""
        self._start(
            lambda report, cancelled: self._store.get(frontend, report, cancelled), lambda: self.done.emit(frontend)
        )
