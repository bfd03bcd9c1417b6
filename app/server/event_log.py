"""Keeps the newest events of a session, numbered, for a client that comes back."""

from __future__ import annotations

from collections import deque

from app.conversation import events as e
from app.frontend.remote.protocol import event_json

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
