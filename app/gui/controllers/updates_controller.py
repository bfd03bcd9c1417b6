"""Looks for a newer version now and then, while the user has that switched on."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.gui.state.background_tasks import BackgroundTasks
from app.services.updates import UpdateAnswer, UpdateService

LOOK_MS = 3_600_000
"""How often it is seen to whether a day has passed."""

_TASK = "look for a new version"


class UpdatesController(QObject):
    """`found`: a sentence about a newer version, and the page that tells of it. `told`: what the last look gave."""

    found = Signal(str, str)
    told = Signal(str)

    def __init__(self, service: UpdateService, background: BackgroundTasks, parent: QObject) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def can_ask(self) -> bool:
        """Whether this build has an address to ask."""
        return bool(self._service.feed)

    def switch(self, on: bool) -> None:
        """Looks from now on, or no longer."""
        if not self.can_ask:
            return
        if on:
            self._timer.start()
            self._look()
        else:
            self._timer.stop()
            self._background.cancel(_TASK)
            self.told.emit("")

    def _look(self) -> None:
        self._background.run(self, _TASK, self._service.check, self._show, self.told.emit)

    def _show(self, answer: UpdateAnswer | None) -> None:
        if answer is None:
            return  # it was asked today
        self.told.emit(answer.sentence)
        if answer.page:
            self.found.emit(answer.sentence, answer.page)
