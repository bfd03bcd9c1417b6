"""The window's other dialogs: settings, first run, log, and what KAME is. Imported and made when they are first wanted.

Passes on what they say to the rooms that know what to do about it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.gui.backends.model_lists import ModelLists
from app.gui.logs.table_model import LogSource
from app.gui.models.graphics_controller import GraphicsController
from app.gui.models.models_controller import ModelsController
from app.gui.models.weights_controller import WeightsController
from app.gui.settings.live_settings import LiveSettings
from app.gui.shell.menu import TalkMenu
from app.gui.shell.setup_bar import SetupBar
from app.gui.sound.controller import DeviceLister, SoundController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices, backend_choice
from app.gui.state.settings_controller import SettingsController
from app.services.backend_service import BackendService
from app.services.machine_service import MachineService
from app.services.sound_service import SoundTestService
from app.session.control import BackendChoice
from app.settings.declarations import Settings

if TYPE_CHECKING:
    from app.gui.first_run.wizard import FirstRun
    from app.gui.logs.panel import LogPanel
    from app.gui.models.models_panel import ModelsPanel
    from app.gui.settings.dialog import SettingsDialog
    from app.gui.shell.about_dialog import AboutDialog

DiagnoseAll = Callable[[bool, Sequence[tuple[str, Sequence[tuple[str, str]]]]], Coroutine[Any, Any, str]]
"""Writes diagnostics, with what was said or without it, and with these sections (a title, and facts) in their midst."""


class Panels(QObject):
    """`machine` None: there is nothing to set up."""

    frontend_arrived = Signal(str, str)
    """A front-end that was chosen at the first run is here now, after its download; and its precision."""
    model_arrived = Signal(str, str)
    """A language model was fetched: its key and its name."""
    talk_wanted = Signal()
    """The user is done with the first run, and wants to talk."""

    def __init__(
        self,
        settings: Settings,
        keep: SettingsController,
        live: LiveSettings,
        sound: SoundController,
        setup: SetupBar,
        menu: TalkMenu,
        choices: WindowChoices,
        lists: ModelLists,
        background: BackgroundTasks,
        window: QWidget,
        *,
        list_devices: DeviceLister,
        machine: MachineService | None = None,
        weights: WeightsController | None = None,
        graphics: GraphicsController | None = None,
        service: BackendService | None = None,
        sound_service: SoundTestService | None = None,
        log: LogSource | None = None,
        diagnose: DiagnoseAll | None = None,
        models: ModelsController | None = None,
    ) -> None:
        super().__init__(window)
        self._settings = settings
        self._keep = keep
        self._live = live
        self._sound = sound
        self._setup = setup
        self._window = window
        self._parts = (choices, lists, background)
        self._desks = (weights, service, sound_service)
        self._graphics = graphics
        self._list_devices = list_devices
        self._machine = machine
        self._log = (log, diagnose)
        self.settings: SettingsDialog | None = None
        self.first_run: FirstRun | None = None
        self.log: LogPanel | None = None
        self.about: AboutDialog | None = None
        self.models: ModelsPanel | None = None
        self._model_manager = models
        menu.settings.connect(self.open_settings)
        menu.set_up.connect(lambda: self.open_first_run(again=True))
        menu.log.connect(lambda: self.open_log())
        menu.about.connect(self.open_about)
        menu.models.connect(self.open_models)
        menu.models_action.setVisible(models is not None)
        if models is not None:
            models.arrived.connect(self._tell_of_model)
        menu.set_up_action.setVisible(machine is not None)
        menu.log_action.setVisible(log is not None)
        keep.taken.connect(self._show_value)
        sound.listed.connect(self._offer_devices)

    def begin(self) -> None:
        """The window is there: at the very first start it asks what the user has, and wants."""
        if self._machine is not None and not self._settings.first_run_done:
            self.open_first_run()

    def close_all(self) -> None:
        """The window goes."""
        if self.first_run is not None:
            self.first_run.leave_for_now()
        for panel in (self.settings, self.log, self.about, self.models):
            if panel is not None:
                panel.close()

    def show_levels(self, event: e.LevelMeasured) -> None:
        """Shows how loud both sides are."""
        if self.first_run is not None:
            self.first_run.show_level(event.user_dbfs, event.assistant_dbfs, event.at, event.clipped)

    # -- settings

    def open_settings(self, key: str = "") -> None:
        """All settings; with `key`, that one first."""
        if self.settings is None:
            from app.gui.settings.dialog import SettingsDialog

            self.settings = SettingsDialog(self._settings, self._window)
            self.settings.changed.connect(self._live.change)
            self.settings.keys_typed.connect(self._sound.keys_typed)
        self._offer_settings("microphone", "loudspeaker", "provider", "frontend")
        self.settings.open_afresh(key)

    def _offer_settings(self, *names: str) -> None:
        """The settings offer what the bar does."""
        assert self.settings is not None
        setup = self._setup
        pickers = {
            "microphone": setup.microphone,
            "loudspeaker": setup.loudspeaker,
            "provider": setup.backend,
            "frontend": setup.frontend,
        }
        for name in names:
            picker = pickers[name]
            offers = [(picker.itemData(place), picker.itemText(place)) for place in range(picker.count())]
            self.settings.set_choices(name, offers)

    def _offer_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        if self.settings is not None:
            self._offer_settings("microphone", "loudspeaker")
        if self.first_run is not None:
            self.first_run.set_devices(microphones, loudspeakers)

    def _show_value(self, key: str, value: object) -> None:
        if self.settings is not None:
            self.settings.show_value(key, value)

    # -- the first run

    def open_first_run(self, *, again: bool = False) -> None:
        """Looks at the machine, and asks what is wanted."""
        if self._machine is None:
            return
        if self.first_run is None:
            from app.gui.first_run.wizard import FirstRun

            choices, lists, background = self._parts
            weights, service, sound_service = self._desks
            self.first_run = FirstRun(
                self._settings,
                self._machine,
                choices,
                lists,
                background,
                self._window,
                list_devices=self._list_devices,
                weights=weights,
                graphics=self._graphics,
                service=service,
                sound_service=sound_service,
                models=self._model_manager,
            )
            run, live = self.first_run, self._live
            run.frontend_chosen.connect(live.pick_frontend)
            run.frontend_arrived.connect(self.frontend_arrived)
            run.backend_chosen.connect(live.pick_backend)
            run.devices_chosen.connect(self._take_devices)
            run.testing.connect(self._sound.listen_to_test)
            run.completed.connect(self.talk_wanted)
            run.completed.connect(self._done)
            run.skipped.connect(self._done)
        self._sound.close_dialog()  # they try out devices, too
        self.first_run.open_afresh(again=again)

    def _take_devices(self, microphone: str, loudspeaker: str) -> None:
        self._live.change("microphone", microphone)
        self._live.change("loudspeaker", loudspeaker)

    def _done(self) -> None:
        self._live.change("first_run_done", True)

    # -- log, about

    def open_log(self, *, fault: bool = False) -> None:
        """What the program has noted, and what others may need to help; with `fault`, the newest fault."""
        source, diagnose = self._log
        if source is None or diagnose is None:
            return
        if self.log is None:
            from app.gui.logs.panel import LogPanel

            self.log = LogPanel(source, self._diagnose, self._parts[2], self._window)
        self.log.open_log(fault=fault)

    async def _diagnose(self, with_words: bool) -> str:
        from app.gui.logs.window_facts import window_facts

        _, diagnose = self._log
        assert diagnose is not None
        return await diagnose(with_words, [("Window", window_facts(self._window))])

    # -- models

    def open_models(self) -> None:
        """All models: what is here, how fast, how good; to get, use and remove."""
        if self._model_manager is None:
            return
        if self.models is None:
            from app.gui.models.models_panel import ModelsPanel

            service, settings = self._desks[2], self._settings
            play = None if service is None else lambda sound: service.play(sound, settings.loudspeaker)
            self.models = ModelsPanel(self._model_manager, self._parts[2], self._window, play=play)
            self.models.use_wanted.connect(self._use_model)
        settings = self._settings
        used = {"stt": settings.recogniser, "tts": settings.voice}
        used["llm"] = backend_choice(settings).model if settings.provider == "embedded" else "-"
        self.models.open_afresh(used, settings.language)

    def _use_model(self, kind: str, key: str) -> None:
        if kind == "llm":
            self._live.pick_backend(BackendChoice("embedded", key))
        else:
            self._live.change("recogniser" if kind == "stt" else "voice", key)

    def _tell_of_model(self, key: str) -> None:
        """Offers a language model that has come to the talk that goes on."""
        assert self._model_manager is not None
        view = next((view for view in self._model_manager.service.models() if view.key == key), None)
        if view is not None and view.kind == "llm" and self._settings.provider == "embedded":
            self.model_arrived.emit(key, view.label)

    def open_about(self) -> None:
        """What KAME is, which version, and what it is made of."""
        if self.about is None:
            from app.gui.shell.about_dialog import AboutDialog

            self.about = AboutDialog(self._window)
        self.about.appear()
