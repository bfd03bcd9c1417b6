"""What the window has to do with the system around it: the start at login, and new versions."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.gui.controllers.context import WindowContext
from app.gui.controllers.panels import Panels
from app.gui.design.motion import timer
from app.gui.shell.message_row import Offer
from app.gui.state.background_tasks import BackgroundTasks
from app.services.updates import UpdateAnswer, UpdateService

LOOK_MS = 3_600_000
"""How often it is seen to whether a day has passed."""

_TASK = "look for a new version"


class UpdatesController(QObject):
    """`found`: a sentence about a newer version, and the page about it. `told`: what the last look gave."""

    found = Signal(str, str)
    told = Signal(str)

    def __init__(self, service: UpdateService, background: BackgroundTasks, parent: QObject) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._timer = timer(self, LOOK_MS, self._look, repeats=True)

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


class SystemController(QObject):
    """Follows the settings that concern them; `begin` once the loop runs."""

    def __init__(self, context: WindowContext, panels: Panels) -> None:
        super().__init__(context.window)
        self._settings = context.settings
        self._keep = context.keep
        self._messages = context.messages
        self._panels = panels
        self._login = context.services.start_at_login
        if self._login is None or not self._login.is_supported():
            self._login = None
            words = self.tr("This copy of KAME can't be started at login.")
            panels.tell("launch_at_login", words, usable=False)
        context.keep.follow("launch_at_login", does=self._set_start_at_login)
        self.updates: UpdatesController | None = None
        if context.services.updates is not None:
            self.updates = UpdatesController(context.services.updates, context.background, self)
            self.updates.found.connect(self._offer_update)
            self.updates.told.connect(lambda sentence: panels.tell("check_updates", sentence))
            context.keep.follow("check_updates", does=self.updates.switch)
        if self.updates is None or not self.updates.can_ask:
            words = self.tr("This build of KAME has no address to ask.")
            panels.tell("check_updates", words, usable=False)

    def begin(self) -> None:
        """Does what the settings say."""
        if self._login is not None and self._login.is_on() != self._settings.launch_at_login:
            # It was changed in the system's own settings, or by the installer.
            self._settings.launch_at_login = not self._settings.launch_at_login
            self._keep.later()
        if self.updates is not None and self.updates.can_ask and self._settings.check_updates:
            self.updates.switch(True)

    def _set_start_at_login(self, on: bool) -> None:
        if self._login is None:
            return
        sentence = ""
        try:
            self._login.set_on(on)
        except OSError as error:
            sentence = self.tr("This could not be changed ({0}).").format(error.strerror or error)
        self._panels.warn("launch_at_login", sentence)
        if sentence:
            QTimer.singleShot(0, self, self._show_real_start)

    def _show_real_start(self) -> None:
        assert self._login is not None
        self._settings.launch_at_login = self._login.is_on()
        self._keep.later()

    def _offer_update(self, sentence: str, page: str) -> None:
        def open_page() -> None:
            QDesktopServices.openUrl(QUrl(page))

        offer = Offer(self.tr("Open the page"), open_page)
        self._messages.say(sentence, offer, topic="update", level="notice")
