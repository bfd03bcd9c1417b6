"""Holds the conversation that is shown: begins new ones, opens old ones, and records every event of the session.

The conversation that is shown is the one that the microphone belongs to.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.conversation.prompt import ChatMessage
from app.conversation.record.branches import Place
from app.conversation.record.transcript import Turn
from app.gui.controllers.context import WindowContext
from app.gui.design.motion import timer
from app.gui.shell.message_row import Offer
from app.gui.state.past_talk import PastTalk, past_talks
from app.history.base import ConversationView, Setup
from app.session.control import SessionChoice, UserError

if TYPE_CHECKING:
    from app.history.open_talk import TalkLog

KEEP_AFTER_MS = 500
"""How soon a change of how a conversation is held is written down."""

MOST_TOLD_WORDS = 6_000
"""Exchanges of the past that a session is given; each back-end uses as many as its context holds."""

_log = logging.getLogger(__name__)

_OPENING = "open a conversation"
_UNKEPT = "unkept"


class ConversationController(QObject):
    """Without a history, or with `settings.keep_history` off when a session begins, nothing is written down, and what
    was said stays in view instead.
    """

    opened = Signal(object)
    """A kept conversation is shown from now on, held as this `Setup` says: a session is to begin in it."""
    changed = Signal()
    """The list of conversations may look different now."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context.window)
        self.service = context.services.history
        self.key = _new_key()
        self.title = ""
        """Of the conversation that is shown; empty while it has none."""
        self.named = False
        """Whether that is a title of its own rather than the first words."""
        self._log_key = ""
        self._settings = context.settings
        self._manager = context.manager
        self._model = context.model
        self._messages = context.messages
        self._background = context.background
        self._log: TalkLog | None = None
        self._first = True  # the session that begins next is a conversation's first
        self._written: Setup | None = None  # as last saved
        self._offered: Setup | None = None  # came with a file, and is neither used nor declined
        self._trouble_told = ""
        self._opening = ""  # the key of the conversation that is being read, to be shown
        self._unkept = False  # of what is shown, something is written down nowhere
        self._keep_timer = timer(self, KEEP_AFTER_MS, self._keep_setup)
        context.model.arrived.connect(self._keep)
        context.model.phase_changed.connect(self._follow_phase)

    @property
    def keeps(self) -> bool:
        """Whether what is said is written down."""
        return self.service is not None and self._settings.keep_history and not self.service.trouble

    @property
    def wants_title(self) -> bool:
        """Whether the conversation is written down and has no title of its own."""
        return self.keeps and not self.named

    @property
    def is_private(self) -> bool:
        """Whether what is said now is written down nowhere, or is not to be from the next conversation on."""
        return self._log is None or not self._settings.keep_history

    @property
    def _loses(self) -> bool:
        """Whether what is shown is, in whole or in part, written down nowhere."""
        return self._unkept or (self.service is not None and bool(self.service.trouble))

    # -- which one

    def begin_new(self) -> None:
        """The next session is the first of a new conversation."""
        self._leave()
        if self.keeps and not self._loses:
            self._show_nothing()  # else what was said would be lost with it
        self._first = True
        self.key, self.title, self._written, self._offered = _new_key(), "", None, None
        self.named = False
        self.changed.emit()

    def open(self, view: ConversationView) -> None:
        """Shows a kept conversation, and goes on in it; of several that are asked for, the last one."""
        if view.key == self.key:
            self.stay()
        elif self._loses and self._model.has_words:
            words = self.tr("What was said here is not kept: when you open another conversation, it is gone.")
            offer = Offer(self.tr("Open it"), lambda: self._open(view))
            self._messages.say(words, offer, topic=_UNKEPT, level="warning")
        else:
            self._open(view)

    def _open(self, view: ConversationView) -> None:
        """Opens it even if turns are lost by it."""
        if self.service is None:
            return
        service, setup = self.service, view.setup

        async def read() -> list[PastTalk]:
            talks = await service.talks(view.key)
            return await asyncio.to_thread(past_talks, talks)

        def show(talks: Sequence[PastTalk]) -> None:
            self._leave()
            self._show_nothing()
            self.key, self.title, self.named, self._written = view.key, view.title, view.named, setup
            self._offered = setup if setup.foreign else None
            self._first = False
            self._model.add_past(talks)
            self.changed.emit()
            self.opened.emit(setup)

        def failed(sentence: str) -> None:
            self._opening = ""
            self._messages.say(sentence)

        self._opening = view.key
        self._background.run(self, _OPENING, read, show, failed)

    def stay(self) -> None:
        """The conversation that is shown is wanted after all, and not one that was asked for before."""
        self._opening = ""
        self._background.cancel(_OPENING)

    def forget(self, keys: Sequence[str]) -> bool:
        """Conversations were removed; if this one was among them a new one takes its place: whether it was."""
        if self._opening in keys:
            self.stay()
        if self.key not in keys:
            return False
        self._keep_timer.stop()  # to keep how it is held would bring it back
        self._end_log()  # what is said from now on, until the new session begins, belongs to no conversation
        self._show_nothing()
        self.key, self.title, self._written, self._first = _new_key(), "", None, True
        self._offered, self.named = None, False
        return True

    @property
    def setup(self) -> Setup:
        """How the conversation that is shown is held."""
        return self._offered or _setup(self._manager.wanted)

    @property
    def earlier(self) -> tuple[ChatMessage, ...]:
        """What the session that begins next is to know."""
        return () if self._first else self._context

    @property
    def branch(self) -> tuple[int, int] | None:
        """What the first turn of the session that begins next follows, if that isn't the newest one."""
        place = self._model.chosen_place
        return self._model.steps_to(place, 1) if place is not None and not self._first else None

    @property
    def _context(self) -> tuple[ChatMessage, ...]:
        """The newest messages of the branch that is shown."""
        messages, words = self._model.messages, 0
        for place in range(len(messages) - 1, -1, -1):
            words += len(messages[place].content.split())
            if words > MOST_TOLD_WORDS:
                return messages[place + 1 :]
        return messages

    def replace(self, turn: Turn) -> None:
        """What is asked next takes the place of the user's `turn` and of all that followed."""
        place = self._model.branches.before(turn)
        if place is not None:
            self.choose_branch(place)

    def choose_branch(self, place: Place) -> None:
        """Shows the conversation up to `place`, and continues from there."""
        self._model.choose_branch(place)
        self._follow_branch()

    def _follow_branch(self) -> None:
        place, session = self._model.chosen_place, self._manager.session
        if place is not None and session is not None and self._model.in_view:
            session.choose_branch(self._model.steps_to(place, 0), self._context)

    def record_folder(self, parent: Path) -> str:
        """A folder of its own for the sound of the session that begins next."""
        stem = datetime.now().strftime("talk-%Y-%m-%d-%H%M%S")
        folder = parent / stem
        for number in range(2, 100):
            if not folder.exists():
                break
            folder = parent / f"{stem}-{number}"
        return str(folder)

    # -- a session in it

    def _follow_phase(self, phase: str) -> None:
        if phase == "running":
            self._begin_talk(self._manager.wanted)

    def _begin_talk(self, choice: SessionChoice) -> None:
        """A session of `choice` runs."""
        first, self._first = self._first, False
        self._end_log()  # a session that would not end has said nothing of its end
        self._written = None
        if self.service is not None and self._settings.keep_history:  # also in trouble, which may pass: it tries again
            setup = self._offered or _setup(choice)
            folder = Path(choice.record_folder) if choice.record_folder else None
            self._log, self._log_key = self.service.begin(self.key, setup, folder), self.key
            self._written = setup
        self._unkept = self._unkept or not self.keeps
        self._tell_trouble()
        branch = None if first else self.branch
        self._model.begin(first=first)
        if branch is not None and branch != choice.branch:
            self._follow_branch()

    def _keep(self, event: e.Event) -> None:
        """Has an event written down; also those that come when another conversation is shown already."""
        if self._log is not None:
            self._log.put(event)
            if isinstance(event, e.ConversationTitled):
                self._take_title(event.title)
            if isinstance(event, e.SessionEnded):
                self._end_log()
        if isinstance(event, e.TranscriptFinal | e.AssistantEnded | e.SessionEnded):
            self._tell_trouble()
            self.changed.emit()

    def _take_title(self, title: str) -> None:
        """Gives the session's conversation the model's title, unless it has one of its own."""
        service, key = self.service, self._log_key
        if service is not None and not (self.named and key == self.key):
            self._background.run(
                self, f"title {key}", lambda: service.rename(key, title), lambda _: self.changed.emit(), _log.info
            )

    def setup_changed(self) -> None:
        """It is held in another way from now on, as the user has decided."""
        self._offered = None
        self._keep_timer.start()

    async def finish(self) -> None:
        """The window goes: what waits is written."""
        if self._keep_timer.isActive():
            self._keep_timer.stop()
            if (work := self._setup_to_keep()) is not None:
                with suppress(UserError):  # the list has told already that nothing can be kept
                    await work()

    # -- inner parts

    def _show_nothing(self) -> None:
        self._unkept = False
        self._messages.clear_topic(_UNKEPT)
        self._model.clear()

    def _leave(self) -> None:
        """Another conversation takes this one's place: how this one is held is written down before."""
        self.stay()
        if self._keep_timer.isActive():
            self._keep_timer.stop()
            self._keep_setup()

    def _end_log(self) -> None:
        if self._log is not None:
            self._log.end()
            self._log = None

    def _keep_setup(self) -> None:
        if (work := self._setup_to_keep()) is not None:
            self._background.run(
                self, f"keep how {self.key} is held", work, lambda _: self.changed.emit(), self._messages.say
            )

    def _setup_to_keep(self) -> Callable[[], Coroutine[Any, Any, None]] | None:
        setup = self.setup
        if self.service is None or self._written is None or setup == self._written:
            return None
        service, key, self._written = self.service, self.key, setup
        return lambda: service.keep_setup(key, setup)

    def _tell_trouble(self) -> None:
        wanted = self.service is not None and self._settings.keep_history
        trouble = (self.service.trouble or self.service.notice) if self.service is not None and wanted else ""
        if trouble and trouble != self._trouble_told:
            self._messages.say(trouble)
        self._trouble_told = trouble


def _new_key() -> str:
    return uuid.uuid4().hex


def _setup(choice: SessionChoice) -> Setup:
    return Setup(choice.backend, choice.style, choice.tools, choice.cap, choice.documents)
