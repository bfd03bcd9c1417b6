"""Starts and restarts sessions: for a new conversation, for settings that can't change live, for a conversation of
the past that goes on, and after the demo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.conversation.prompt import MOST_DOCUMENTS
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.sound_controller import SoundController
from app.gui.design.motion import timer
from app.gui.shell.model_popover import ModelPopover
from app.gui.state.choice import backend_choice, session_choice
from app.gui.state.session_manager import SessionManager
from app.gui.transcript.header import TranscriptHeader
from app.history.base import Setup
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from app.settings.paths import recordings_folder


class SessionStarter(QObject):
    """`start_fresh`, `go_on`, `go_on_in`, `stop`, `clear`; `restart_soon` for changes that a conversation can't take
    over live.

    `knows` tells whether a back-end's provider is known here; `settle` has the window show all that was told so far.
    """

    taking_over = Signal()
    """The user wants a session of their own, or to read another conversation: the demo is to end now."""
    looking = Signal()
    """A conversation of the user's is to begin: devices are being looked for."""
    stopped = Signal()
    """The user has ended the conversation, or the search for devices."""
    backend_missing = Signal(object, object)
    """The `BackendChoice` that an opened conversation was held with isn't known here; and the one in its place."""
    offered = Signal(object)
    """The opened conversation came with a file, which offers the persona and the documents of this `Setup`."""

    def __init__(
        self,
        settings: Settings,
        manager: SessionManager,
        talks: ConversationController,
        setup: ModelPopover,
        header: TranscriptHeader,
        sound: SoundController,
        parent: QObject,
        *,
        knows: Callable[[str], bool],
        settle: Callable[[], None],
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._manager = manager
        self._talks = talks
        self._setup = setup
        self._header = header
        self._sound = sound
        self._knows = knows
        self._settle = settle
        self._looking: asyncio.Task[None] | None = None
        self._borrowed = False
        """Whether the back-end is that of a conversation that was opened, or took over: not the user's choice."""
        self._restart_soon = timer(self, 0, self._restart)  # several changes make one fresh start
        manager.prepare(session_choice(settings))
        manager.restart_wanted.connect(self.restart_soon)
        manager.backends.settled.connect(self._backend_settled)
        manager.backends.fell_back.connect(self._backend_lent)
        talks.opened.connect(self.go_on_in)

    @property
    def talks_now(self) -> bool:
        """Whether a conversation of the user's runs, is being built, or could not be: not if they have stopped it. Who
        only wants to read is not listened to.
        """
        manager = self._manager
        return manager.phase != "stopped" or manager.gave_up or self._looks

    # -- beginning

    def start_fresh(self) -> None:
        """Begins a new conversation with the settings of now."""
        self.taking_over.emit()
        self._begin_new()
        if self._borrowed:  # new conversations have the back-end that the user chose last, not an old one's
            self._borrowed = False
            self._setup.show_backend(backend_choice(self._settings))
        self._start(False)

    def _begin_new(self) -> None:
        self._talks.begin_new()  # which may still write down how the old one was held
        self._manager.prepare(replace(self._manager.wanted, documents=()))

    def go_on(self) -> None:
        """Begins a session in the conversation that is shown, held as it was, and not as new ones are."""
        self.taking_over.emit()
        self._start(True)

    def go_on_if_stopped(self) -> None:
        """The same, where none runs or is about to."""
        if self._manager.phase == "stopped" and not self._looks:
            self.go_on()

    def restart_soon(self) -> None:
        """Restart a running session with the present settings, in the same conversation."""
        self._restart_soon.start()

    def _start(self, as_before: bool) -> None:
        self.cancel()
        self._manager.stop()  # it belongs to what was shown before: nothing that is said or typed now is for it
        self.looking.emit()
        loop = asyncio.get_running_loop()
        self._looking = loop.create_task(self._look_and_build(as_before), name="find devices, start")

    @property
    def _looks(self) -> bool:
        return self._looking is not None and not self._looking.done()

    async def _look_and_build(self, as_before: bool) -> None:
        await self._sound.list_devices()  # looked up each time, since they change
        self._build(as_before)

    def _build(self, as_before: bool) -> None:
        self._settle()  # what was just said is to be known
        # The back-end that the picker shows: the settings take it over only when a session has.
        was, settings = self._manager.wanted, self._settings
        folder = self._talks.record_folder(recordings_folder()) if settings.keep_recordings else ""
        choice = replace(
            session_choice(settings),
            backend=self._setup.choice,
            secondary=was.secondary,
            muted=was.muted,
            documents=was.documents,
            earlier=self._talks.earlier,
            record_folder=folder,
        )
        if as_before:
            choice = replace(choice, style=was.style, tools=was.tools, cap=was.cap)
        self._header.show_choice(choice.style, choice.tools, choice.cap)
        self._manager.start(choice)
        if not self._borrowed and choice.backend != backend_choice(settings):
            # It was on its way to the session that this one takes the place of.
            self._manager.settle_backend()

    def _restart(self) -> None:
        if self.talks_now and not self._looks:
            self._build(as_before=True)

    # -- ending

    def stop(self) -> None:
        """The user wants no session."""
        self.taking_over.emit()
        self.cancel()
        self._manager.stop()
        self.stopped.emit()

    def cancel(self) -> None:
        """Looks for no devices any more."""
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
        """Another conversation is shown, which is held so: the session goes on in it, if one runs."""
        self.taking_over.emit()
        manager = self._manager
        self._borrowed = not setup.foreign
        if setup.foreign:
            own = session_choice(self._settings)
            offered, setup = setup, Setup(own.backend, own.style, own.tools, own.cap)
            if offered.style.persona or offered.documents:
                self.offered.emit(offered)
        if not self._knows(setup.backend.provider):
            missing, setup = setup.backend, replace(setup, backend=backend_choice(self._settings))
            self.backend_missing.emit(missing, setup.backend)
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
        self._setup.show_backend(setup.backend)
        self._header.show_choice(setup.style, setup.tools, setup.cap)
        if self.talks_now:
            self.go_on()

    def use_offered(self, offered: Setup) -> None:
        """Uses what came with the file of the conversation that is shown."""
        manager = self._manager
        style = replace(manager.wanted.style, persona=offered.style.persona or manager.wanted.style.persona)
        manager.want(style=style, documents=(*manager.wanted.documents, *offered.documents)[:MOST_DOCUMENTS])
        self._header.show_choice(style, manager.wanted.tools, manager.wanted.cap)
        self._talks.setup_changed()

    def _backend_settled(self, _: BackendChoice) -> None:
        self._borrowed = False
        self._talks.setup_changed()

    def _backend_lent(self, _: BackendChoice) -> None:
        self._borrowed = True
