"""A session that survives a lost connection to its client for a limited time.

Events are numbered, and the most recent ones are buffered for a client that reconnects.
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
from app.server.admission import Purse
from app.session.session import Session

if TYPE_CHECKING:
    from app.server.connection import ClientConnection

MOST_EVENTS = 2_000
"""Maximum number of buffered events: about a hundred per second for as long as a session waits for its client."""
LEAST_CAP = 1e-9
"""A spending cap in US dollars that stops the session; 0 would mean no cap."""
MOST_CHARS = 1_000_000
"""Maximum total length of the buffered events in serialised form, in characters."""


class EventLog:
    """A log that numbers events in order, starting at 1, and buffers the most recent ones."""

    def __init__(self) -> None:
        self.count = 0
        """The number of events added so far."""
        self._kept: deque[tuple[e.Event, int]] = deque()  # each with its serialised length
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
        """Returns the event number after which to resume sending to a client that has the events up to number `after`.

        The result is greater than `after` if events in between were discarded. A client that doesn't know its last
        event passes None and receives only future events.
        """
        if after is None:
            return self.count
        return min(max(after, self.count - len(self._kept), 0), self.count)

    def since(self, number: int) -> list[e.Event]:
        """Returns the buffered events that follow event number `number`."""
        missing = self.count - number
        return [event for event, _ in list(self._kept)[-missing:]] if missing > 0 else []


MakeTalk = Callable[[PushedSource, SendingSink], Awaitable[Session]]
"""Creates a session between a source and a sink without blocking the event loop. The caller must enter the session."""


class ServedTalk:
    """A session that serves one client at a time, which `join` connects and `leave` disconnects.

    - `make`: creates the session when `begin` is called.
    - `tell`: called with the message of each failure.
    - `purse`: what it may cost; `payer`: the address that it is held with.
    """

    def __init__(
        self,
        make: MakeTalk,
        tell: Callable[[str], object] = lambda line: None,
        purse: Purse | None = None,
        payer: str = "",
    ) -> None:
        self.cost = 0.0
        """What it has cost so far, in US dollars."""
        self._purse, self._payer = purse or Purse(), payer
        self.token = secrets.token_urlsafe(16)
        self.source = PushedSource("client")
        self._loop = asyncio.get_running_loop()
        self.left_at: float | None = self._loop.time()
        """The event loop time at which the last client disconnected; None while one is connected."""
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
        self._limit_cost()
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
        """Stops the session and waits until it has ended. Re-raises any unexpected exception that ended it."""
        self._client = None
        if self._session is not None:
            await self._session.stop()
        if self._ending is not None:
            await self._ending

    def join(self, client: ClientConnection, *, resumed: bool = False, after: int | None = 0) -> Welcome:
        """Connects `client` to the session and sends it the buffered events after number `after`.

        Disconnects any previous client. Returns the welcome message for the new client.
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
        """Disconnects `client` from the session; a no-op if another client has replaced it."""
        if self._client is client:
            self._client, self.left_at = None, self._loop.time()

    def _send(self, samples: np.ndarray) -> None:
        self._loop.call_soon_threadsafe(self._give, samples)

    def _give(self, samples: np.ndarray) -> None:
        if self._client is not None:
            self._client.hear(samples)

    def _limit_cost(self) -> None:
        """Lets the session cost what is left, which other conversations may have spent of, too."""
        left = self._purse.left(self._payer)
        if left is not None and self._session is not None:
            self._session.change(cap=max(self.cost + left, LEAST_CAP))

    def _on_event(self, event: e.Event) -> None:
        if isinstance(event, e.OracleCounted) and event.cost:
            self.cost += event.cost
            self._purse.spend(self._payer, event.cost)
            self._limit_cost()
        if isinstance(event, e.Failure | e.Notice):
            self._tell(event.sentence)
        if isinstance(event, RELAYED):
            self._log.add(event)
            if self._client is not None:
                self._client.learn(event)
