"""Runs the sessions of the swap demo without a window."""

from __future__ import annotations

from collections.abc import Callable

from app.conversation.events import Event
from app.demo.service import DemoMicrophone, DemoService
from app.session.control import BackendChoice, SessionChoice, SessionControl


class HeadlessStage:
    """A `DemoStage` of the service's own sessions."""

    def __init__(self, service: DemoService) -> None:
        self._service = service
        self._session: SessionControl | None = None

    async def start(self, choice: SessionChoice, take: Callable[[Event], None]) -> DemoMicrophone:
        await self.stop()
        session, microphone = await self._service.start(choice, lambda words: None)
        self._session = session
        session.add_listener(take)
        return microphone

    async def swap(self, choice: BackendChoice) -> None:
        assert self._session is not None
        await self._session.set_backend(choice)

    async def stop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.stop()
