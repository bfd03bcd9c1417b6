"""Follows the requests of a conversation's sessions, oldest first.

Pure: folds a session's events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.conversation import events as e
from app.conversation.revisions import Revision, RevisionLog

MOST = 512
"""So many requests are kept."""


@dataclass(slots=True, eq=False)
class Request(Revision):
    """A request to a model. `spoken`: the voice has said words of its answer. `place`: its place among all."""

    spoken: bool = False
    place: int = 0


class RequestLog:
    """`changes` counts what may have changed a request."""

    def __init__(self) -> None:
        self.changes = 0
        self._requests: list[Request] = []
        self._session = RevisionLog(Request, MOST)
        self._count = 0

    @property
    def requests(self) -> list[Request]:
        """All that are kept."""
        return list(self._requests)

    def begin(self) -> None:
        """A session starts, whose numbers start at 1 again; what the sessions before it asked stays."""
        for request in self._session.revisions:
            if request.ended_at is None and request.end_reason is None:
                request.end_reason = "stopped"
        self._session.clear()
        self.changes += 1

    def clear(self) -> None:
        """Forgets everything: another conversation will be shown."""
        self.begin()
        self._requests.clear()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        request = self._session.apply(event)
        if isinstance(event, e.OracleRequested) and request is not None:
            self._count += 1
            request.place = self._count
            self._requests.append(request)
            del self._requests[:-MOST]
        elif isinstance(event, e.AssistantSaid):
            request = self._session.get(event.revision)
            if request is not None:
                request.spoken = True
        if request is not None:
            self.changes += 1

    def show_talk(self, events: Iterable[e.Event]) -> None:
        """Adds the requests of a past session."""
        self.begin()
        for event in events:
            self.apply(event)
        self.begin()
