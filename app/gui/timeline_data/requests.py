"""Folds the requests to the back-ends, and how their words reached the front-end, into spans and marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.conversation import events as e
from app.conversation.revisions import Revision, RevisionLog
from app.gui.timeline_data.spans import ROWS, Backend, Fed, Request, Taken
from app.gui.timeline_data.track import Track

LOOKED_BACK = 24
"""The previous request of a row is looked for among so many."""


class RequestLog:
    """The requests of a session. `touch` is called with the second from which on something has changed."""

    def __init__(self, touch: Callable[[float], None]) -> None:
        self.requests: Track[Request] = Track()
        self.fed: Track[Fed] = Track()
        self.taken: Track[Taken] = Track()
        self.backends: list[Backend] = []
        """All models of this session, in the order of their first use."""
        self.has_secondary = False
        """Whether a secondary back-end was ever asked."""
        self._touch = touch
        self._revisions = RevisionLog(Revision)
        self._request_of: dict[int, Request] = {}

    def request(self, revision: int) -> Request | None:
        """The newest request of a revision, if it is still kept."""
        return self._request_of.get(revision)

    def end(self, at: float) -> None:
        """The session is over."""
        for request in self.requests:
            if request.end is None:
                request.revision.end_reason = request.revision.end_reason or "stopped"
                self._end(request, at)

    def drop_before(self, time: float) -> None:
        """Forgets what ended before a second."""
        self.fed.drop_before(time)
        self.taken.drop_before(time)
        for request in self.requests.drop_before(time):
            if self._request_of.get(request.revision.number) is request:
                del self._request_of[request.revision.number]

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        revision = self._revisions.apply(event)
        if isinstance(event, e.OracleFed):
            self._feed(event)
        elif isinstance(event, e.OracleTaken):
            self._take(event)
        elif revision is None:
            return
        elif isinstance(event, e.OracleRequested):
            self._add(Request(revision, event.at, revision.secondary))
        elif isinstance(event, e.OracleHandedOver):
            self._hand_over(revision, event.at)
        else:
            self._change(revision, event)

    def _change(self, revision: Revision, event: e.Event) -> None:
        request = self._request_of.get(revision.number)
        if request is None:
            return
        match event:
            case e.OracleDelta(at=at) if revision.first_words_at == at:
                self._touch(request.start)
            case e.OracleSuperseded():
                self._touch(request.start)
            case e.OracleEnded(at=at):
                self._end(request, at)
                self._touch(request.start)

    def _hand_over(self, revision: Revision, at: float) -> None:
        before = self._request_of.get(revision.number)
        if before is not None:
            before.handed_over = True
            if before.end is None:
                self._end(before, at)
            self._touch(before.start)
        request = Request(revision, at, secondary=False)
        self._add(request)
        if revision.ended_at is not None:
            self._end(request, at)

    def _add(self, request: Request) -> None:
        backend = self.known(request.backend)
        before = next(iter(self._newest_requests(request.secondary)), None)
        request.named = before is None or before.backend != backend
        self.has_secondary = self.has_secondary or request.secondary
        self._choose_rows(request, before)
        self._request_of[request.revision.number] = request
        self._touch(request.start)
        self.requests.add(request)

    def _choose_rows(self, request: Request, before: Request | None) -> None:
        """Gives it a row of its own for as long as it runs, below that of the one before it, as in a staircase."""
        near = [r for r in self.requests.between(request.start, request.start) if r.secondary == request.secondary]
        for rows in ROWS:
            busy = {r.slots[rows] for r in near if r.end is None}
            turn = [((before.slots[rows] if before else -1) + step) % rows for step in range(1, rows + 1)]
            row = next((row for row in turn if row not in busy), turn[0])
            request.slots[rows] = row
            for other in self._newest_requests(request.secondary):
                if other.slots[rows] == row:
                    other.next_start.setdefault(rows, request.start)
                    self._touch(other.start)
                    break

    def _newest_requests(self, secondary: bool) -> Iterator[Request]:
        place = len(self.requests) - 1
        for at in range(place, max(-1, place - LOOKED_BACK), -1):
            request = self.requests.at(at)
            if request is not None and request.secondary == secondary:
                yield request

    def _feed(self, event: e.OracleFed) -> None:
        request = self._request_of.get(event.revision)
        backend = request.backend if request is not None else ("", "")
        self.fed.add(Fed(event.at, event.revision, backend, event.words, event.waited_ms))
        self._touch(event.at)
        if request is not None:
            self._touch(request.fed_until or request.end or event.at)
            request.fed_until = event.at

    def _take(self, event: e.OracleTaken) -> None:
        request = self._request_of.get(event.revision)
        backend = request.backend if request is not None else ("", "")
        last = self.taken.last
        before = last.taken if last is not None and last.revision == event.revision else 0
        tokens = max(0, event.taken - before)
        self.taken.add(Taken(event.at, event.revision, backend, tokens, event.taken, event.waiting))
        self._touch(event.at)

    def known(self, backend: Backend) -> Backend:
        """Adds a model if it is new: its place among all decides its colour."""
        if any(backend) and backend not in self.backends:
            self.backends.append(backend)
        return backend

    def _end(self, request: Request, at: float) -> None:
        request.end = max(at, request.start)
        self.requests.changed(request)
