"""A stage for the swap demo without a window: the desk's sessions, one at a time."""

from __future__ import annotations

from collections.abc import Callable

from app.conversation.events import Event
from app.demo.base import DemoMicrophone, DemoService
from app.session.control import BackendChoice, SessionChoice, SessionControl


class HeadlessStage:
    """See `DemoStage`. `progress` gets words while a session is being made, `heard` every event."""

    def __init__(
        self,
        service: DemoService,
        progress: Callable[[str], None] = lambda words: None,
        heard: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._service = service
        self._progress = progress
        self._heard = heard
        self._session: SessionControl | None = None

    async def start(self, choice: SessionChoice, take: Callable[[Event], None]) -> DemoMicrophone:
        """See `DemoStage.start`."""
        await self.stop()
        session, microphone = await self._service.start(choice, self._progress)
        self._session = session
        session.add_listener(take)
        session.add_listener(self._heard)
        return microphone

    async def swap(self, choice: BackendChoice) -> None:
        """See `DemoStage.swap`."""
        assert self._session is not None
        await self._session.set_backend(choice)

    async def stop(self) -> None:
        """See `DemoStage.stop`."""
        session, self._session = self._session, None
        if session is not None:
            await session.stop()
