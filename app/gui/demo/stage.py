"""Runs the demo's sessions in the window: a session manager of the demo's own, whose events the window's panes show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.demo.microphone import DemoMicrophone
from app.demo.service import DemoService
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError


class WindowStage(QObject):
    """Implements `DemoStage` on `manager`, which starts and ends the demo's sessions and nobody else's."""

    def __init__(
        self, service: DemoService, on_event: Callable[[e.Event], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.manager = SessionManager(self._make, on_event, self)
        self._service = service
        self._take: Callable[[e.Event], None] = lambda event: None
        self._waiting: asyncio.Future[None] | None = None
        self._swapping: asyncio.Future[None] | None = None
        self._microphone: DemoMicrophone | None = None
        self.manager.phase_changed.connect(self._phase_changed)
        self.manager.failed.connect(self._failed)
        self.manager.backend_taken.connect(lambda _: self._swapped(""))
        self.manager.backend_refused.connect(lambda _, sentence: self._swapped(sentence))

    async def start(self, choice: SessionChoice, take: Callable[[e.Event], None]) -> DemoMicrophone:
        """Start a session, in place of one that runs; `take` gets its events. Raises UserError."""
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        self._microphone = None
        self.manager.start(choice)
        await waiting
        session, microphone = self.manager.session, self._microphone
        if session is None or microphone is None:
            raise UserError(self.tr("The conversation was over before it had begun."))
        session.add_listener(take)
        return microphone

    async def swap(self, choice: BackendChoice) -> None:
        """Change the back-end of the running session, and wait until it has changed. Raises UserError."""
        if self.manager.session is None:
            raise UserError(self.tr("The conversation is over, so its model can't be changed."))
        swapping = self._swapping = asyncio.get_running_loop().create_future()
        self.manager.want(backend=choice)
        if choice != self.manager.driving:
            await swapping

    async def stop(self) -> None:
        """End the session, if one runs, and wait until it has ended."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.cancel()
        self.manager.stop()
        await self.manager.idle()

    async def _make(self, choice: SessionChoice, progress: Callable[[str], None]) -> SessionControl:
        session, self._microphone = await self._service.start(replace(choice, muted=False), progress)
        return session

    def _phase_changed(self, phase: str) -> None:
        waiting = self._waiting
        if phase == "running" and waiting is not None and not waiting.done():
            waiting.set_result(None)
        elif phase == "stopped":
            self._swapped(self.tr("The conversation is over, so its model can't be changed."))

    def _failed(self, sentence: str, over: bool) -> None:
        if over and self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(UserError(sentence))

    def _swapped(self, problem: str) -> None:
        swapping = self._swapping
        if swapping is None or swapping.done():
            return
        if problem:
            swapping.set_exception(UserError(problem))
        else:
            swapping.set_result(None)
