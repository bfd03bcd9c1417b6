"""The window's dialogs: imported and built when they are first wanted, kept, and closed with the window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice, is_router, routes_of
from app.gui.widgets.panel import Panel
from app.services.backend_service import BackendService
from app.services.model_service import VoiceView
from app.session.control import BackendChoice, Style, ToolChoice
from app.settings.declarations import Settings

if TYPE_CHECKING:
    from app.gui.backends.backend_dialog import BackendDialog
    from app.gui.backends.routes_dialog import RoutesDialog
    from app.gui.backends.secondary_dialog import DuplicateDialog, SecondaryDialog
    from app.gui.backends.style_dialog import StyleDialog
    from app.gui.prices.prices_dialog import PricesDialog
    from app.gui.tools.servers_dialog import ServersDialog


class Dialogs(QObject):
    """One of each kind, at most."""

    backend_chosen = Signal(object)
    secondary_chosen = Signal(object)
    duplicate_chosen = Signal(str, object)
    """A conversation's key, and the `BackendChoice` for its double."""
    conversation_set = Signal(object, object, float, bool)
    routes_changed = Signal(object)
    routes_left = Signal()
    prices_wanted = Signal()
    prices_kept = Signal()
    servers_moved = Signal(object)
    """Servers of tools were changed, renamed or taken out: a dict, see `with_servers_moved`."""

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        background: BackgroundTasks,
        service: BackendService | None,
        mcp_servers: Sequence[str],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._lists = lists
        self._background = background
        self._service = service
        self._mcp_servers = mcp_servers
        self._parent = parent
        self.refused: set[tuple[str, str]] = set()
        """The providers and addresses that have refused something in this run."""
        self.through_router: Callable[[BackendChoice, bool], bool] = lambda choice, secondary: False
        """Whether it was a router that asked a back-end which has failed, at the side or not."""
        self.voices: Callable[[], Sequence[VoiceView]] | None = None
        """Lists the voices on this machine; called on a thread. None where models can't be listed."""
        self.backend: BackendDialog | None = None
        self.secondary: SecondaryDialog | None = None
        self.duplicate: DuplicateDialog | None = None
        self._to_duplicate = ""
        self.routes: RoutesDialog | None = None
        self.conversation: StyleDialog | None = None
        self.prices: PricesDialog | None = None
        self._prices = service.prices if service is not None else None
        self.servers: ServersDialog | None = None
        self._tool_servers = service.tool_servers if service is not None else None

    def open_backend(self, choice: BackendChoice, secondary: bool = False, *, told: bool = True) -> None:
        """Key, connection and models of a back-end; `secondary`: to use it at the side; `told`: a message is about
        it.
        """
        if self._service is None:
            return
        if self.backend is None:
            from app.gui.backends.backend_dialog import BackendDialog

            self.backend = BackendDialog(
                self._service, self._lists, self._background, self._settings, self.refused, self._parent
            )
            self.backend.chosen.connect(self.backend_chosen)
            self.backend.secondary_chosen.connect(self.secondary_chosen)
        routed = told and self.through_router(choice, secondary)
        self.backend.open_for(
            self._first_backend() if is_router(choice) else choice, secondary=secondary, routed=routed
        )

    def open_secondary(self, proposed: BackendChoice | None, driver: BackendChoice) -> None:
        """Which back-end is to answer at the side of `driver`."""
        if self.secondary is None:
            from app.gui.backends.secondary_dialog import SecondaryDialog

            self.secondary = SecondaryDialog(self._lists, self._settings, self._parent)
            self.secondary.chosen.connect(self.secondary_chosen)
        if proposed is None or proposed == driver or is_router(proposed):
            proposed = self._first_backend(other_than=driver.provider)
        self.secondary.open_with(proposed)

    def open_duplicate(self, key: str, backend: BackendChoice) -> None:
        """Which back-end is to go on in the double of the conversation `key`, which is held with `backend`."""
        if self.duplicate is None:
            from app.gui.backends.secondary_dialog import DuplicateDialog

            self.duplicate = DuplicateDialog(self._lists, self._settings, self._parent)
            self.duplicate.chosen.connect(lambda choice: self.duplicate_chosen.emit(self._to_duplicate, choice))
        self._to_duplicate = key
        self.duplicate.open_with(self._first_backend(other_than=backend.provider))

    def open_routes(self) -> None:
        """The table from kinds of questions to back-ends."""
        if self.routes is None:
            from app.gui.backends.routes_dialog import RoutesDialog

            self.routes = RoutesDialog(self._lists, self._settings, self._parent)
            self.routes.changed.connect(self.routes_changed)
            self.routes.left.connect(self.routes_left)
        self.routes.open_with(routes_of(self._settings), self._first_backend())

    def open_conversation(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """How the conversation is held."""
        if self.conversation is None:
            from app.gui.backends.style_dialog import StyleDialog

            self.conversation = StyleDialog(self._parent, self._mcp_servers)
            self.conversation.used.connect(self.conversation_set)
            self.conversation.tools.servers_wanted.connect(self.open_servers)
            self.conversation.tools.servers_button.setVisible(self._tool_servers is not None)
            self.conversation.prices_wanted.connect(self.prices_wanted)
            self.conversation.prices_button.setVisible(self._prices is not None)
        if not self.conversation.isVisible():
            self.conversation.show_choice(style, tools, cap)
            if (voices := self.voices) is not None:
                self._background.run(
                    self, "voices", lambda: asyncio.to_thread(voices), self._show_voices, lambda sentence: None
                )
        self.conversation.appear()
        self.conversation.persona.setFocus()

    def _show_voices(self, voices: Sequence[VoiceView]) -> None:
        if self.conversation is not None:
            self.conversation.show_voices(voices, self._settings.language)

    def show_cost(self, driver: BackendChoice) -> None:
        """Has the conversation's dialog say whether a cap can hold the back-end that drives."""
        if self.conversation is not None and self._prices is not None:
            self.conversation.show_cost(self._prices.unpriced(driver) is None)

    def open_prices(self, driver: BackendChoice) -> None:
        """What back-ends cost; a price for the one that drives can be entered at once if it has none."""
        if self._prices is None:
            return
        if self.prices is None:
            from app.gui.prices.prices_dialog import PricesDialog

            self.prices = PricesDialog(self._prices, self._parent)
            self.prices.kept.connect(self.prices_kept)
        self.prices.open_with(self._prices.unpriced(driver) or "")

    def open_servers(self) -> None:
        """The servers of tools."""
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

    def close_all(self) -> None:
        """The window goes."""
        dialogs: tuple[Panel | None, ...] = (self.backend, self.secondary, self.routes, self.conversation, self.prices)
        for dialog in (*dialogs, self.servers, self.duplicate):
            if dialog is not None:
                dialog.close()

    def _first_backend(self, other_than: str = "") -> BackendChoice:
        backends = [backend_choice(self._settings, key) for key in self._lists.views]
        backends = [choice for choice in backends if not is_router(choice)]
        others = [choice for choice in backends if choice.provider != other_than]
        return (others or backends or [BackendChoice()])[0]
