"""The icon in the system's tray, and the notifications of answers that can't be seen in the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject

from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.mini_controller import MiniController
from app.gui.controllers.panels import Panels
from app.gui.controllers.sound_controller import SoundController
from app.gui.design.motion import timer
from app.gui.desktop.tray import AnswerNotice, Tray
from app.gui.hotkeys.push_to_talk import PushToTalk

TRAY_LOOK_MS, LOOKS = 2_000, 30
"""How often, and how many times, a tray is looked for: at a login it may come after the app."""

SETTINGS = ("tray_icon", "close_to_tray", "notify_answers")


class TrayController(QObject):
    """There is an icon while the setting `tray_icon` is on and the desktop has a tray.

    `come_forward` shows the window in front.
    """

    def __init__(
        self,
        context: WindowContext,
        mini: MiniController,
        panels: Panels,
        sound: SoundController,
        push: PushToTalk,
        talks: ConversationController,
        come_forward: Callable[[], object],
    ) -> None:
        super().__init__(context.window)
        self._window = window = context.window
        self._settings = context.settings
        self._model = context.model
        self._manager = context.manager
        self._mini = mini
        self._panels = panels
        self._sound = sound
        self._push = push
        self._talks = talks
        self._commands = context.commands
        self._come_forward = come_forward
        self._notice = AnswerNotice()
        self._hid_before = False
        self.tray: Tray | None = None
        self._looks = 0
        self._timer = timer(self, TRAY_LOOK_MS, self._look_again, repeats=True)
        context.keep.follow("tray_icon", does=lambda _: self._follow_setting())
        context.model.changed.connect(self._show_state)
        context.model.follow(self._take)
        window.installEventFilter(self)
        self._follow_setting()
        if not Tray.is_available():
            self._timer.start()

    @property
    def is_on(self) -> bool:
        """Whether the icon is shown."""
        return self.tray is not None and self.tray.is_on

    def show_first(self, hidden: bool) -> None:
        """Shows the window for the first time; a `hidden` one stays in the tray, or is minimised."""
        if not hidden:
            self._window.show()
        elif not self.is_on:
            self._window.showMinimized()

    def hide_instead(self) -> bool:
        """The user closes the window: hides it if that is wanted, and returns whether it has."""
        if self.tray is None or not self.tray.is_on or not self._settings.close_to_tray:
            return False
        self._window.hide()
        if not self._hid_before:
            self._hid_before = True
            words = self.tr("The conversation continues. The menu of this icon shows the window again, or quits.")
            self.tray.tell(self.tr("KAME is still here"), words)
        return True

    def close(self) -> None:
        """Removes the icon: the window is closed for good."""
        self._timer.stop()
        if self.tray is not None:
            self.tray.set_on(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notices when the window is shown, hidden or minimised."""
        kinds = QEvent.Type
        if self.tray is not None and event.type() in (kinds.Show, kinds.Hide, kinds.WindowStateChange):
            self.tray.show_window(self._seen)
        return False

    @property
    def _seen(self) -> bool:
        return self._window.isVisible() and not self._window.isMinimized()

    def _take(self, change: Change) -> None:
        """Notifies the user of an answer that can't be seen in the window."""
        words = self._notice.apply(change.event)
        if not words or self.tray is None or not self._settings.notify_answers:
            return
        if not self._seen and not self._mini.is_on and not self._talks.is_private:
            self.tray.tell(self.tr("KAME answers"), words)

    def _follow_setting(self) -> None:
        available, wanted = Tray.is_available(), self._settings.tray_icon
        words = "" if available else self.tr("This desktop has no tray for icons.")
        for key in SETTINGS:
            self._panels.tell(key, words, usable=available)
        if wanted and available:
            if self.tray is None:
                self.tray = self._make()
            self.tray.set_on(True)
            self.tray.show_window(self._seen)
            self._show_state()
        elif self.tray is not None and self.tray.is_on:
            self.tray.set_on(False)
            if not self._window.isVisible():
                self._come_forward()  # nothing else would show it again

    def _look_again(self) -> None:
        self._looks += 1
        if Tray.is_available():
            self._timer.stop()
            self._follow_setting()
        elif self._looks >= LOOKS:
            self._timer.stop()

    def _make(self) -> Tray:
        tray = Tray(self)
        tray.window_toggled.connect(self._toggle_window)
        tray.window_wanted.connect(self._come_forward)
        tray.talk_toggled.connect(self._toggle_talk)
        tray.mute_toggled.connect(self._sound.set_muted)
        tray.new_talk.connect(self._commands["new"].trigger)
        tray.quit.connect(self._window.close)
        return tray

    def _toggle_window(self) -> None:
        if self._seen:
            self._window.hide()
        else:
            self._come_forward()

    def _toggle_talk(self) -> None:
        self._push.command("toggle")
        self._show_state()

    def _show_state(self) -> None:
        if self.tray is not None:
            talk = self._model.talk
            muted = self._manager.wanted.muted
            self.tray.show_state(talk.word, held=talk.held, muted=muted, can_talk=talk.can_talk)
