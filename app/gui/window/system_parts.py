"""What the window has to do with the system around it: the tray, the start at login, and new versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.conversation import events as e
from app.gui.design.motion import timer
from app.gui.desktop.tray import AnswerNotice, Tray
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.window.services import WindowServices
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


if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow

TRAY_LOOK_MS, LOOKS = 2_000, 30
"""How often, and how many times, a tray is looked for: at a login it may come after the app."""

SETTINGS = ("tray_icon", "close_to_tray", "notify_answers")


class TrayControl(QObject):
    """There is an icon while the setting `tray_icon` is on and the desktop has a tray."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._notice = AnswerNotice()
        self._hid_before = False
        self.tray: Tray | None = None
        self._looks = 0
        self._timer = timer(self, TRAY_LOOK_MS, self._look_again, repeats=True)
        window.keep.follow("tray_icon", does=lambda _: self._follow_setting())
        window.state.changed.connect(self._show_state)
        window.installEventFilter(self)
        self._follow_setting()
        if not Tray.is_available():
            self._timer.start()

    @property
    def is_on(self) -> bool:
        return self.tray is not None and self.tray.is_on

    def apply(self, event: e.Event) -> None:
        """Tells of an answer while nobody can see it in the window."""
        words, window = self._notice.apply(event), self._window
        if not words or self.tray is None or not window.settings.notify_answers:
            return
        unseen = not window.mini_mode.is_on and (not window.isVisible() or window.isMinimized())
        if unseen and not window.talks.is_private:
            self.tray.tell(self.tr("KAME answers"), words)

    def hide_instead(self) -> bool:
        """The user closes the window: hides it if that is wanted, and says whether it has."""
        if self.tray is None or not self.tray.is_on or not self._window.settings.close_to_tray:
            return False
        self._window.hide()
        if not self._hid_before:
            self._hid_before = True
            words = self.tr("The conversation continues. The menu of this icon shows the window again, or quits.")
            self.tray.tell(self.tr("KAME is still here"), words)
        return True

    def close(self) -> None:
        """The window goes for good."""
        self._timer.stop()
        if self.tray is not None:
            self.tray.set_on(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notices when the window is shown, hidden or minimised."""
        kinds = QEvent.Type
        if self.tray is not None and event.type() in (kinds.Show, kinds.Hide, kinds.WindowStateChange):
            self.tray.show_window(self._window.isVisible() and not self._window.isMinimized())
        return False

    def _follow_setting(self) -> None:
        available, wanted = Tray.is_available(), self._window.settings.tray_icon
        words = "" if available else self.tr("This desktop has no tray for icons.")
        for key in SETTINGS:
            self._window.panels.tell(key, words, usable=available)
        if wanted and available:
            if self.tray is None:
                self.tray = self._make()
            self.tray.set_on(True)
            self.tray.show_window(self._window.isVisible() and not self._window.isMinimized())
            self._show_state()
        elif self.tray is not None and self.tray.is_on:
            self.tray.set_on(False)
            if not self._window.isVisible():
                self._window.come_forward()  # nothing else would show it again

    def _look_again(self) -> None:
        self._looks += 1
        if Tray.is_available():
            self._timer.stop()
            self._follow_setting()
        elif self._looks >= LOOKS:
            self._timer.stop()

    def _make(self) -> Tray:
        window, tray = self._window, Tray(self)
        tray.window_toggled.connect(self._toggle_window)
        tray.window_wanted.connect(window.come_forward)
        tray.talk_toggled.connect(self._toggle_talk)
        tray.mute_toggled.connect(window.sound.set_muted)
        tray.new_talk.connect(window.menu.new_talk)
        tray.quit.connect(window.close)
        return tray

    def _toggle_window(self) -> None:
        if self._window.isVisible() and not self._window.isMinimized():
            self._window.hide()
        else:
            self._window.come_forward()

    def _toggle_talk(self) -> None:
        self._window.push.command("toggle")
        self._show_state()

    def _show_state(self) -> None:
        if self.tray is not None:
            talk = self._window.state.talk
            can_talk = talk.phase == "running" and not talk.duplex
            muted = self._window.manager.wanted.muted
            self.tray.show_state(talk.word, held=talk.held, muted=muted, can_talk=can_talk)


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
