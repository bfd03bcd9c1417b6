"""What the window has to do with the system around it: the tray, the start at login, and new versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from app.gui.controllers.updates_controller import UpdatesController
from app.gui.window.services import WindowServices
from app.gui.window.tray_control import TrayControl

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


class SystemParts(QObject):
    """Follows the settings that concern them; `begin` once the loop runs."""

    def __init__(self, window: MainWindow, services: WindowServices) -> None:
        super().__init__(window)
        self._window = window
        self.tray = TrayControl(window)
        window.closing.connect(self.tray.close)
        self._login = services.start_at_login
        if self._login is None or not self._login.is_supported():
            self._login = None
            words = self.tr("This copy of KAME can't be started at login.")
            window.panels.tell("launch_at_login", words, usable=False)
        window.keep.follow("launch_at_login", does=self._set_start_at_login)
        self.updates: UpdatesController | None = None
        if services.updates is not None:
            self.updates = UpdatesController(services.updates, window.background, self)
            self.updates.found.connect(self._offer_update)
            self.updates.told.connect(lambda sentence: window.panels.tell("check_updates", sentence))
            window.keep.follow("check_updates", does=self.updates.switch)
        if self.updates is None or not self.updates.can_ask:
            words = self.tr("This build of KAME has no address to ask.")
            window.panels.tell("check_updates", words, usable=False)

    def show_first(self, hidden: bool) -> None:
        """Shows the window for the first time; a `hidden` one stays in the tray, or is minimised."""
        if not hidden:
            self._window.show()
        elif not self.tray.is_on:
            self._window.showMinimized()

    def begin(self) -> None:
        """Does what the settings say."""
        if self._login is not None and self._login.is_on() != self._window.settings.launch_at_login:
            # It was changed in the system's own settings, or by the installer.
            self._window.settings.launch_at_login = not self._window.settings.launch_at_login
            self._window.keep.later()
        if self.updates is not None and self.updates.can_ask and self._window.settings.check_updates:
            self.updates.switch(True)

    def _set_start_at_login(self, on: bool) -> None:
        if self._login is None:
            return
        sentence = ""
        try:
            self._login.set_on(on)
        except OSError as error:
            sentence = self.tr("This could not be changed ({0}).").format(error.strerror or error)
        self._window.panels.warn("launch_at_login", sentence)
        if sentence:
            QTimer.singleShot(0, self, self._show_real_start)

    def _show_real_start(self) -> None:
        assert self._login is not None
        self._window.settings.launch_at_login = self._login.is_on()
        self._window.keep.later()

    def _offer_update(self, sentence: str, page: str) -> None:
        def open_page() -> None:
            QDesktopServices.openUrl(QUrl(page))

        offer = (self.tr("Open the page"), open_page)
        self._window.messages.say(sentence, offer=offer, topic="update", level="notice")
