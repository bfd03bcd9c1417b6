"""Applies changed settings immediately: to the running conversation, the window, and the controls that show them.

Takes what the settings' dialog and the bar's pickers say. Settings that are not named here count when they are needed
next: for a new conversation, or a new start.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.gui.controllers.sound_controller import SoundController
from app.gui.design.motion import reduce_motion
from app.gui.design.theme import apply_theme
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.shell.menu import TalkMenu
from app.gui.shell.model_popover import ModelPopover
from app.gui.sound.devices_popover import DevicesPopover
from app.gui.state.choice import live_parts, processing_choice
from app.gui.state.session_manager import SessionManager
from app.gui.state.settings_controller import SettingsController
from app.session.control import BackendChoice
from app.settings.declarations import Settings

_OF_PROCESSING = ("echo_cancellation", "noise_suppression", "auto_gain")


class LiveSettings(QObject):
    """`change` changes a setting by its key."""

    earlier_changed = Signal(bool)
    details_changed = Signal(bool)
    motion_changed = Signal(bool)

    def __init__(
        self,
        settings: Settings,
        keep: SettingsController,
        manager: SessionManager,
        setup: ModelPopover,
        devices: DevicesPopover,
        frontend_bar: FrontEndBar,
        sound: SoundController,
        menu: TalkMenu,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._keep = keep
        self._manager = manager
        self._setup = setup
        self._devices = devices
        self._frontend_bar = frontend_bar
        self._sound = sound
        self._menu = menu
        keep.follow("frontend", does=self._frontend)
        keep.follow("weights_folder", does=lambda _: frontend_bar.refresh())
        keep.follow("answer_mode", does=setup.show_answer_mode)
        keep.follow("keep_recordings", does=menu.recordings_action.setChecked)
        keep.follow("theme", "accent", "font_scale", does=lambda _: self._look())
        keep.follow("reduced_motion", does=self._motion)
        keep.follow("oracle_earlier", does=self._earlier)
        keep.follow("oracle_details", does=self.details_changed.emit)
        setup.answer_mode_picked.connect(lambda answer_mode: self.change("answer_mode", answer_mode))
        setup.frontend_picked.connect(lambda key: self.change("frontend", key))
        menu.keep_recordings.connect(lambda kept: self.change("keep_recordings", kept))
        menu.earlier.connect(lambda shown: self.change("oracle_earlier", shown))
        setup.favourites.show_rows(keep.state.favourites)
        setup.favourites.changed.connect(lambda: keep.remember(favourites=setup.favourites.rows))
        setup.favourites.picked.connect(self.pick_backend)

    def begin(self) -> None:
        """Applies the settings of the window's look."""
        self._look()
        self._motion(self._settings.reduced_motion)
        self._earlier(self._settings.oracle_earlier)
        self.details_changed.emit(self._settings.oracle_details)

    def change(self, key: str, value: object) -> None:
        """Changes a setting, and applies it."""
        settings, sound = self._settings, self._sound
        if getattr(settings, key) == value:
            return
        match key:
            case "microphone":
                sound.pick_devices(str(value), settings.loudspeaker)
                self._devices.offer_again()
            case "loudspeaker":
                sound.pick_devices(settings.microphone, str(value))
                self._devices.offer_again()
            case "talk_hotkey":
                sound.set_hotkeys(str(value), settings.mute_hotkey)
            case "mute_hotkey":
                sound.set_hotkeys(settings.talk_hotkey, str(value))
            case "talk_mode":
                sound.set_talk_mode(str(value))
            case _:
                self._keep.change(key, value)
                if key in _OF_PROCESSING:
                    sound.set_processing(processing_choice(settings))
        self._manager.want(**live_parts(settings))

    def pick_backend(self, choice: BackendChoice) -> None:
        """Selects the back-end, as if it was picked in the list of models."""
        if choice != self._setup.choice:
            self._setup.show_backend(choice)
            self._setup.backend_picked.emit(choice)

    # -- what follows

    def _frontend(self, key: str) -> None:
        self._setup.show_frontend(key)
        self._frontend_bar.refresh()

    def _look(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, self._settings.theme, self._settings.font_scale, self._settings.accent)

    def _motion(self, reduced: bool) -> None:
        reduce_motion(reduced)
        self.motion_changed.emit(reduced)

    def _earlier(self, shown: bool) -> None:
        self._menu.earlier_action.setChecked(shown)
        self.earlier_changed.emit(shown)
