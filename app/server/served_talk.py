"""A session that is held with a client: it outlives a lost connection for a while."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

import numpy as np

from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.frontend.remote.protocol import RELAYED, Welcome
from app.session.session import Session

MakeTalk = Callable[[PushedSource, SendingSink], Session]
"""Makes a session between a source and a sink, to be entered on the running loop."""


class Client(Protocol):
    """What a talk gives out goes here, on the event loop's thread. Neither call waits."""

    def hear(self, samples: np.ndarray) -> None:
        """Takes a frame of the assistant's voice."""
        ...

    def learn(self, event: e.Event) -> None:
        """Takes an event."""
        ...


class ServedTalk:
    """One session. `join` and `leave` connect clients to it, one at a time."""

    def __init__(self, make: MakeTalk) -> None:
        self.token = secrets.token_urlsafe(16)
        self.source = PushedSource("client")
        self.left_at: float | None = None
        """The loop's time at which the last client left; None while one is here."""
        self._loop = asyncio.get_running_loop()
        self._client: Client | None = None
        self._session = make(self.source, SendingSink("client", self._send))
        self._ending: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Loads and starts the session. Raises what opening one raises."""
        await self._session.__aenter__()
        self._session.add_listener(self._on_event)
        self._ending = asyncio.create_task(self._session.ended(), name="a talk's end")

    @property
    def over(self) -> bool:
        """Whether the session has ended by itself."""
        return self._ending is not None and self._ending.done()

    async def ended(self) -> None:
        """Waits until the session has ended by itself."""
        if self._ending is not None:
            await asyncio.wait([self._ending])

    async def end(self) -> None:
        """Ends the session, and waits until it has ended. Raises what broke it, if that was a fault of the app."""
        self._client = None
        await self._session.stop()
        if self._ending is not None:
            await self._ending

    def welcome(self, *, resumed: bool) -> Welcome:
        """What a client is told first."""
        parts = self._session.parts
        return Welcome(self.token, parts.frontend.name, parts.backend.name, parts.backend.model, resumed)

    def join(self, client: Client) -> None:
        """Lets `client` hear from now on."""
        self._client, self.left_at = client, None

    def leave(self, client: Client) -> None:
        """The client is gone, unless another has taken its place."""
        if self._client is client:
            self._client, self.left_at = None, self._loop.time()

    def _send(self, samples: np.ndarray) -> None:
        self._loop.call_soon_threadsafe(self._give, samples)

    def _give(self, samples: np.ndarray) -> None:
        if self._client is not None:
            self._client.hear(samples)

    def _on_event(self, event: e.Event) -> None:
        if self._client is not None and isinstance(event, RELAYED):
            self._client.learn(event)
