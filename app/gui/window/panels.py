"""The window's other dialogs (settings, first run, log, guide, About), imported and built on first use.

Emits what they report, for the controllers to act on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.gui.state.choice import backend_choice
from app.gui.window.services import WindowServices
from app.services.model_service import ModelView, VoiceView
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.first_run.wizard import FirstRun
    from app.gui.logs.page import LogPage
    from app.gui.logs.panel import LogPanel
    from app.gui.models.models_panel import ModelsPanel
    from app.gui.settings.dialog import SettingsDialog
    from app.gui.window.about_dialog import AboutDialog
    from app.gui.window.first_start import FirstStart
    from app.gui.window.guide_dialog import GuideDialog
    from app.gui.window.main_window import MainWindow


class Panels(QObject):
    """Without a `services.machine` there is no first run: neither cards in the welcome nor a wizard."""

    frontend_arrived = Signal(str, str)
    """A front-end that was chosen at the first run is here now, after its download; and its precision."""
    model_arrived = Signal(str, str)
    """A language model was fetched: its key and its name."""
    talk_wanted = Signal()
    """The user is done with the first run, and wants to talk."""

    def __init__(self, window: MainWindow, services: WindowServices) -> None:
        super().__init__(window)
        self._window = window
        self._services = services
        self.settings: SettingsDialog | None = None
        self._notes: dict[str, tuple[str, bool]] = {}
        self.first_start: FirstStart | None = None
        self.first_run: FirstRun | None = None
        self.log: LogPanel | None = None
        self.about: AboutDialog | None = None
        self.guide: GuideDialog | None = None
        self.models: ModelsPanel | None = None
        menu, models = window.menu, window.models_controller
        menu.settings.connect(self.open_settings)
        menu.set_up.connect(lambda: self.open_first_run(again=True))
        menu.log.connect(lambda: self.open_log())
        menu.guide.connect(self.open_guide)
        menu.about.connect(self.open_about)
        menu.models.connect(self.open_models)
        menu.models_action.setVisible(models is not None)
        if models is not None:
            models.arrived.connect(self._tell_of_model)
        menu.set_up_action.setVisible(services.machine is not None)
        menu.log_action.setVisible(services.log is not None)
        if services.log is not None:
            window.inspector.add_page("log", self.tr("Log"), self._make_log_page)
        window.keep.taken.connect(self._show_value)
        window.sound.listed.connect(self._offer_devices)

    def begin(self) -> None:
        """The window is there: at the very first start its welcome shows microphone and model."""
        if self._services.machine is not None and not self._window.settings.first_run_done:
            from app.gui.window.first_start import FirstStart

            self.first_start = FirstStart(self._window, self._services.machine)

    def close_all(self) -> None:
        """The window goes."""
        if self.first_run is not None:
            self.first_run.leave_for_now()
        for panel in (self.settings, self.log, self.about, self.guide, self.models):
            if panel is not None:
                panel.close()

    def show_levels(self, event: e.LevelMeasured) -> None:
        """Shows how loud both sides are."""
        if self.first_start is not None:
            self.first_start.show_level(event)
        if self.first_run is not None:
            self.first_run.show_level(event.user_dbfs, event.assistant_dbfs, event.at, event.clipped)

    def apply(self, event: e.Event) -> None:
        """Takes in an event of the session."""
        if self.first_start is not None:
            self.first_start.apply(event)

    # -- settings

    def open_settings(self, key: str = "") -> None:
        """All settings; with `key`, that one first."""
        if self.settings is None:
            from app.gui.settings.dialog import SettingsDialog
            from app.gui.settings.provider_box import ProviderAccess

            ways = self._other_dialogs()
            window, service, access = self._window, self._services.backend_service, None
            if service is not None:
                access = ProviderAccess(service, window.lists, window.background, window.dialogs.refused)
            self.settings = SettingsDialog(window.settings, window, tuple(ways), access)
            self.settings.dialog_wanted.connect(lambda name: ways[name]())
            self.settings.changed.connect(self._window.live.change)
            self.settings.keys_typed.connect(self._window.sound.keys_typed)
            for name, (sentence, usable) in self._notes.items():
                self.settings.tell(name, sentence, usable=usable)
        self._offer_settings("microphone", "loudspeaker", "provider", "frontend")
        self._list_models()
        self.settings.open_refreshed(key)

    def tell(self, key: str, sentence: str, *, usable: bool = True) -> None:
        """The settings say this below a setting from now on; if it is not `usable`, it can't be changed."""
        self._notes[key] = (sentence, usable)
        if self.settings is not None:
            self.settings.tell(key, sentence, usable=usable)

    def warn(self, key: str, sentence: str) -> None:
        """The settings, where they are open, say why a setting has not come about; nothing if empty."""
        if self.settings is not None:
            self.settings.say(key, sentence)

    def _other_dialogs(self) -> dict[str, Callable[[], object]]:
        """What the pages of the settings lead to, by the names of `app.gui.settings.links`."""
        window, menu = self._window, self._window.menu
        ways: dict[str, Callable[[], object]] = {"style": menu.style.emit}
        if window.models_controller is not None:
            ways["models"] = self.open_models
        if menu.routes_action.isVisible():
            ways["routes"] = menu.routes.emit
        service = self._services.backend_service
        if service is not None and service.prices is not None:
            ways["prices"] = window.dialogs.prices_wanted.emit
        if service is not None and service.tool_servers is not None:
            ways["servers"] = window.dialogs.open_servers
        if self._services.sound_service is not None:
            ways["sound"] = window.sound.open_dialog
        if self._services.machine is not None:
            ways["set_up"] = lambda: self.open_first_run(again=True)
        if self._services.log is not None:
            ways["log"] = self.open_log
        return ways

    def _list_models(self) -> None:
        """Looks for the voices and recognisers on this machine, to offer them."""
        controller = self._window.models_controller
        if controller is not None:
            models = controller.service.models
            self._window.background.run(
                "models for the settings", lambda: asyncio.to_thread(models), self._offer_models, lambda _: None
            )

    def _offer_models(self, views: Sequence[ModelView]) -> None:
        """Offers those that know the language of conversations."""
        assert self.settings is not None
        language = self._window.settings.language
        voices, recognisers = [("", self.tr("Automatic"))], [("", self.tr("Automatic"))]
        for view in views:
            if view.kind == "tts" and view.usable:
                own = view.voices or tuple(VoiceView(view.key, view.label, spoken) for spoken in view.languages[:1])
                voices += [(one.key, one.label) for one in own if language in ("auto", one.language)]
            elif view.kind == "stt" and view.usable and (language == "auto" or {"*", language} & set(view.languages)):
                recognisers.append((view.key, view.label))
        self.settings.set_choices("voice", voices)
        self.settings.set_choices("recogniser", recognisers)

    def _offer_settings(self, *names: str) -> None:
        """The settings offer what the bar does."""
        assert self.settings is not None
        setup = self._window.setup
        pickers = {
            "microphone": self._window.devices.microphone,
            "loudspeaker": self._window.devices.loudspeaker,
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
        if self.first_start is not None:
            self.first_start.set_devices(microphones)
        if self.first_run is not None:
            self.first_run.set_devices(microphones, loudspeakers)

    def _show_value(self, key: str, value: object) -> None:
        if self.settings is not None:
            self.settings.show_value(key, value)
            if key == "language" and self.settings.isVisible():
                self._list_models()

    # -- the first run

    def open_first_run(self, page: str = "", *, again: bool = False) -> None:
        """Opens the wizard at a page: "machine", the first one, or "voice", "model" or "sound". `again`: the present
        choices are kept.
        """
        if self._services.machine is None:
            return
        if self.first_run is None:
            from app.gui.first_run.services import FirstRunServices
            from app.gui.first_run.wizard import FirstRun

            window, services = self._window, self._services
            assert services.machine is not None
            self.first_run = FirstRun(
                window.settings,
                FirstRunServices(
                    services.machine,
                    services.list_devices,
                    backend=services.backend_service,
                    sound=services.sound_service,
                    weights=window.weights,
                    graphics=window.graphics,
                    models=window.models_controller,
                ),
                services.choices,
                window.lists,
                window.background,
                window,
            )
            run, live = self.first_run, self._window.live
            run.frontend_chosen.connect(live.pick_frontend)
            run.frontend_arrived.connect(self.frontend_arrived)
            run.backend_chosen.connect(live.pick_backend)
            run.devices_chosen.connect(self._take_devices)
            run.testing.connect(self._window.sound.listen_to_test)
            run.completed.connect(self.talk_wanted)
            run.completed.connect(self._done)
        self._window.sound.close_dialog()  # they try out devices, too
        self.first_run.open_refreshed(page, again=again)

    def _take_devices(self, microphone: str, loudspeaker: str) -> None:
        self._window.live.change("microphone", microphone)
        self._window.live.change("loudspeaker", loudspeaker)

    def _done(self) -> None:
        if self.first_start is not None:
            self.first_start.finish()
        self._window.live.change("first_run_done", True)

    # -- log, about

    def _make_log_page(self) -> LogPage:
        from app.gui.logs.page import LogPage

        assert self._services.log is not None
        page = LogPage(self._services.log, self._window.inspector)
        page.dialog_wanted.connect(lambda: self.open_log())
        return page

    def open_log(self, *, fault: bool = False) -> None:
        """What the program has noted, and what others may need to help; with `fault`, the newest fault."""
        source = self._services.log
        if source is None or self._services.diagnose is None:
            return
        if self.log is None:
            from app.gui.logs.panel import LogPanel

            self.log = LogPanel(source, self._diagnose, self._window.background, self._window)
        self.log.open_log(fault=fault)

    async def _diagnose(self, with_words: bool) -> str:
        from app.gui.logs.window_facts import window_facts

        diagnose = self._services.diagnose
        assert diagnose is not None
        return await diagnose(with_words, [("Window", window_facts(self._window))])

    # -- models

    def open_models(self) -> None:
        """All models: what is here, how fast, how good; to get, use and remove."""
        if self._window.models_controller is None:
            return
        if self.models is None:
            from app.gui.models.models_panel import ModelsPanel

            service, settings = self._services.sound_service, self._window.settings
            play = None if service is None else lambda sound: service.play(sound, settings.loudspeaker)
            self.models = ModelsPanel(self._window.models_controller, self._window.background, self._window, play=play)
            self.models.use_wanted.connect(self._use_model)
        settings = self._window.settings
        used = {"stt": settings.recogniser, "tts": settings.voice}
        used["llm"] = backend_choice(settings).model if settings.provider == "embedded" else "-"
        self.models.open_refreshed(used, settings.language)

    def _use_model(self, kind: str, key: str) -> None:
        if kind == "llm":
            self._window.live.pick_backend(BackendChoice("embedded", key))
        else:
            self._window.live.change("recogniser" if kind == "stt" else "voice", key)

    def _tell_of_model(self, key: str) -> None:
        """Offers a language model that has come to the conversation that goes on."""
        assert self._window.models_controller is not None
        view = next((view for view in self._window.models_controller.service.models() if view.key == key), None)
        if view is not None and view.kind == "llm" and self._window.settings.provider == "embedded":
            self.model_arrived.emit(key, view.label)

    def open_about(self) -> None:
        """What KAME is, which version, and what it is made of."""
        if self.about is None:
            from app.gui.window.about_dialog import AboutDialog

            self.about = AboutDialog(self._window)
            self.about.guide_wanted.connect(self.open_guide)
        self.about.appear()

    def open_guide(self) -> None:
        """The guide to the window."""
        if self.guide is None:
            from app.gui.window.guide_dialog import GuideDialog

            self.guide = GuideDialog(self._window)
        self.guide.appear()
