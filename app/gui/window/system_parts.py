"""What the window has to do with the system around it: looking for new versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.gui.controllers.updates_controller import UpdatesController
from app.gui.window.services import WindowServices

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


class SystemParts(QObject):
    """Follows the settings that concern them; `begin` once the loop runs."""

    def __init__(self, window: MainWindow, services: WindowServices) -> None:
        super().__init__(window)
        self._window = window
        self.updates: UpdatesController | None = None
        if services.updates is not None:
            self.updates = UpdatesController(services.updates, window.background, self)
            self.updates.found.connect(self._offer_update)
            self.updates.told.connect(lambda sentence: window.panels.tell("check_updates", sentence))
            window.keep.follow("check_updates", does=self.updates.switch)
        if self.updates is None or not self.updates.can_ask:
            words = self.tr("This build of KAME has no address to ask.")
            window.panels.tell("check_updates", words, usable=False)

    def begin(self) -> None:
        """Does what the settings say."""
        if self.updates is not None and self.updates.can_ask and self._window.settings.check_updates:
            self.updates.switch(True)

    def _offer_update(self, sentence: str, page: str) -> None:
        def open_page() -> None:
            QDesktopServices.openUrl(QUrl(page))

        offer = (self.tr("Open the page"), open_page)
        self._window.messages.say(sentence, offer=offer, topic="update", level="notice")
