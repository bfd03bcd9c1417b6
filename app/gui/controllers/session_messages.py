"""Shows in the message bar what the session reports: failures, refusals and notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.controllers.panels import Panels
from app.gui.design.sentences import in_window_language
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.model_lists import ModelLists
from app.gui.shell.message_row import Offer
from app.gui.shell.model_popover import ModelPopover
from app.gui.state.choice import MODELLED
from app.session.control import BackendChoice, Refusal, SessionState

DRIVER, COMPARISON, START = "backend", "comparison", "start"
SESSION_TOPICS = {*get_args(e.About), *get_args(e.DeviceKind), DRIVER, COMPARISON} - {""}
"""Topics of messages that concern a single session and are removed when the next session starts."""


class SessionMessages(QObject):
    """Says each of them, with what can be done about it, and removes what has been put right.

    - `dialogs`, `panels`, `popover`: open what a message offers
    - `lists`: learns at which places a request has failed
    - `frontend`: knows whether weights are missing
    - `again`: starts the session again
    """

    def __init__(
        self,
        context: WindowContext,
        *,
        dialogs: Dialogs,
        panels: Panels,
        popover: ModelPopover,
        lists: ModelLists,
        frontend: FrontEndBar,
        again: Callable[[], object],
    ) -> None:
        super().__init__(context.window)
        self._context = context
        self._messages = messages = context.messages
        self._dialogs = dialogs
        self._panels = panels
        self._popover = popover
        self._lists = lists
        self._frontend = frontend
        self._again = again
        self._failed: BackendChoice | None = None  # the back-end that the message about the driver is about
        context.manager.failed.connect(self._say_start_failed)
        context.model.fault.connect(self._say_fault)
        context.model.follow(self._take)
        context.model.published.connect(self._follow_state)
        context.model.phase_changed.connect(lambda phase: messages.clear_topic(START) if phase != "stopped" else None)
        context.model.began.connect(lambda _: messages.clear_topic(*SESSION_TOPICS))
        context.keep.failed.connect(lambda sentence: messages.say(sentence, topic="settings"))
        context.keep.saved.connect(lambda: messages.clear_topic("settings"))

    def _say_start_failed(self, sentence: str, retry: bool) -> None:
        offers = [self._retry()] if retry else []
        if self._frontend.lacks_weights:  # which may be why
            frontend = self._context.settings.frontend
            offers.append(Offer(self.tr("Download…"), lambda: self._dialogs.open_models("embedded", frontend)))
        self._messages.say(sentence, *offers, topic=START)

    def _say_fault(self, error: Exception) -> None:
        sentence = self.tr("The window could not show something ({0}); the conversation continues.")
        offers = []
        if self._context.services.log is not None:
            offers.append(Offer(self.tr("Show log"), lambda: self._panels.open_log(fault=True)))
        self._messages.say(sentence.format(type(error).__name__), *offers)

    def _take(self, change: Change) -> None:
        match change.event:
            case e.Failure():
                self._say_failure(change.event)
            case e.Notice(sentence=sentence):
                self._messages.say(sentence, level="notice")
            case e.ServerDescribed(sentence=sentence):
                self._messages.say(sentence, topic="server", level="notice")
            case e.OracleEnded(reason="complete") if change.revision is not None and not change.revision.secondary:
                if self._context.model.state.driving == self._failed:
                    self._messages.clear_topic(DRIVER)  # it answers again
            case e.BudgetChanged():
                self._messages.clear_topic("cap")

    def _say_failure(self, failure: e.Failure) -> None:
        topic: str = "cap" if failure.about == "unanswered" else failure.about
        if failure.secondary:
            topic = COMPARISON
        offers = []
        if failure.fatal:
            topic, offers = topic or START, [self._retry()]
        if failure.about == "echo":
            offers.append(Offer(self.tr("Use the talk button"), lambda: self._context.keep.change("duplex", False)))
        fault = self._context.model.state.fault_of(failure)
        if fault is not None:
            topic = topic or DRIVER
            if topic == DRIVER:
                self._failed = fault.choice
            offers += self._for_backend(fault.choice, failure.sentence, secondary=failure.secondary)
        self._messages.say(failure.sentence, *offers, topic=topic)

    def _follow_state(self, before: SessionState, after: SessionState) -> None:
        if after.driver_number > before.driver_number and after.reason != "fallback":
            self._messages.clear_topic(DRIVER)
        if after.secondary_number > before.secondary_number:
            self._messages.clear_topic(COMPARISON)
        for refusal in after.refused:
            if refusal not in before.refused:
                self._say_refusal(refusal)

    def _say_refusal(self, refusal: Refusal) -> None:
        sentence, secondary, offers = refusal.sentence, refusal.part == "secondary", list[Offer]()
        if refusal.choice is not None and refusal.fixable:
            offers = self._for_backend(refusal.choice, sentence, secondary=secondary)
            sentence = (
                self.tr("The comparison model: {0}").format(in_window_language(sentence)) if secondary else sentence
            )
        topic = "" if refusal.part == "tools" else COMPARISON if secondary else DRIVER
        self._messages.say(sentence, *offers, topic=topic)

    def _retry(self) -> Offer:
        return Offer(self.tr("Try again"), self._again)

    def _for_backend(self, choice: BackendChoice, sentence: str, *, secondary: bool) -> list[Offer]:
        """Returns what can be done about a back-end whose key or address may be the cause."""
        self._lists.note_failure(choice, sentence)
        view, reopen = self._lists.views.get(choice.provider), self._context.manager.reopen
        offers = []
        if self._context.services.backend_service is not None and choice.provider in MODELLED:
            text = self.tr("Enter key…") if view is not None and view.wants_key else self.tr("Key and server…")
            name = self.tr("Key and server of the comparison model") if secondary else text
            offers.append(Offer(text, lambda: self._dialogs.open_backend(choice, secondary), name))
        if not secondary:
            offers.append(Offer(self.tr("Choose another…"), self._popover.open_from_pill))
        return [*offers, Offer(self.tr("Try again"), lambda: reopen(choice, secondary=secondary))]
