"""The window as the demo's stage: the window's own keeper runs the demo's sessions, so that its panes show them.

While it does, whoever else begins or ends a talk ends the demo. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.conversation.events import Event, Failure, SessionEnded
from app.demo.service import DemoMicrophone, DemoService
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError


class WindowStage(QObject):
    """See `DemoStage`. From the first `start` until `leave` the demo is the keeper's guest."""

    interrupted = Signal()
    """Somebody else has begun or ended a talk: the demo is to end."""

    def __init__(self, service: DemoService, manager: SessionManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.in_charge = False
        self._service = service
        self._manager = manager
        self._lost = False
        self._waiting: asyncio.Future[None] | None = None
        self._microphone: DemoMicrophone | None = None

    async def start(self, choice: SessionChoice, take: Callable[[Event], None]) -> DemoMicrophone:
        """See `DemoStage.start`."""
        manager = self._manager
        if not self.in_charge:
            self.in_charge = True
            manager.phase_changed.connect(self._phase_changed)
            manager.failed.connect(self._failed)
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        self._lost, self._microphone = False, None
        manager.start_guest(choice, self._make)
        await waiting
        session, microphone = manager.guest, self._microphone
        if session is None or microphone is None:
            raise UserError(self.tr("The talk was over before it had begun."))

        def listen(event: Event) -> None:
            self._lost = self._lost or isinstance(event, SessionEnded) or (isinstance(event, Failure) and event.fatal)
            take(event)

        session.add_listener(listen)
        return microphone

    async def swap(self, choice: BackendChoice) -> None:
        """See `DemoStage.swap`: past the keeper, which would take the brain for the user's own choice."""
        session = self._manager.guest
        if session is None:
            raise UserError(self.tr("The talk is over, so its brain can't be changed."))
        await session.set_backend(choice)

    async def stop(self) -> None:
        """See `DemoStage.stop`."""
        if self.in_charge:
            self.leave()
            self._manager.stop()

    def leave(self) -> None:
        """Has nothing to do with the keeper any more; whatever runs goes on."""
        if not self.in_charge:
            return
        self.in_charge = False
        manager = self._manager
        manager.phase_changed.disconnect(self._phase_changed)
        manager.failed.disconnect(self._failed)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.cancel()

    async def _make(self, choice: SessionChoice, progress: Callable[[str], None]) -> SessionControl:
        session, self._microphone = await self._service.start(choice, progress)
        return session

    def _phase_changed(self, phase: str) -> None:
        waiting = self._waiting
        if phase == "running" and waiting is not None and not waiting.done():
            waiting.set_result(None)
        elif phase == "loading" and not self._manager.has_guest:
            self._give_way()
        elif phase == "stopped":
            # By itself, if the session has failed: the events that tell so are on their way.
            asyncio.get_running_loop().call_soon(self._ask_who_stopped)

    def _ask_who_stopped(self) -> None:
        manager = self._manager
        if self.in_charge and manager.phase == "stopped" and not self._lost and not manager.gave_up:
            self._give_way()

    def _failed(self, sentence: str, over: bool) -> None:
        if over and self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(UserError(sentence))

    def _give_way(self) -> None:
        self.leave()
        self.interrupted.emit()
