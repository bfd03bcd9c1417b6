"""The dialogs about models, tools and how a conversation is held: imported and built on first use, kept, and closed
with the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.gui.controllers.context import WindowContext
from app.gui.models.downloads import GraphicsController, ModelsController
from app.gui.models.favourites import Favourites
from app.gui.models.model_lists import ModelLists
from app.gui.models.model_search import Catalogue
from app.gui.state.choice import MODELLED, backend_choice
from app.services.backend_service import BackendService
from app.services.model_service import VoiceView
from app.session.control import BackendChoice, Style, ToolChoice

if TYPE_CHECKING:
    from app.gui.models.model_question import ModelQuestion, Then
    from app.gui.models.models_dialog import ModelsDialog
    from app.gui.models.style_dialog import StyleDialog
    from app.gui.prices.prices_dialog import PricesDialog
    from app.gui.tools.servers_dialog import ServersDialog


class Dialogs(QObject):
    """At most one of each kind.

    `models`, `graphics`: the downloads that “Models and servers” shows; None where they are unavailable.
    """

    backend_chosen = Signal(object)
    model_chosen = Signal(str, str)
    """A kind of model, and the key of the model or voice to use for it; an empty key leaves the choice to the app."""
    secondary_chosen = Signal(object)
    duplicate_chosen = Signal(str, object)
    """A conversation's key, and the `BackendChoice` for its duplicate."""
    conversation_set = Signal(object, object, float, bool)
    prices_wanted = Signal()
    prices_kept = Signal()
    servers_moved = Signal(object)
    """Tool servers were changed, renamed or removed: a dict, see `with_servers_moved`."""

    def __init__(
        self,
        context: WindowContext,
        lists: ModelLists,
        favourites: Favourites,
        catalogue: Catalogue,
        models: ModelsController | None,
        graphics: GraphicsController | None,
    ) -> None:
        super().__init__(context.window)
        services = context.services
        self._settings = context.settings
        self._lists = lists
        self._favourites = favourites
        self._catalogue = catalogue
        self._background = context.background
        self._service = services.backend_service
        self._mcp_servers = services.choices.mcp_servers
        self._parent = context.window
        self._models_here = models
        self._machine = services.machine
        self._graphics = graphics
        self._sound = services.sound_service
        self.models: ModelsDialog | None = None
        self.question: ModelQuestion | None = None
        self._instead = BackendChoice(), False
        """What “Models and servers” is opened with from the question: a back-end, and whether to compare with it."""
        self.conversation: StyleDialog | None = None
        self.prices: PricesDialog | None = None
        self._prices = self._service.prices if self._service is not None else None
        self.servers: ServersDialog | None = None
        self._tool_servers = self._service.tool_servers if self._service is not None else None

    @property
    def has_models(self) -> bool:
        """Whether there is anything to show in “Models and servers”."""
        return self._service is not None or self._models_here is not None or self._machine is not None

    @property
    def has_tool_servers(self) -> bool:
        """Whether tool servers can be listed and changed."""
        return self._tool_servers is not None

    def open_models(self, place: str, model: str = "") -> None:
        """Opens “Models and servers” at a place; at "embedded", with a `model` chosen in the table."""
        if self.has_models:
            dialog = self._models_dialog()
            self._show_used(model)
            dialog.open_at(place)

    def open_backend(self, choice: BackendChoice, secondary: bool = False) -> None:
        """Opens “Models and servers” with a back-end. `secondary`: to use it as the comparison model."""
        if self.has_models:
            dialog = self._models_dialog()
            self._show_used()
            dialog.open_for(choice, secondary=secondary)

    def _models_dialog(self) -> ModelsDialog:
        if self.models is None:
            from app.gui.models.models_dialog import ModelsDialog

            self.models = dialog = ModelsDialog(self._lists, self._parent)
            if self._models_here is not None:
                self._add_local(dialog, self._models_here)
            if self._service is not None:
                self._add_servers(dialog, self._service)
            if self._machine is not None:
                from app.gui.models.machine_page import MachinePage

                dialog.add_machine(MachinePage(self._machine, self._graphics, self._background, dialog))
        return self.models

    def _add_local(self, dialog: ModelsDialog, models: ModelsController) -> None:
        from app.gui.models.local_models import LocalModels

        sound, settings = self._sound, self._settings
        play = None if sound is None else lambda samples: sound.play(samples, settings.loudspeaker)
        local = LocalModels(models, self._background, dialog, play=play)
        local.use_wanted.connect(self.model_chosen)
        dialog.add_local(local)

    def _add_servers(self, dialog: ModelsDialog, service: BackendService) -> None:
        from app.gui.models.server_form import ServerForm

        form = ServerForm(service, self._lists, self._background, self._settings, dialog)
        form.chosen.connect(self.backend_chosen)
        form.secondary_chosen.connect(self.secondary_chosen)
        dialog.add_servers(form)

    def _show_used(self, model: str = "") -> None:
        """Shows the models in the settings as being in use."""
        settings = self._settings
        if self.models is not None and self.models.local is not None:
            used = {"stt": settings.recogniser, "tts": settings.voice, "llm": "-"}
            if settings.provider == "embedded":
                used["llm"] = settings.embedded_model
            if settings.frontend != "cascade":
                used["frontend"] = settings.frontend
            self.models.local.open_with(used, settings.language, model)

    def open_secondary(self, proposed: BackendChoice | None, driver: BackendChoice) -> None:
        """Asks for the comparison model of `driver`."""
        if proposed is None or proposed == driver:
            proposed = BackendChoice("")
        words = self.tr(
            "The comparison model answers every question, too. Its answers are shown, but not spoken until you switch "
            "to it. It is billed like the other one."
        )
        self._ask(self.tr("Compare"), words, proposed, self.secondary_chosen.emit, secondary=True)

    def open_duplicate(self, key: str, backend: BackendChoice) -> None:
        """Asks for the model of a duplicate of the conversation `key`, which is held with `backend`."""
        words = self.tr("Copies the conversation. The copy continues with this model; the original stays as it is.")
        self._ask(
            self.tr("Duplicate with another model"),
            words,
            backend,
            lambda choice: self.duplicate_chosen.emit(key, choice),
        )

    def _ask(self, title: str, words: str, proposed: BackendChoice, then: Then, *, secondary: bool = False) -> None:
        """Opens the list of models with a question; `secondary`: it is about the comparison model."""
        if self.question is None:
            from app.gui.models.model_question import ModelQuestion
            from app.gui.models.model_search import ModelSearch

            search = partial(
                ModelSearch,
                self._settings,
                self._lists,
                self._favourites,
                self._catalogue,
                self._service,
                self._background,
                plain=True,
            )
            self.question = ModelQuestion(search, self._parent)
            self.question.models_wanted.connect(self._open_instead)
            self.question.models_button.setVisible(self.has_models)
        self._instead = proposed, secondary
        self.question.ask(title, words, proposed, then)

    def _open_instead(self) -> None:
        choice, secondary = self._instead
        servers = [provider for provider in self._lists.views if provider in MODELLED]
        if servers and choice.provider not in servers:
            choice = backend_choice(self._settings, servers[0])
        self.open_backend(choice, secondary)

    def open_conversation(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """Opens “Style and tools” with a conversation's settings."""
        if self.conversation is None:
            from app.gui.models.style_dialog import StyleDialog

            self.conversation = StyleDialog(self._parent, self._mcp_servers)
            self.conversation.used.connect(self.conversation_set)
            self.conversation.tools.servers_wanted.connect(self.open_servers)
            self.conversation.tools.servers_button.setVisible(self._tool_servers is not None)
            self.conversation.prices_wanted.connect(self.prices_wanted)
            self.conversation.prices_button.setVisible(self._prices is not None)
        if not self.conversation.isVisible():
            self.conversation.show_choice(style, tools, cap)
            if (models := self._models_here) is not None:
                self._background.run(
                    self, "voices", lambda: asyncio.to_thread(models.voices), self._show_voices, lambda sentence: None
                )
        self.conversation.appear()
        self.conversation.persona.setFocus()

    def _show_voices(self, voices: Sequence[VoiceView]) -> None:
        if self.conversation is not None:
            self.conversation.show_voices(voices, self._settings.language)

    def show_cost(self, driver: BackendChoice) -> None:
        """Shows in “Style and tools” whether the spending limit can work for the active back-end."""
        if self.conversation is not None and self._prices is not None:
            self.conversation.show_cost(self._prices.unpriced(driver) is None)

    def open_prices(self, driver: BackendChoice) -> None:
        """Opens the price table; if the active back-end has no price, with a new row for it."""
        if self._prices is None:
            return
        if self.prices is None:
            from app.gui.prices.prices_dialog import PricesDialog

            self.prices = PricesDialog(self._prices, self._parent)
            self.prices.kept.connect(self.prices_kept)
        self.prices.open_with(self._prices.unpriced(driver) or "")

    def open_servers(self) -> None:
        """Opens the list of tool servers."""
        if self._tool_servers is None:
            return
        if self.servers is None:
            from app.gui.tools.servers_dialog import ServersDialog

            self.servers = ServersDialog(self._tool_servers, self._background, self._parent)
            self.servers.listed.connect(self._list_servers)
        self.servers.open_refreshed()

    def _list_servers(self, names: Sequence[str], moved: Mapping[str, str]) -> None:
        self._mcp_servers = tuple(names)
        if self.conversation is not None:
            self.conversation.tools.show_servers(names, moved)
        if moved:
            self.servers_moved.emit(moved)
