"""Installs what a graphics card needs, and restarts the app to use it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.models.fetch_controller import FetchController
from app.services.graphics_service import GraphicsService
from app.session.errors import UserError


class GraphicsController(FetchController):
    """`done` after the installation; while `watched` is False, also `arrived_unseen` or `failed_unseen`.

    `restarting`: the app must close now; it starts again by itself.
    """

    done = Signal()
    arrived_unseen = Signal()
    failed_unseen = Signal(str)
    restarting = Signal()

    def __init__(self, service: GraphicsService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self.watched = False
        """Whether the user sees the progress."""
        self.failed.connect(self._on_failed)

    def install(self) -> None:
        """Starts the installation, or continues it."""
        self._start(self._service.install, self._installed)

    def restart(self) -> None:
        try:
            self._service.restart()
        except UserError as error:
            self.failed.emit(str(error))
        else:
            self.restarting.emit()

    def _on_failed(self, sentence: str) -> None:
        if not self.watched:
            self.failed_unseen.emit(sentence)

    def _installed(self) -> None:
        self.done.emit()
        if not self.watched:
            self.arrived_unseen.emit()
