"""The window's other dialogs (settings, log, guide, About) and the first start's cards, built on first use.

Emits what they report, for the controllers to act on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.gui.window.services import WindowServices
from app.services.model_service import ModelView, VoiceView
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.logs.panel import LogPanel
    from app.gui.logs.view import LogPage
    from app.gui.settings.dialog import SettingsDialog
    from app.gui.window.about_dialog import AboutDialog, GuideDialog
    from app.gui.window.first_start import FirstStart
    from app.gui.window.main_window import MainWindow


class Panels(QObject):
    """Without a `services.machine` the welcome shows no cards at the first start."""

    frontend_arrived = Signal(str, str)
    """The key and the name of a front-end whose weights were downloaded."""
    model_arrived = Signal(str, str)
    """The key and the name of a language model that was downloaded."""

    def __init__(self, window: MainWindow, services: WindowServices) -> None:
        super().__init__(window)
        self._window = window
        self._services = services
        self.settings: SettingsDialog | None = None
        self._notes: dict[str, tuple[str, bool]] = {}
        self.first_start: FirstStart | None = None
        self.log: LogPanel | None = None
        self.about: AboutDialog | None = None
        self.guide: GuideDialog | None = None
        menu, models = window.menu, window.models_controller
        menu.settings.connect(self.open_settings)
        menu.log.connect(lambda: self.open_log())
        menu.guide.connect(self.open_guide)
        menu.about.connect(self.open_about)
        window.dialogs.model_chosen.connect(self._use_model)
        if models is not None:
            models.arrived.connect(self._tell_of_model)
        menu.log_action.setVisible(services.log is not None)
        if services.log is not None:
            window.inspector.add_page("log", self.tr("Log"), self._make_log_page)
        window.keep.taken.connect(self._show_value)
        window.sound.listed.connect(self._offer_devices)

    def begin(self) -> None:
        """Shows microphone and model in the welcome, at the very first start."""
        if self._services.machine is not None and not self._window.keep.state.first_run_done:
            from app.gui.window.first_start import FirstStart

            self.first_start = FirstStart(self._window, self._services.machine)

    def show_levels(self, event: e.LevelMeasured) -> None:
        """Shows the levels of both sides."""
        if self.first_start is not None:
            self.first_start.show_level(event)

    def apply(self, event: e.Event) -> None:
        """Applies an event of the session."""
        if self.first_start is not None:
            self.first_start.apply(event)

    # -- settings

    def open_settings(self, key: str = "") -> None:
        """Opens the settings; with `key`, at that setting or page."""
        if self.settings is None:
            from app.gui.settings.dialog import SettingsDialog

            ways, window = self._other_dialogs(), self._window
            self.settings = SettingsDialog(window.settings, window, tuple(ways))
            self.settings.dialog_wanted.connect(lambda name: ways[name]())
            self.settings.changed.connect(self._window.live.change)
            self.settings.keys_typed.connect(self._window.sound.keys_typed)
            for name, (sentence, usable) in self._notes.items():
                self.settings.tell(name, sentence, usable=usable)
        self._offer_settings("microphone", "loudspeaker", "frontend")
        self._list_models()
        self.settings.open_refreshed(key)

    def tell(self, key: str, sentence: str, *, usable: bool = True) -> None:
        """Shows a hint below a setting from now on; if it is not `usable`, disables it."""
        self._notes[key] = (sentence, usable)
        if self.settings is not None:
            self.settings.tell(key, sentence, usable=usable)

    def warn(self, key: str, sentence: str) -> None:
        """Shows below a setting, if the dialog is open, why it could not be applied; nothing if empty."""
        if self.settings is not None:
            self.settings.say(key, sentence)

    def _other_dialogs(self) -> dict[str, Callable[[], object]]:
        """Returns what opens each dialog that the settings link to, by the names in `app.gui.settings.rows`."""
        window, menu = self._window, self._window.menu
        ways: dict[str, Callable[[], object]] = {"style": menu.style.emit}
        if window.models_controller is not None:
            ways["models"] = lambda: window.dialogs.open_models("embedded")
        if self._services.backend_service is not None:
            ways["backends"] = menu.models.emit
        if self._services.machine is not None:
            ways["machine"] = lambda: window.dialogs.open_models("machine")
        if menu.routes_action.isVisible():
            ways["routes"] = menu.routes.emit
        service = self._services.backend_service
        if service is not None and service.prices is not None:
            ways["prices"] = window.dialogs.prices_wanted.emit
        if service is not None and service.tool_servers is not None:
            ways["servers"] = window.dialogs.open_servers
        if self._services.sound_service is not None:
            ways["sound"] = window.sound.open_dialog
        if self._services.log is not None:
            ways["log"] = self.open_log
        return ways

    def _list_models(self) -> None:
        """Finds the voices and recognisers on this machine in the background, and lists them."""
        controller = self._window.models_controller
        if controller is not None:
            models = controller.service.models
            self._window.background.run(
                self, "models for the settings", lambda: asyncio.to_thread(models), self._offer_models, lambda _: None
            )

    def _offer_models(self, views: Sequence[ModelView]) -> None:
        """Lists those that know the language of conversations."""
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
        """Lists the same values in the settings as the window's own controls."""
        assert self.settings is not None
        setup = self._window.setup
        pickers = {
            "microphone": self._window.devices.microphone,
            "loudspeaker": self._window.devices.loudspeaker,
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

    def _show_value(self, key: str, value: object) -> None:
        if self.settings is not None:
            self.settings.show_value(key, value)
            if key == "language" and self.settings.isVisible():
                self._list_models()

    # -- log, about

    def _make_log_page(self) -> LogPage:
        from app.gui.logs.view import LogPage

        assert self._services.log is not None
        page = LogPage(self._services.log, self._window.inspector)
        page.dialog_wanted.connect(lambda: self.open_log())
        return page

    def open_log(self, *, fault: bool = False) -> None:
        """Opens the log, and the diagnostics to share; with `fault`, at the newest error."""
        source = self._services.log
        if source is None or self._services.diagnose is None:
            return
        if self.log is None:
            from app.gui.logs.panel import LogPanel

            self.log = LogPanel(source, self._diagnose, self._window.background, self._window)
        self.log.open_log(fault=fault)

    async def _diagnose(self, with_words: bool) -> str:
        from app.gui.logs.qt_messages import window_facts

        diagnose = self._services.diagnose
        assert diagnose is not None
        return await diagnose(with_words, [("Window", window_facts(self._window))])

    # -- models

    def _use_model(self, kind: str, key: str) -> None:
        live = self._window.live
        if kind == "llm":
            live.pick_backend(BackendChoice("embedded", key))
        elif kind == "frontend":
            live.change("frontend", key or "cascade")
        else:
            live.change("recogniser" if kind == "stt" else "voice", key)

    def _tell_of_model(self, key: str) -> None:
        """Reports a front-end, or a language model that the conversation could use, after its download."""
        assert self._window.models_controller is not None
        view = next((view for view in self._window.models_controller.service.models() if view.key == key), None)
        if view is not None and view.kind == "frontend":
            if key != self._window.settings.frontend:  # that one starts by itself
                self.frontend_arrived.emit(key, view.label)
        elif view is not None and view.kind == "llm" and self._window.settings.provider == "embedded":
            self.model_arrived.emit(key, view.label)

    def open_about(self) -> None:
        """Opens the version and the licences."""
        if self.about is None:
            from app.gui.window.about_dialog import AboutDialog

            self.about = AboutDialog(self._window)
            self.about.guide_wanted.connect(self.open_guide)
        self.about.appear()

    def open_guide(self) -> None:
        """Opens the guide."""
        if self.guide is None:
            from app.gui.window.about_dialog import GuideDialog

            self.guide = GuideDialog(self._window)
        self.guide.appear()
