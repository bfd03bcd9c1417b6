"""Connects the list of conversations to the one that is shown: opens, duplicates and removes, and marks the live
one.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QModelIndex, QObject, Signal

from app.gui.controllers.context import WindowContext
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.dialogs import Dialogs
from app.gui.conversations.history_controller import HistoryController
from app.gui.conversations.pane import ConversationsPane
from app.history.base import ConversationView, Setup
from app.session.control import BackendChoice


class ConversationListController(QObject):
    """If the conversations can't be kept, there is no list, and its pane says why."""

    cleared = Signal()
    """The conversation that was shown is removed: a new one is to begin."""
    titled = Signal(str)
    """The title of the conversation that is shown; empty while it has none."""

    def __init__(
        self,
        context: WindowContext,
        talks: ConversationController,
        dialogs: Dialogs,
        pane: ConversationsPane,
    ) -> None:
        super().__init__(context.window)
        commands = context.commands
        service = context.services.history
        self._service = service
        self._talks = talks
        self._manager = context.manager
        self._model = context.model
        self._dialogs = dialogs
        self.pane = pane
        self._forgotten = ""  # the key of the conversation that was shown and is removed
        self.history: HistoryController | None = None
        self._delete = commands["delete"]
        self._delete.setEnabled(False)
        for command in ("export", "import"):
            commands[command].setEnabled(service is not None)
        context.model.phase_changed.connect(self._mark_live)
        if service is None:
            pane.show_trouble(self.tr("Conversations are not kept here."))
            return
        messages = context.messages
        self.history = history = HistoryController(pane, service, context.background, context.window)
        history.opened.connect(talks.open)
        pane.opened.connect(self._stay)
        history.duplicated.connect(talks.open)
        history.removed.connect(self._removed)
        history.not_removed.connect(self._take_back)
        history.listed.connect(self._listed)
        history.told.connect(lambda sentence: messages.say(sentence, level="notice", private=True))
        history.failed.connect(lambda sentence: messages.say(sentence, private=True))
        pane.duplicate_wanted.connect(self._ask_backend)
        dialogs.duplicate_chosen.connect(self._duplicate)
        talks.changed.connect(self._changed)
        commands.on("export", lambda: history.ask_export(talks.key))
        commands.on("import", history.ask_import)
        commands.on("delete", lambda: history.remove((talks.key,)))

    def begin(self) -> None:
        """The loop runs: the list can be fetched."""
        self._changed()

    async def finish(self) -> None:
        """What was asked for is done before the window goes."""
        await self._talks.finish()
        if self.history is not None:
            await self.history.finish()

    async def close(self) -> None:
        """The last session is over: all of it is written."""
        if self._service is not None:
            await self._service.close()

    # -- inner parts

    def _mark_live(self, phase: str) -> None:
        self.pane.list.mark(live=self._talks.key if phase == "running" else "")

    def _stay(self, key: str) -> None:
        if key == self._talks.key:
            self._talks.stay()

    def _changed(self) -> None:
        if self._talks.key not in (self.pane.list.current, self.pane.rows.highlighted):
            self.pane.rows.setCurrentIndex(QModelIndex())  # the highlight was on the one that was open
        self.pane.list.mark(current=self._talks.key)
        self.titled.emit(self._talks.title)
        if self.history is not None:
            self.history.refresh()

    def _listed(self, views: tuple[ConversationView, ...]) -> None:
        view = next((view for view in views if view.key == self._talks.key), None)
        known = self.history.known if self.history is not None else ()
        self._delete.setEnabled(any(view.key == self._talks.key for view in known))
        if view is not None:
            self._talks.named = view.named
        if view is not None and view.title != self._talks.title:
            self._talks.title = view.title
            self.titled.emit(view.title)

    def _removed(self, keys: tuple[str, ...]) -> None:
        shown = self._talks.key
        if self._talks.forget(keys):
            self._forgotten = shown
            self.cleared.emit()

    def _take_back(self, views: tuple[ConversationView, ...]) -> None:
        """They are here still: if one of them was shown, and nothing was said since, it is again."""
        view = next((view for view in views if view.key == self._forgotten), None)
        if view is not None and not self._model.has_words:
            self._talks.open(view)

    def _ask_backend(self, key: str) -> None:
        setup = self._setup(key)
        self._dialogs.open_duplicate(key, setup.backend if setup is not None else self._manager.wanted.backend)

    def _duplicate(self, key: str, choice: BackendChoice) -> None:
        setup = self._setup(key)
        if self.history is not None and setup is not None:
            self.history.duplicate(key, replace(setup, backend=choice))

    def _setup(self, key: str) -> Setup | None:
        if key == self._talks.key:
            return self._talks.setup
        return self.history.setup(key) if self.history is not None else None
