"""Has what a graphics card needs installed for the window, and the app restarted to use it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.models.fetch_controller import FetchController
from app.services.graphics_service import GraphicsService
from app.session.errors import UserError


class GraphicsController(FetchController):
    """`done` tells that it is installed, `arrived_unseen` and `failed_unseen` tell of it where `watched` is False.

    `restarting`: the app is to be closed now, and starts by itself again.
    """

    done = Signal()
    arrived_unseen = Signal()
    failed_unseen = Signal(str)
    restarting = Signal()

    def __init__(self, service: GraphicsService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self.watched = False
        """Whether the user sees how it goes."""
        self.failed.connect(self._tell_unseen)

    def install(self) -> None:
        """Begins to fetch and install it, or goes on with that."""
        self._begin(self._service.install, self._installed)

    def restart(self) -> None:
        """Starts the app anew."""
        try:
            self._service.restart()
        except UserError as error:
            self.failed.emit(str(error))
        else:
            self.restarting.emit()

    def _tell_unseen(self, sentence: str) -> None:
        if not self.watched:
            self.failed_unseen.emit(sentence)

    def _installed(self) -> None:
        self.done.emit()
        if not self.watched:
            self.arrived_unseen.emit()
