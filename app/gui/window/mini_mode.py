"""Puts the mini window in the main window's place, and back; the conversation goes on meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint

from app.conversation import events as e
from app.gui.mini.words import LastWords
from app.gui.shell.key_routing import KeyRouting

if TYPE_CHECKING:
    from app.gui.mini.window import MiniWindow
    from app.gui.window.main_window import MainWindow


class MiniMode(QObject):
    """It ends whenever the main window is shown again, by whatever means. The mini window is built on first use."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._words = LastWords()
        self._model = ("", "")
        self.mini: MiniWindow | None = None
        self._routing: KeyRouting | None = None
        window.menu.mini.connect(self.toggle)
        window.setup.shown.connect(self._show_model)
        window.installEventFilter(self)
        window.closing.connect(self._close)

    @property
    def is_on(self) -> bool:
        """Whether the mini window stands for the main one."""
        return self.mini is not None and self.mini.isVisible()

    def toggle(self) -> None:
        """Goes to the mini window, or back."""
        if self.is_on:
            self._window.come_forward()
            return
        if self.mini is None:
            self.mini = self._make()
            self.mini.model.show_model(*self._model)
            self.mini.mute.setChecked(self._window.dock.mute.isChecked())
        self.show_state()
        place = self._window.layout_store.mini
        self.mini.show_at(QPoint(*place) if place is not None else None, self._window)
        assert self._routing is not None
        self._routing.watch(self.mini.windowHandle())
        self._window.hide()

    # -- the session

    def begin(self) -> None:
        """Another conversation is shown."""
        self._words.begin()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        if isinstance(event, e.LevelMeasured):
            if self.is_on and self.mini is not None:
                self.mini.button.show_levels(event.user_dbfs, event.assistant_dbfs)
        else:
            self._words.apply(event)

    def show_state(self) -> None:
        """Shows what the session is doing, and what was said last."""
        if self.mini is None:
            return
        dock, talk = self._window.dock, self._window.state.talk
        self.mini.show_state(dock.button, muted=dock.mute.confirmed, can_silence=talk.can_silence)
        self.mini.show_words(self._words)

    # -- inner parts

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leaves the mini window once the main one is shown."""
        if self.mini is not None and event.type() == QEvent.Type.Show:
            self.mini.hide()
        return False

    def _make(self) -> MiniWindow:
        from app.gui.mini.window import MiniWindow

        window, mini = self._window, MiniWindow()
        self._routing = KeyRouting(window.push, mini)
        button, push = mini.button, window.push
        button.pressed.connect(lambda: push.hold("mouse"))
        button.released.connect(lambda: push.let_go("mouse"))
        button.clicked.connect(window.starter.go_on_if_stopped)
        mini.mute.toggled.connect(window.sound.set_muted)
        window.dock.mute.toggled.connect(mini.mute.setChecked)
        mini.silence_wanted.connect(window.state.silence)
        mini.back_wanted.connect(window.come_forward)
        mini.active_changed.connect(self._on_active_changed)
        mini.placed.connect(lambda place: window.layout_store.keep_mini((place.x(), place.y())))
        mini.addActions([window.menu.mute_action, window.menu.mini_action])  # for their keys
        return mini

    def _on_active_changed(self) -> None:
        if self.mini is not None and not self.mini.isActiveWindow():
            self._window.push.let_go_own()

    def _show_model(self, provider: str, name: str, _: str) -> None:
        self._model = (provider, name)
        if self.mini is not None:
            self.mini.model.show_model(provider, name)

    def _close(self) -> None:
        """The main window goes for good, and this one with it."""
        if self.mini is not None:
            self.mini.hide()
            self.mini.deleteLater()
            self.mini = self._routing = None
