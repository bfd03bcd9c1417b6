"""The window's dialogs: made when they are first wanted, kept, and closed with it. Passes on what they say."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.gui.aside_dialog import AsideDialog
from app.gui.brain_dialog import BrainDialog
from app.gui.choice import backend_choice, is_router, routes_of
from app.gui.conversation_dialog import ConversationDialog
from app.gui.errands import Errands
from app.gui.model_lists import ModelLists
from app.gui.panel import Panel
from app.gui.routes_dialog import RoutesDialog
from app.session.control import BackendChoice, BrainDesk, Style, ToolChoice
from app.settings import Settings


class Dialogs(QObject):
    """One of each kind, at most."""

    brain_chosen = Signal(object)
    aside_chosen = Signal(object)
    conversation_set = Signal(object, object, float, bool)
    routes_changed = Signal(object)
    routes_left = Signal()

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        errands: Errands,
        desk: BrainDesk | None,
        mcp_servers: Sequence[str],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._lists = lists
        self._errands = errands
        self._desk = desk
        self._mcp_servers = mcp_servers
        self._parent = parent
        self.brain: BrainDialog | None = None
        self.aside: AsideDialog | None = None
        self.routes: RoutesDialog | None = None
        self.conversation: ConversationDialog | None = None

    def open_brain(self, choice: BackendChoice) -> None:
        """Key, connection and models of a brain."""
        if self._desk is None:
            return
        if self.brain is None:
            self.brain = BrainDialog(self._desk, self._lists, self._errands, self._settings, self._parent)
            self.brain.chosen.connect(self.brain_chosen)
        self.brain.open_for(self._first_brain() if is_router(choice) else choice)

    def open_aside(self, proposed: BackendChoice | None, driver: BackendChoice) -> None:
        """Which brain is to answer at the side of `driver`."""
        if self.aside is None:
            self.aside = AsideDialog(self._lists, self._settings, self._parent)
            self.aside.chosen.connect(self.aside_chosen)
        if proposed is None or proposed == driver or is_router(proposed):
            proposed = self._first_brain(other_than=driver.provider)
        self.aside.open_with(proposed)

    def open_routes(self) -> None:
        """The table from kinds of questions to brains."""
        if self.routes is None:
            self.routes = RoutesDialog(self._lists, self._settings, self._parent)
            self.routes.changed.connect(self.routes_changed)
            self.routes.left.connect(self.routes_left)
        self.routes.open_with(routes_of(self._settings), self._first_brain())

    def open_conversation(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """How the conversation is held."""
        if self.conversation is None:
            self.conversation = ConversationDialog(self._parent, self._mcp_servers)
            self.conversation.used.connect(self.conversation_set)
        if not self.conversation.isVisible():
            self.conversation.show_choice(style, tools, cap)
        self.conversation.appear()
        self.conversation.persona.setFocus()

    def close_all(self) -> None:
        """The window goes."""
        dialogs: tuple[Panel | None, ...] = (self.brain, self.aside, self.routes, self.conversation)
        for dialog in dialogs:
            if dialog is not None:
                dialog.close()

    def _first_brain(self, other_than: str = "") -> BackendChoice:
        brains = [backend_choice(self._settings, key) for key in self._lists.views]
        brains = [choice for choice in brains if not is_router(choice)]
        others = [choice for choice in brains if choice.provider != other_than]
        return (others or brains or [BackendChoice()])[0]
