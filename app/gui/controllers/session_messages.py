"""Shows in the message bar what the session reports: failures, refusals and notices."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.model_lists import ModelLists
from app.session.control import Refusal, SessionState


class SessionMessages(QObject):
    """Says each of them, and removes what has been put right. `again`: starts the session again."""

    def __init__(
        self,
        context: WindowContext,
        dialogs: Dialogs,
        lists: ModelLists,
        frontend: FrontEndBar,
        again: Callable[[], object],
    ) -> None:
        super().__init__(context.window)
        self._settings = context.settings
        self._keep = context.keep
        self._model = context.model
        self._messages = messages = context.messages
        self._dialogs = dialogs
        self._lists = lists
        self._frontend = frontend
        messages.retried.connect(again)
        messages.backend_wanted.connect(dialogs.open_backend)
        context.manager.failed.connect(self._say_start_failed)
        context.model.fault.connect(self._say_fault)
        context.model.follow(self._take)
        context.model.published.connect(self._follow_state)
        context.model.phase_changed.connect(lambda phase: messages.clear_retries() if phase != "stopped" else None)
        context.model.began.connect(lambda _: messages.clear_talk())
        context.keep.failed.connect(lambda sentence: messages.say(sentence, topic="settings"))
        context.keep.saved.connect(lambda: messages.clear_topic("settings"))

    def _say_start_failed(self, sentence: str, retry: bool) -> None:
        offer = None
        if self._frontend.lacks_weights:  # which may be why
            frontend = self._settings.frontend
            offer = (self.tr("Download…"), lambda: self._dialogs.open_models("embedded", frontend))
        self._messages.say(sentence, retry, offer=offer)

    def _say_fault(self, error: Exception) -> None:
        sentence = self.tr("The window could not show something ({0}); the conversation continues.")
        self._messages.say(sentence.format(type(error).__name__), fault=True)

    def _take(self, change: Change) -> None:
        match change.event:
            case e.Failure():
                self._say_failure(change.event)
            case e.Notice(sentence=sentence):
                self._messages.say(sentence, level="notice")
            case e.ServerDescribed(sentence=sentence):
                self._messages.say(sentence, topic="server", level="notice")
            case e.BudgetChanged():
                self._messages.clear_topic("cap")

    def _say_failure(self, failure: e.Failure) -> None:
        topic = "cap" if failure.about == "unanswered" else failure.about
        offer = None
        if failure.about == "echo":
            offer = (self.tr("Use the talk button"), lambda: self._keep.change("duplex", False))
        fault = self._model.state.fault_of(failure)
        backend = fault.choice if fault is not None else None
        if backend is not None:
            self._lists.refused.add(backend.place)
        self._messages.say(failure.sentence, failure.fatal, backend, failure.secondary, topic, offer)

    def _follow_state(self, before: SessionState, after: SessionState) -> None:
        if after.driver_number > before.driver_number and after.reason != "fallback":
            self._messages.clear_refusals()
        if after.secondary_number > before.secondary_number:
            self._messages.clear_refusals(secondary=True)
        for refusal in after.refused:
            if refusal not in before.refused:
                self._say_refusal(refusal)

    def _say_refusal(self, refusal: Refusal) -> None:
        choice = refusal.choice if refusal.fixable else None
        if choice is not None:
            self._lists.refused.add(choice.place)
        sentence, secondary = refusal.sentence, refusal.part == "secondary"
        if secondary and choice is not None:
            sentence = self.tr("The comparison model: {0}").format(sentence)
        topic = "" if refusal.part == "tools" else "backend"
        self._messages.say(sentence, False, choice, secondary, topic)
