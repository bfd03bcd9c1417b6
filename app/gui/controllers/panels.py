"""The dialogs that aren't about models: settings, log, guide and About, built on first use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QComboBox

from app.gui.controllers.backend_controller import BackendController
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.controllers.sound_controller import SoundController
from app.gui.models.downloads import ModelsController
from app.gui.widgets.translation import said
from app.services.model_service import ModelView, VoiceView
from app.session.control import BackendChoice
from app.settings.declarations import declaration

if TYPE_CHECKING:
    from app.gui.inspector.pane import InspectorPane
    from app.gui.logs.panel import LogPanel
    from app.gui.logs.view import LogPage
    from app.gui.settings.dialog import SettingsDialog
    from app.gui.shell.about_dialog import AboutDialog, GuideDialog


class Panels(QObject):
    """`pickers`: the window's own lists of microphones, loudspeakers and front-ends, which the settings repeat."""

    def __init__(
        self,
        context: WindowContext,
        dialogs: Dialogs,
        backends: BackendController,
        sound: SoundController,
        models: ModelsController | None,
        inspector: InspectorPane,
        pickers: dict[str, QComboBox],
    ) -> None:
        super().__init__(context.window)
        self._context = context
        self._dialogs = dialogs
        self._backends = backends
        self._sound = sound
        self._models = models
        self._commands = commands = context.commands
        self._inspector = inspector
        self._pickers = pickers
        self.settings: SettingsDialog | None = None
        self._notes: dict[str, tuple[str, bool]] = {}
        self.log: LogPanel | None = None
        self.about: AboutDialog | None = None
        self.guide: GuideDialog | None = None
        commands.on("settings", self.open_settings)
        commands.on("log", self.open_log)
        commands.on("guide", self.open_guide)
        commands.on("about", self.open_about)
        dialogs.model_chosen.connect(self._use_model)
        has_log = context.services.log is not None
        commands["log"].setVisible(has_log)
        if has_log:
            inspector.add_page("log", self.tr("Log"), self._make_log_page)
        context.keep.taken.connect(self._show_value)
        sound.listed.connect(lambda *_: self._offer_settings("microphone", "loudspeaker"))

    # -- settings

    def open_settings(self, key: str = "") -> None:
        """Opens the settings; with `key`, at that setting or page."""
        if self.settings is None:
            from app.gui.settings.dialog import SettingsDialog

            ways, context = self._other_dialogs(), self._context
            self.settings = SettingsDialog(context.settings, context.window, tuple(ways))
            self.settings.dialog_wanted.connect(lambda name: ways[name]())
            self.settings.changed.connect(context.keep.change)
            self.settings.keys_typed.connect(self._sound.keys_typed)
            for name, (sentence, usable) in self._notes.items():
                self.settings.tell(name, sentence, usable=usable)
        self._offer_settings(*self._pickers)
        self._list_models()
        self.settings.open_refreshed(key)

    def tell(self, key: str, sentence: str, *, usable: bool = True) -> None:
        """Shows a hint below a setting from now on; if it is not `usable`, disables it."""
        self._notes[key] = (sentence, usable)
        if self.settings is not None:
            self.settings.tell(key, sentence, usable=usable)

    def is_usable(self, key: str) -> bool:
        """Returns whether a setting can be changed here."""
        return self._notes.get(key, ("", True))[1]

    def warn(self, key: str, sentence: str) -> None:
        """Shows why a setting could not be applied, below it or, unless the dialog is open, in the message bar; nothing
        if empty.
        """
        self._context.messages.clear_topic(key)
        if self.settings is not None:
            self.settings.say(key, sentence)
        if sentence and (self.settings is None or not self.settings.isVisible()):
            self._context.messages.say(f"{said(declaration(key).label)}: {sentence}", topic=key)

    def _other_dialogs(self) -> dict[str, Callable[[], object]]:
        """Returns what opens each dialog that the settings link to, by the names in `app.gui.settings.rows`."""
        commands, dialogs, services = self._commands, self._dialogs, self._context.services
        ways: dict[str, Callable[[], object]] = {"style": commands["style"].trigger}
        if self._models is not None:
            ways["models"] = lambda: dialogs.open_models("embedded")
        service = services.backend_service
        if service is not None:
            ways["backends"] = commands["models"].trigger
            if service.prices is not None:
                ways["prices"] = dialogs.prices_wanted.emit
            if service.tool_servers is not None:
                ways["servers"] = dialogs.open_servers
        if services.machine is not None:
            ways["machine"] = lambda: dialogs.open_models("machine")
        if services.sound_service is not None:
            ways["sound"] = self._sound.open_dialog
        if services.log is not None:
            ways["log"] = self.open_log
        return ways

    def _list_models(self) -> None:
        """Finds the voices and recognisers on this machine in the background, and lists them."""
        if self._models is not None:
            models = self._models.service.models
            self._context.background.run(
                self, "models for the settings", lambda: asyncio.to_thread(models), self._offer_models, lambda _: None
            )

    def _offer_models(self, views: Sequence[ModelView]) -> None:
        """Lists those that know the language of conversations."""
        assert self.settings is not None
        language = self._context.settings.language
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
        if self.settings is not None:
            for name in names:
                picker = self._pickers[name]
                offers = [(picker.itemData(place), picker.itemText(place)) for place in range(picker.count())]
                self.settings.set_choices(name, offers)

    def _show_value(self, key: str, value: object) -> None:
        if self.settings is not None:
            self.settings.show_value(key, value)
            if key == "language" and self.settings.isVisible():
                self._list_models()

    def _use_model(self, kind: str, key: str) -> None:
        if kind == "llm":
            self._backends.choose(BackendChoice("embedded", key))
        elif kind == "frontend":
            self._context.keep.change("frontend", key or "cascade")
        else:
            self._context.keep.change("recogniser" if kind == "stt" else "voice", key)

    # -- log, guide, about

    def _make_log_page(self) -> LogPage:
        from app.gui.logs.view import LogPage

        assert self._context.services.log is not None
        page = LogPage(self._context.services.log, self._inspector)
        page.dialog_wanted.connect(lambda: self.open_log())
        return page

    def open_log(self, *, fault: bool = False) -> None:
        """Opens the log, and the diagnostics to share; with `fault`, at the newest error."""
        context = self._context
        if context.services.log is None or context.services.diagnose is None:
            return
        if self.log is None:
            from app.gui.logs.panel import LogPanel

            self.log = LogPanel(context.services.log, self._diagnose, context.background, context.window)
        self.log.open_log(fault=fault)

    async def _diagnose(self, with_words: bool) -> str:
        from app.gui.logs.qt_messages import window_facts

        diagnose = self._context.services.diagnose
        assert diagnose is not None
        return await diagnose(with_words, [("Window", window_facts(self._context.window))])

    def open_about(self) -> None:
        """Opens the version and the licences."""
        if self.about is None:
            from app.gui.shell.about_dialog import AboutDialog

            self.about = AboutDialog(self._context.window)
            self.about.guide_wanted.connect(self.open_guide)
        self.about.appear()

    def open_guide(self) -> None:
        """Opens the guide."""
        if self.guide is None:
            from app.gui.shell.about_dialog import GuideDialog

            self.guide = GuideDialog(self._context.window)
        self.guide.appear()
