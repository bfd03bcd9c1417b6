"""What follows from a changed setting, at once: for the talk that runs, the window, the pickers that show it.

Takes what the settings' dialog and the bar's pickers say. Settings that are not named here count when they are needed
next: for a new talk, or a new start.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.conversation.frame import as_frames
from app.gui.choice import LOCATED, MODELLED, backend_choice, keep_backend, processing_choice, speech_choice
from app.gui.favourites import from_text, to_text
from app.gui.keeper import SessionKeeper
from app.gui.menu import TalkMenu
from app.gui.model_room import ModelRoom
from app.gui.settings_room import SettingsRoom
from app.gui.setup_bar import SetupBar
from app.gui.sound_room import SoundRoom
from app.gui.theme import apply_theme, reduce_motion
from app.session.control import BackendChoice
from app.settings import Settings, patience_of

_OF_A_BRAIN = ("provider", "embedded_model", *(f"{p}_model" for p in MODELLED), *(f"{p}_url" for p in LOCATED))
_OF_THE_MODEL = ("precision", "weights_folder", "context_frames")
_OF_SPEECH = ("recogniser", "voice", "speech_rate", "speech_volume")
_OF_PROCESSING = ("echo_cancellation", "noise_suppression", "auto_gain")


class LiveSettings(QObject):
    """`change` takes a setting by its key."""

    restart_wanted = Signal()
    """The talk has to begin anew for a change to take effect."""
    quiet_changed = Signal(bool)
    motion_changed = Signal(bool)

    def __init__(
        self,
        settings: Settings,
        keep: SettingsRoom,
        keeper: SessionKeeper,
        setup: SetupBar,
        models: ModelRoom,
        sound: SoundRoom,
        menu: TalkMenu,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._keep = keep
        self._keeper = keeper
        self._setup = setup
        self._models = models
        self._sound = sound
        self._menu = menu
        keep.follow("frontend", does=self._frontend)
        keep.follow(*_OF_THE_MODEL, does=self._model)
        keep.follow("manner", does=self._manner)
        keep.follow("patience", does=lambda steps: self._keeper.set_patience(patience_of(steps)))
        keep.follow("openings", does=keeper.set_openings)
        keep.follow(*_OF_SPEECH, does=lambda _: keeper.set_speech(speech_choice(settings)))
        keep.follow(*_OF_A_BRAIN, does=lambda _: self._brain())
        keep.follow("answer_delay_ms", "oracle_lead_ms", does=lambda _: self._dials())
        keep.follow("keep_recordings", does=menu.recordings_action.setChecked)
        keep.follow("theme", "font_scale", does=lambda _: self._look())
        keep.follow("reduced_motion", does=self._motion)
        keep.follow("oracle_quiet", does=self._quiet)
        # These write the settings themselves, and show it everywhere.
        self._own: dict[str, Callable[[], None]] = {
            key: lambda: sound.set_processing(processing_choice(settings)) for key in _OF_PROCESSING
        }
        setup.manner_picked.connect(lambda manner: self.change("manner", manner))
        setup.frontend_picked.connect(lambda key: self.change("frontend", key))
        models.precision_picked.connect(lambda choice: self.change("precision", choice))
        menu.keep_recordings.connect(lambda kept: self.change("keep_recordings", kept))
        menu.quiet.connect(lambda quiet: self.change("oracle_quiet", quiet))
        brain = setup.brain
        setup.favourites.set_labels({brain.itemData(place): brain.itemText(place) for place in range(brain.count())})
        setup.favourites.show_brains(from_text(settings.favourite_brains, self._providers()))
        setup.favourites.changed.connect(lambda brains: self.change("favourite_brains", to_text(brains)))
        setup.favourites.picked.connect(self.pick_brain)

    def begin(self) -> None:
        """Has the window look as the settings say."""
        self._look()
        self._motion(self._settings.reduced_motion)
        self._menu.quiet_action.setChecked(self._settings.oracle_quiet)
        self._quiet(self._settings.oracle_quiet)

    def change(self, key: str, value: object) -> None:
        """Takes a setting over, and has what follows happen."""
        settings, sound = self._settings, self._sound
        if getattr(settings, key) == value:
            return
        match key:
            case "microphone":
                sound.pick_devices(str(value), settings.loudspeaker)
                self._setup.offer_again()
            case "loudspeaker":
                sound.pick_devices(settings.microphone, str(value))
                self._setup.offer_again()
            case "talk_hotkey":
                sound.set_hotkeys(str(value), settings.mute_hotkey)
            case "mute_hotkey":
                sound.set_hotkeys(settings.talk_hotkey, str(value))
            case "talk_mode":
                sound.set_talk_mode(str(value))
            case _:
                self._keep.change(key, value)
                if key in self._own:
                    self._own[key]()

    def pick_frontend(self, key: str, precision: str = "") -> None:
        """Has this front-end hear and speak, with its weights in this precision; empty: as it was."""
        if precision:
            self.change("precision", precision)
        self.change("frontend", key)

    def pick_brain(self, choice: BackendChoice) -> None:
        """Has this brain drive, as if it was picked in the bar."""
        if choice != self._setup.choice:
            self._setup.show_brain(choice)
            self._setup.brain_picked.emit(choice)

    # -- what follows

    def _frontend(self, key: str) -> None:
        self._setup.show_frontend(key)
        self._models.show()
        self.restart_wanted.emit()

    def _model(self, _: object) -> None:
        self._models.show()
        if self._models.weighty:
            self.restart_wanted.emit()

    def _manner(self, manner: str) -> None:
        self._setup.show_manner(manner)
        self._keeper.set_manner("after" if manner == "after" else "thinking")

    def _brain(self) -> None:
        choice = backend_choice(self._settings)
        self.pick_brain(choice)
        if self._setup.choice != choice:  # it waits for something: a router for its table
            keep_backend(self._settings, self._setup.choice)
            self._keep.later()

    def _dials(self) -> None:
        delay, lead = as_frames(self._settings.answer_delay_ms), as_frames(self._settings.oracle_lead_ms)
        model = self._keeper.wanted.model
        if (model.delay, model.lead) != (delay, lead):
            self._keeper.set_dials(delay, lead)
        self._models.show_dials(delay, lead)

    def _look(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, self._settings.theme, self._settings.font_scale)

    def _motion(self, reduced: bool) -> None:
        reduce_motion(reduced)
        self.motion_changed.emit(reduced)

    def _quiet(self, quiet: bool) -> None:
        self._menu.quiet_action.setChecked(quiet)
        self.quiet_changed.emit(quiet)

    def _providers(self) -> list[str]:
        brain = self._setup.brain
        return [brain.itemData(place) for place in range(brain.count())]

