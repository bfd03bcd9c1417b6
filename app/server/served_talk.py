"""A session with a client that survives a lost connection for a limited time.

The most recent events are numbered and buffered for a client that reconnects.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import numpy as np

from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.frontend.remote.protocol import RELAYED, Welcome, event_json
from app.session.session import Session

if TYPE_CHECKING:
    from app.server.connection import ClientConnection

MOST_EVENTS = 2_000
"""The most events buffered: some hundred per second for as long as a session waits for its client."""
MOST_CHARS = 1_000_000
"""The most characters they may have in total, in serialized form."""


class EventLog:
    """A log that numbers events from 1 in the order they are added, and buffers the most recent ones."""

    def __init__(self) -> None:
        self.count = 0
        """The number of events added so far."""
        self._kept: deque[tuple[e.Event, int]] = deque()  # each with its serialized length
        self._chars = 0

    def add(self, event: e.Event) -> None:
        """Appends an event, discarding the oldest ones if necessary."""
        self.count += 1
        chars = len(event_json(event))
        self._kept.append((event, chars))
        self._chars += chars
        while len(self._kept) > MOST_EVENTS or self._chars > MOST_CHARS:
            _, chars = self._kept.popleft()
            self._chars -= chars

    def before(self, after: int | None) -> int:
        """Returns the number of the event preceding the first one to send to a client that has `after` events.

        That is greater than `after` if some were discarded. If `after` is None, the client doesn't know how many it has
        and gets only future events.
        """
        if after is None:
            return self.count
        return min(max(after, self.count - len(self._kept), 0), self.count)

    def since(self, number: int) -> list[e.Event]:
        """Returns the buffered events after this number."""
        missing = self.count - number
        return [event for event, _ in list(self._kept)[-missing:]] if missing > 0 else []


MakeTalk = Callable[[PushedSource, SendingSink], Awaitable[Session]]
"""Creates a session between a source and a sink without blocking the running loop, on which it is to be entered."""


class ServedTalk:
    """A session to which clients connect one at a time, with `join` and `leave`.

    `tell` is called with the message of each failure. The constructor loads and starts nothing; `begin` does.
    """

    def __init__(self, make: MakeTalk, tell: Callable[[str], object] = lambda line: None) -> None:
        self.token = secrets.token_urlsafe(16)
        self.source = PushedSource("client")
        self._loop = asyncio.get_running_loop()
        self.left_at: float | None = self._loop.time()
        """The loop time since which no client is connected; None while one is."""
        self._make = make
        self._tell = tell
        self._client: ClientConnection | None = None
        self._log = EventLog()
        self._session: Session | None = None
        self._ending: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Creates, loads and starts the session. Propagates any exception from creating or opening it."""
        session = await self._make(self.source, SendingSink("client", self._send))
        await session.__aenter__()
        self._session = session
        session.add_listener(self._on_event)
        self._ending = asyncio.create_task(session.ended(), name="a talk's end")
        self.left_at = self._loop.time()

    @property
    def over(self) -> bool:
        """Whether the session has ended on its own."""
        return self._ending is not None and self._ending.done()

    async def ended(self) -> None:
        """Waits until the session ends on its own."""
        if self._ending is not None:
            await asyncio.wait([self._ending])

    async def end(self) -> None:
        """Ends the session and waits for that. Raises the exception that broke it, if that was a bug in the app."""
        self._client = None
        if self._session is not None:
            await self._session.stop()
        if self._ending is not None:
            await self._ending

    def join(self, client: ClientConnection, *, resumed: bool = False, after: int | None = 0) -> Welcome:
        """Lets `client` hear from now on, and gives it the events that are kept after number `after`.

        Disconnects any previous client. Returns the welcome message for the new one.
        """
        assert self._session is not None
        previous, self._client, self.left_at = self._client, client, None
        if previous is not None:
            previous.replaced()
        before = self._log.before(after)
        for event in self._log.since(before):
            client.learn(event)
        parts = self._session.parts
        return Welcome(self.token, parts.frontend.name, parts.backend.name, parts.backend.model, resumed, before)

    def leave(self, client: ClientConnection) -> None:
        """Disconnects `client`, unless another one has taken its place."""
        if self._client is client:
            self._client, self.left_at = None, self._loop.time()

    def _send(self, samples: np.ndarray) -> None:
        self._loop.call_soon_threadsafe(self._give, samples)

    def _give(self, samples: np.ndarray) -> None:
        if self._client is not None:
            self._client.hear(samples)

    def _on_event(self, event: e.Event) -> None:
        if isinstance(event, e.Failure):
            self._tell(event.sentence)
        if isinstance(event, RELAYED):
            self._log.add(event)
            if self._client is not None:
                self._client.learn(event)
