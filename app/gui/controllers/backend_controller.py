"""Carries the user's choice of models, and of how the conversation is held, to the session and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.conversation.record.transcript import Turn
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.models.model_lists import ModelLists
from app.gui.oracle.header import OracleHeader
from app.gui.shell.model_popover import ModelPopover
from app.gui.state.choice import (
    SERVER_PREFIX,
    keep_backend,
    keep_secondary,
    keep_style,
    keep_tools,
    secondary_choice,
    tool_choice,
    with_servers_moved,
)
from app.session.control import BackendChoice, Part, SessionState, Style, ToolChoice


class BackendController(QObject):
    """Stands between the pickers, the dialogs and the session manager.

    - `changed`: called when the user has changed how the conversation is held.
    - `ask`: sends a message as if it had been typed.
    """

    def __init__(
        self,
        context: WindowContext,
        dialogs: Dialogs,
        lists: ModelLists,
        popover: ModelPopover,
        header: OracleHeader,
        *,
        changed: Callable[[], object],
        ask: Callable[[Turn], object],
    ) -> None:
        super().__init__(context.window)
        commands = context.commands
        self._settings = context.settings
        self._keep = context.keep
        self._manager = manager = context.manager
        self._model = context.model
        self._dialogs = dialogs
        self._lists = lists
        self._popover = popover
        self._changed = changed
        self._ask = ask
        self._ask_next: Turn | None = None  # asked once another model was picked
        popover.backend_picked.connect(self.choose)
        popover.closed.connect(lambda: QTimer.singleShot(0, self, self._forget_question))  # after what was picked
        popover.models_wanted.connect(self._open_models)
        header.secondary_wanted.connect(self._want_secondary)
        header.hand_over.connect(manager.hand_over)
        commands.on("style", self._want_style)
        commands.on("models", self._open_models)
        commands.on("hand_over", manager.hand_over)
        for wanted in (popover.comparison_wanted, commands["compare"].triggered):
            wanted.connect(lambda: self._want_secondary(True))
        dialogs.backend_chosen.connect(self._use)
        dialogs.secondary_chosen.connect(self._ask_secondary)
        dialogs.conversation_set.connect(self._set_conversation)
        dialogs.prices_wanted.connect(lambda: dialogs.open_prices(self._driver()))
        dialogs.servers_moved.connect(self._move_servers)
        dialogs.prices_kept.connect(lambda: dialogs.show_cost(self._driver()))
        manager.settled.connect(self._settled)
        context.model.published.connect(self._follow_state)

    # -- the one that drives

    def choose(self, choice: BackendChoice) -> None:
        """Has this back-end answer, also the question that is waiting for another model."""
        self._lists.servers.add(choice)
        if choice != self._manager.wanted.backend:
            self._manager.want(backend=choice)
        question, self._ask_next = self._ask_next, None
        if question is not None:
            self._ask(question)

    def ask_another(self, question: Turn) -> None:
        """Asks a turn again once another model is picked; not if the list is closed without that."""
        self._ask_next = question
        self._popover.open_from_pill()

    def _forget_question(self) -> None:
        self._ask_next = None

    def _use(self, choice: BackendChoice) -> None:
        state = self._model.state
        if choice != self._manager.wanted.backend:
            self.choose(choice)
        elif self._manager.gave_up or state.driver_failed or choice != state.driving:
            # With what was put right in the dialog, it may work now.
            self._manager.reopen(choice)

    def _refused(self, part: Part) -> BackendChoice | None:
        """The back-end that was asked for last, if it was refused."""
        refusal = self._model.state.refusal(part)
        return refusal.choice if refusal is not None else None

    def _settled(self, choice: BackendChoice) -> None:
        keep_backend(self._settings, choice)
        self._dialogs.show_cost(self._driver())
        self._keep.later()

    def _follow_state(self, before: SessionState, after: SessionState) -> None:
        if after.driving != before.driving:
            self._dialogs.show_cost(self._driver())
        if after.secondary_number > before.secondary_number and after.secondary is not None:
            keep_secondary(self._settings, after.secondary)
            self._keep.later()

    def _driver(self) -> BackendChoice:
        """The back-end that drives, with its model by name also where the choice leaves that to its server."""
        choice, state = self._manager.wanted.backend, self._model.state
        return replace(choice, model=state.model) if not choice.model and choice == state.driving else choice

    def _open_models(self) -> None:
        """Opens “Models and servers” at the back-end in use, or at the one that was refused last."""
        self._dialogs.open_backend(self._refused("backend") or self._manager.wanted.backend)

    # -- the one at the side

    def _want_secondary(self, on: bool) -> None:
        if on:
            wanted = self._manager.wanted
            proposed = self._refused("secondary") or wanted.secondary or secondary_choice(self._settings)
            self._dialogs.open_secondary(proposed, wanted.backend)
        else:
            self._manager.want(secondary=None)

    def _ask_secondary(self, choice: BackendChoice) -> None:
        again = choice == self._model.state.secondary  # with what was put right in the dialog, it may work now
        self._manager.want(secondary=choice, reopen=["secondary"] if again else ())

    # -- how the conversation is held

    def _want_style(self) -> None:
        wanted = self._manager.wanted
        self._dialogs.open_conversation(wanted.style, wanted.tools, wanted.cap)
        self._dialogs.show_cost(self._driver())

    def _move_servers(self, moved: Mapping[str, str]) -> None:
        """Servers of tools were renamed or removed: so they are for this conversation, and for new ones."""
        wanted, new = self._manager.wanted, tool_choice(self._settings)
        tools = with_servers_moved(wanted.tools, moved)
        if any(f"{SERVER_PREFIX}{name}" in wanted.tools.names for name in moved):
            self._set_conversation(wanted.style, tools, wanted.cap, False)
        if (kept := with_servers_moved(new, moved)) != new:
            keep_tools(self._settings, kept)
            self._keep.later()

    def _set_conversation(self, style: Style, tools: ToolChoice, cap: float, always: bool) -> None:
        self._manager.want(style=style, tools=tools, cap=cap, reopen=["tools"])
        if always:
            keep_style(self._settings, style, tools, cap)
            self._keep.later()
        self._changed()
