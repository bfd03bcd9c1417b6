"""Starts and restarts sessions: for a new conversation, for settings that can't change live, for a conversation of
the past that is continued, and after the demo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.conversation.prompt import MOST_DOCUMENTS
from app.gui.controllers.context import WindowContext
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.design.motion import timer
from app.gui.models.model_lists import ModelLists
from app.gui.shell.message_row import Offer
from app.gui.state.choice import backend_choice, live_parts, session_choice
from app.history.base import Setup
from app.session.control import SessionState
from app.settings.paths import recordings_folder

_CAME_WITH_FILE = "came with file"


class SessionStarter(QObject):
    """`list_devices` finds the audio devices, which is done before each start, since they change."""

    taking_over = Signal()
    """The user wants a session of their own, or to read another conversation: the demo is to end now."""

    def __init__(
        self,
        context: WindowContext,
        talks: ConversationController,
        lists: ModelLists,
        list_devices: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(context.window)
        self._settings = settings = context.settings
        self._manager = manager = context.manager
        self._model = context.model
        self._messages = context.messages
        self._talks = talks
        self._lists = lists
        self._list_devices = list_devices
        self._looking: asyncio.Task[None] | None = None
        self._borrowed = False
        """Whether the back-end is that of a conversation that was opened, or took over: not the user's choice."""
        self._restart_soon = timer(self, 0, self._restart)  # several changes make one fresh start
        manager.prepare(session_choice(settings))
        manager.restart_wanted.connect(self.restart_soon)
        manager.settled.connect(lambda _: self._backend_settled())
        context.model.published.connect(self._follow_state)
        context.model.cleared.connect(lambda: context.messages.clear_topic(_CAME_WITH_FILE))
        context.keep.taken.connect(lambda *_: manager.want(**live_parts(settings)))
        talks.opened.connect(self.go_on_in)

    @property
    def talks_now(self) -> bool:
        """Whether a conversation of the user's runs, is being built, or could not be: not if they have stopped it. A
        user who only wants to read is not listened to.
        """
        return self._manager.phase != "stopped" or self._manager.gave_up

    # -- beginning

    def start_fresh(self) -> None:
        """Begins a new conversation with the settings of now."""
        self.taking_over.emit()
        self._begin_new()
        self._start(False)

    def _begin_new(self) -> None:
        self._talks.begin_new()  # which may still write down how the old one was held
        choice = replace(self._manager.wanted, documents=())
        if self._borrowed:  # new conversations have the back-end that the user chose last, not an old one's
            self._borrowed = False
            choice = replace(choice, backend=backend_choice(self._settings))
        self._manager.prepare(choice)

    def go_on(self) -> None:
        """Begins a session in the conversation that is shown, held as it was, and not as new ones are."""
        self.taking_over.emit()
        self._start(True)

    def go_on_if_stopped(self) -> None:
        """The same, unless a session runs or is about to."""
        if self._manager.phase == "stopped":
            self.go_on()

    def restart_soon(self) -> None:
        """Restarts a running session with the present settings, in the same conversation."""
        self._restart_soon.start()

    def _start(self, as_before: bool) -> None:
        self.cancel()
        if self._manager.phase != "stopped":
            self._manager.stop()  # it belongs to what was shown before: nothing that is said or typed now is for it
        self._manager.expect(self.tr("looking for microphones and loudspeakers"))
        loop = asyncio.get_running_loop()
        self._looking = loop.create_task(self._look_and_build(as_before), name="find devices, start")

    async def _look_and_build(self, as_before: bool) -> None:
        await self._list_devices()
        self._build(as_before)

    def _build(self, as_before: bool) -> None:
        self._model.flush()  # what was just said is to be known
        was, settings = self._manager.wanted, self._settings
        folder = self._talks.record_folder(recordings_folder()) if settings.keep_recordings else ""
        choice = replace(
            session_choice(settings),
            backend=was.backend,
            secondary=was.secondary,
            muted=was.muted,
            documents=was.documents,
            earlier=self._talks.earlier,
            branch=self._talks.branch,
            titled=settings.model_titles and self._talks.wants_title,
            record_folder=folder,
        )
        if as_before:
            choice = replace(choice, style=was.style, tools=was.tools, cap=was.cap)
        self._manager.start(choice)
        if not self._borrowed and choice.backend != backend_choice(settings):
            # It was on its way to the session that this one takes the place of.
            self._manager.settle_backend()

    def _restart(self) -> None:
        if self.talks_now and not self._manager.expecting:
            self._build(as_before=True)

    # -- ending

    def stop(self) -> None:
        """The user wants no session."""
        self.taking_over.emit()
        self.cancel()
        self._manager.stop()

    def cancel(self) -> None:
        """Stops looking for devices."""
        if self._looking is not None:
            self._looking.cancel()

    def clear(self) -> None:
        """The conversation that was shown is removed."""
        if self.talks_now:
            self.start_fresh()
        else:
            self._begin_new()

    # -- other conversations

    def go_on_in(self, setup: Setup) -> None:
        """Another conversation is shown, which is held as `setup` says: the session continues in it, if one runs."""
        self.taking_over.emit()
        manager = self._manager
        self._borrowed = not setup.foreign
        if setup.foreign:
            own = session_choice(self._settings)
            offered, setup = setup, Setup(own.backend, own.style, own.tools, own.cap)
            if offered.style.persona or offered.documents:
                self._offer(offered)
        if setup.backend.provider not in self._lists.views:
            missing, setup = setup.backend, replace(setup, backend=backend_choice(self._settings))
            words = self.tr("The model of this conversation, {0}, is not known here; {1} answers instead.")
            instead = self._lists.words(setup.backend)
            self._messages.say(words.format(missing.model or missing.provider, instead), level="warning")
        manager.prepare(
            replace(
                manager.wanted,
                backend=setup.backend,
                style=setup.style,
                tools=setup.tools,
                cap=setup.cap,
                documents=setup.documents,
                secondary=None,
            )
        )
        if self.talks_now:
            self.go_on()

    def _offer(self, setup: Setup) -> None:
        """Offers the persona and the documents of a conversation that came with a file."""
        key, names = self._talks.key, ", ".join(f"“{one.name}”" for one in setup.documents)
        parts = []
        if setup.style.persona:
            parts.append(
                self.tr("It has instructions for the model: “{0}”").format(" ".join(setup.style.persona.split()))
            )
        if names:
            parts.append(self.tr("It brings documents: {0}.").format(names))
        words = self.tr("This conversation came with a file. {0} That is used only if you want it.")

        def use() -> None:
            self._messages.clear_topic(_CAME_WITH_FILE)
            if self._talks.key == key:
                self._use_offered(setup)

        offer = Offer(self.tr("Use it"), use)
        words = words.format(" ".join(parts))
        self._messages.say(words, offer, topic=_CAME_WITH_FILE, level="notice", private=True)

    def _use_offered(self, offered: Setup) -> None:
        wanted = self._manager.wanted
        style = replace(wanted.style, persona=offered.style.persona or wanted.style.persona)
        documents = (*wanted.documents, *offered.documents)[:MOST_DOCUMENTS]
        self._manager.want(style=style, documents=documents)
        self._talks.setup_changed()

    # -- who answers

    def _backend_settled(self) -> None:
        self._borrowed = False
        self._talks.setup_changed()

    def _follow_state(self, before: SessionState, after: SessionState) -> None:
        took_over = after.driver_number > before.driver_number and after.reason == "fallback"
        if took_over and after.driving == after.wanted.backend:
            self._borrowed = True
