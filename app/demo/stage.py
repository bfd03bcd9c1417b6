"""Runs the sessions of the swap demo without a window, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from app.conversation import events as e
from app.demo.microphone import DemoMicrophone
from app.demo.service import DemoService
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError


class HeadlessStage:
    """A `DemoStage` of the service's own sessions."""

    def __init__(self, service: DemoService) -> None:
        self._service = service
        self._session: SessionControl | None = None
        self._choice = SessionChoice()
        self._swapping: asyncio.Future[None] | None = None

    async def start(self, choice: SessionChoice, take: Callable[[e.Event], None]) -> DemoMicrophone:
        await self.stop()
        session, microphone = await self._service.start(choice, lambda words: None)
        self._session, self._choice = session, choice
        session.add_listener(take)
        session.add_listener(self._follow)
        return microphone

    async def swap(self, choice: BackendChoice) -> None:
        """Changes the back-end of the running session, and waits until it has changed. Raises UserError."""
        assert self._session is not None
        if choice == self._choice.backend:
            return
        self._choice = replace(self._choice, backend=choice)
        self._swapping = asyncio.get_running_loop().create_future()
        self._session.apply(self._choice)
        await self._swapping

    async def stop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.stop()

    def _follow(self, event: e.Event) -> None:
        swapping = self._swapping
        if swapping is None or swapping.done():
            return
        match event:
            case e.BackendChanged(reason="chosen"):
                swapping.set_result(None)
            case e.ChangeRefused(part="backend", sentence=sentence):
                swapping.set_exception(UserError(sentence))
            case e.SessionEnded():
                swapping.set_exception(UserError("The session is over, so its model can't be changed."))
