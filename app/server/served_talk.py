"""A session that is held with a client: it outlives a lost connection for a while.

Its newest events are kept, numbered, for a client that comes back.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

import numpy as np

from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.frontend.remote.protocol import RELAYED, Welcome, event_json
from app.session.session import Session

MOST_EVENTS = 2_000
"""Events that are kept: some hundred a second for as long as a session waits for its client."""
MOST_CHARS = 1_000_000
"""Characters that they may have in all, as they are sent."""


class EventLog:
    """Numbers events from 1 in the order in which they are added, and keeps the newest of them."""

    def __init__(self) -> None:
        self.count = 0
        """How many events were added."""
        self._kept: deque[tuple[e.Event, int]] = deque()  # each with its length
        self._chars = 0

    def add(self, event: e.Event) -> None:
        """Appends an event; the oldest ones give way."""
        self.count += 1
        chars = len(event_json(event))
        self._kept.append((event, chars))
        self._chars += chars
        while len(self._kept) > MOST_EVENTS or self._chars > MOST_CHARS:
            _, chars = self._kept.popleft()
            self._chars -= chars

    def before(self, after: int | None) -> int:
        """Returns the number of the event before the first that a client gets which has `after` events.

        That is more than `after` if some were not kept. None: the client does not say how many it has, and gets those
        alone that are still to come.
        """
        if after is None:
            return self.count
        return min(max(after, self.count - len(self._kept), 0), self.count)

    def since(self, number: int) -> list[e.Event]:
        """Returns the events that are kept after this number."""
        missing = self.count - number
        return [event for event, _ in list(self._kept)[-missing:]] if missing > 0 else []


MakeTalk = Callable[[PushedSource, SendingSink], Awaitable[Session]]
"""Makes a session between a source and a sink, to be entered on the running loop, which does not wait meanwhile."""


class Client(Protocol):
    """What a talk gives out goes here, on the event loop's thread. No call waits."""

    def hear(self, samples: np.ndarray) -> None:
        """Takes a frame of the assistant's voice."""
        ...

    def learn(self, event: e.Event) -> None:
        """Takes an event."""
        ...

    def replaced(self) -> None:
        """Ends: another client has taken the place of this one."""
        ...


class ServedTalk:
    """One session. `join` and `leave` connect clients to it, one at a time.

    `tell` gets the sentence of each failure. Making one loads and starts nothing, `begin` does.
    """

    def __init__(self, make: MakeTalk, tell: Callable[[str], object] = lambda line: None) -> None:
        self.token = secrets.token_urlsafe(16)
        self.source = PushedSource("client")
        self._loop = asyncio.get_running_loop()
        self.left_at: float | None = self._loop.time()
        """The loop's time since which no client has been here; None while one is."""
        self._make = make
        self._tell = tell
        self._client: Client | None = None
        self._log = EventLog()
        self._session: Session | None = None
        self._ending: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Makes, loads and starts the session. Raises what making and opening one raises."""
        session = await self._make(self.source, SendingSink("client", self._send))
        await session.__aenter__()
        self._session = session
        session.add_listener(self._on_event)
        self._ending = asyncio.create_task(session.ended(), name="a talk's end")
        self.left_at = self._loop.time()

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
        if self._session is not None:
            await self._session.stop()
        if self._ending is not None:
            await self._ending

    def join(self, client: Client, *, resumed: bool = False, after: int | None = 0) -> Welcome:
        """Lets `client` hear from now on, and gives it the events that are kept after number `after`.

        `after` None: the events to come alone. The client before it is ended. Returns what the new one is told first.
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
        if isinstance(event, e.Failure):
            self._tell(event.sentence)
        if isinstance(event, RELAYED):
            self._log.add(event)
            if self._client is not None:
                self._client.learn(event)
