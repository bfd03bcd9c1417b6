"""Carries what the user wants of back-ends, and of how the conversation is held, to the session and the settings.

Stands between the pickers, the dialogs and the session manager; the session tells what came of it.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.conversation.events import Failure
from app.gui.controllers.dialogs import Dialogs
from app.gui.oracle.header import OracleHeader
from app.gui.shell.menu import TalkMenu
from app.gui.shell.model_popover import ModelPopover
from app.gui.state.choice import (
    SERVER_PREFIX,
    is_router,
    keep_backend,
    keep_routes,
    keep_secondary,
    keep_style,
    keep_tools,
    routes_of,
    secondary_choice,
    tool_choice,
    with_servers_moved,
)
from app.gui.state.session_manager import SessionManager
from app.gui.transcript.header import TranscriptHeader
from app.session.control import ROUTER, BackendChoice, Part, SessionState, Style, ToolChoice
from app.settings.declarations import Settings


class BackendsController(QObject):
    """Changes `settings`, and says so: `changed` when they are to be saved soon, `save` when at once."""

    changed = Signal()
    save = Signal()

    def __init__(
        self,
        settings: Settings,
        manager: SessionManager,
        dialogs: Dialogs,
        setup: ModelPopover,
        transcript: TranscriptHeader,
        oracle: OracleHeader,
        menu: TalkMenu,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._manager = manager
        self._dialogs = dialogs
        self._setup = setup
        self._transcript = transcript
        self._router_waits = False  # it was picked, and has no table yet
        dialogs.through_router = self._through_router
        setup.backend_picked.connect(self._pick)
        setup.models_wanted.connect(self._open_models)
        setup.routes_wanted.connect(dialogs.open_routes)
        setup.comparison_wanted.connect(lambda: self._want_secondary(True))
        transcript.style_wanted.connect(self._want_style)
        oracle.secondary_wanted.connect(self._want_secondary)
        oracle.hand_over.connect(manager.hand_over)
        menu.style.connect(self._want_style)
        menu.models.connect(self._open_models)
        menu.routes.connect(dialogs.open_routes)
        menu.secondary.connect(lambda: self._want_secondary(True))
        menu.hand_over.connect(manager.hand_over)
        dialogs.backend_chosen.connect(self._use)
        dialogs.secondary_chosen.connect(self._ask_secondary)
        dialogs.conversation_set.connect(self._set_conversation)
        dialogs.routes_changed.connect(self._change_routes)
        dialogs.routes_left.connect(self._leave_routes)
        dialogs.prices_wanted.connect(lambda: dialogs.open_prices(self._driver()))
        dialogs.servers_moved.connect(self._move_servers)
        dialogs.prices_kept.connect(lambda: dialogs.show_cost(self._driver()))
        backends = manager.backends
        backends.changed.connect(self._show_model)
        backends.settled.connect(self._settled)
        backends.fell_back.connect(self._fell_back)
        backends.refused.connect(lambda choice, _: self._note_refusal(choice))
        backends.secondary_settled.connect(self._secondary_settled)
        backends.secondary_refused.connect(lambda choice, _: self._note_refusal(choice))

    # -- the one that drives

    def _pick(self, choice: BackendChoice) -> None:
        if is_router(choice) and not routes_of(self._settings):
            self._setup.show_backend(self._manager.wanted.backend)
            self._router_waits = True
            self._dialogs.open_routes()
        else:
            self._manager.want(backend=choice)

    def _use(self, choice: BackendChoice) -> None:
        if choice != self._setup.choice:
            self._setup.show_backend(choice)
            self._pick(choice)
            return
        state = self._manager.state
        if self._manager.gave_up or (choice == state.driving and state.driver_failed) or is_router(choice):
            # With what was put right in the dialog, it may work now.
            self._manager.want(backend=choice, reopen=["backend"])

    def blame(self, failure: Failure) -> BackendChoice | None:
        """The back-end whose key or connection a failure is about; None for none."""
        fault = self._manager.state.fault_of(failure)
        if fault is None:
            return None
        self._note_refusal(fault.choice)
        return fault.choice

    def _note_refusal(self, choice: BackendChoice | None) -> None:
        """Its dialog is not to say that it may need no key."""
        if choice is not None:
            self._dialogs.refused.add(choice.place)

    def _through_router(self, choice: BackendChoice, secondary: bool) -> bool:
        """Whether it was as one of the router's table that a back-end has failed."""
        asked_itself = choice == self._refused("secondary" if secondary else "backend")
        if asked_itself or choice not in routes_of(self._settings).values():
            return False
        faults = (fault for fault in self._manager.state.faults if fault.failure.secondary == secondary)
        return next((fault.routed for fault in faults if fault.choice == choice), False)

    def _refused(self, part: Part) -> BackendChoice | None:
        """The back-end that was asked for last, if it was refused."""
        refusal = self._manager.state.refusal(part)
        return refusal.choice if refusal is not None else None

    def _settled(self, choice: BackendChoice) -> None:
        keep_backend(self._settings, choice)
        self._setup.show_backend(choice)
        self._dialogs.show_cost(self._driver())
        self.changed.emit()

    def _fell_back(self, choice: BackendChoice) -> None:
        """For this conversation alone: the user's own choice stays, for the next one."""
        self._setup.show_backend(choice)
        self._dialogs.show_cost(self._driver())

    def _show_model(self, state: SessionState) -> None:
        if state.driving == self._setup.choice:
            self._setup.show_loaded(state.model)

    def _driver(self) -> BackendChoice:
        """The back-end that drives, with its model by name also where the choice leaves that to its server."""
        choice, state = self._manager.wanted.backend, self._manager.state
        unnamed = not choice.model and not is_router(choice) and choice == state.driving
        return replace(choice, model=state.model) if unnamed else choice

    def _open_models(self) -> None:
        """Opens “Models and servers” at the back-end in use, or at the one that was refused last."""
        self._dialogs.open_backend(self._refused("backend") or self._setup.choice, told=False)

    def _change_routes(self, table: dict[str, BackendChoice]) -> None:
        keep_routes(self._settings, table)
        self.save.emit()  # the router's table is read from there
        if self._router_waits or is_router(self._setup.choice):
            self._manager.want(backend=BackendChoice(ROUTER), reopen=["backend"])

    def _leave_routes(self) -> None:
        self._router_waits = False

    # -- the one at the side

    def _want_secondary(self, on: bool) -> None:
        if on:
            wanted = self._manager.wanted
            proposed = self._refused("secondary") or wanted.secondary or secondary_choice(self._settings)
            self._dialogs.open_secondary(proposed, wanted.backend)
        else:
            self._manager.want(secondary=None)

    def _ask_secondary(self, choice: BackendChoice) -> None:
        again = choice == self._manager.state.secondary  # with what was put right in the dialog, it may work now
        self._manager.want(secondary=choice, reopen=["secondary"] if again else ())

    def _secondary_settled(self, choice: BackendChoice | None) -> None:
        if choice is not None:
            keep_secondary(self._settings, choice)
            self.changed.emit()

    # -- how the conversation is held

    def _want_style(self) -> None:
        wanted = self._manager.wanted
        self._dialogs.open_conversation(wanted.style, wanted.tools, wanted.cap)
        self._dialogs.show_cost(self._driver())

    def _move_servers(self, moved: dict[str, str]) -> None:
        """Servers of tools were changed or taken out: so they are for this conversation, and for new ones."""
        wanted, new = self._manager.wanted, tool_choice(self._settings)
        tools = with_servers_moved(wanted.tools, moved)
        if any(f"{SERVER_PREFIX}{name}" in wanted.tools.names for name in moved):
            self._set_conversation(wanted.style, tools, wanted.cap, False)
        if (kept := with_servers_moved(new, moved)) != new:
            keep_tools(self._settings, kept)
            self.changed.emit()

    def _set_conversation(self, style: Style, tools: ToolChoice, cap: float, always: bool) -> None:
        self._manager.want(style=style, tools=tools, cap=cap, reopen=["tools"])
        self._transcript.show_choice(style, tools, cap)
        if always:
            keep_style(self._settings, style, tools, cap)
            self.changed.emit()
