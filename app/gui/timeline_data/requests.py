"""Folds what the brain was asked, and what became of it, into one request for each revision.

Pure: knows no widget. Whoever owns it is told from which second on something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.conversation import events as e
from app.gui.timeline_data.spans import ROWS, Backend, Fed, Request, Taken
from app.gui.timeline_data.track import Track

LOOKED_BACK = 24
"""So many requests back is the one before in the same row looked for."""

RequestEvent = (
    e.OracleRequested
    | e.OraclePromoted
    | e.OracleDelta
    | e.OracleSuperseded
    | e.OracleEnded
    | e.OracleHandedOver
    | e.OracleFed
    | e.OracleTaken
)


class RequestLog:
    """The requests, and how their words went into the voice."""

    def __init__(self, touch: Callable[[float], None]) -> None:
        self.requests: Track[Request] = Track()
        self.fed: Track[Fed] = Track()
        self.taken: Track[Taken] = Track()
        self.backends: list[Backend] = []
        """All brains of this talk, in the order in which they came."""
        self.beside = False
        """Whether a brain at the side was ever asked."""
        self.routed: dict[bool, tuple[int, str]] = {}
        """By side (whether `secondary`), the turn that a router saw last, and the kind of its question."""
        self._touch = touch
        self._request_of: dict[int, Request] = {}
        self._handed: dict[int, int] = {}

    def request(self, revision: int) -> Request | None:
        """The request of a revision, if it is still kept."""
        return self._request_of.get(revision)

    def end(self, at: float) -> None:
        """The talk is over."""
        for request in self.requests:
            if request.end is None:
                request.reason = request.reason or "stopped"
                self._end(request, at)

    def drop_before(self, time: float) -> None:
        """Forgets what ended before a second."""
        self.fed.drop_before(time)
        self.taken.drop_before(time)
        for request in self.requests.drop_before(time):
            self._handed.pop(request.number, None)
            if self._request_of.get(request.number) is request:
                del self._request_of[request.number]

    def apply(self, event: RequestEvent) -> None:
        """Takes one event in."""
        if isinstance(event, e.OracleFed | e.OracleTaken):
            self._feed(event)
            return
        if isinstance(event, e.OracleRequested):
            self._ask(event)
            return
        if isinstance(event, e.OracleHandedOver):
            self._handed[event.revision] = event.of  # the new one is told of after this
            old = self._request_of.get(event.of)
            if old is not None:
                old.handed_to = event.revision
                self._touch(old.start)
            return
        request = self._request_of.get(event.revision)
        if request is None:
            return
        match event:
            case e.OraclePromoted():
                request.final = True
            case e.OracleDelta(at, _, text):
                if request.first is None:
                    request.first = at
                    self._touch(request.start)
                request.words += len(text.split())
            case e.OracleSuperseded(at, _, by):
                request.past_at, request.by = at, by
                self._touch(request.start)
            case e.OracleEnded(at, _, reason, words):
                request.reason, request.words = reason, max(request.words, words)
                self._end(request, at)
                self._touch(request.start)

    def _ask(self, event: e.OracleRequested) -> None:
        turn, kind = self.routed.get(event.secondary, (0, ""))
        backend = self.known((event.backend, event.model))
        before = next(iter(self._newest_requests(event.secondary)), None)
        request = Request(
            event.revision,
            backend,
            len(event.words.split()),
            event.final,
            event.at,
            event.secondary,
            kind=kind if turn == event.turn else "",
            named=before is None or before.backend != backend,
            handed_from=self._handed.get(event.revision, 0),
        )
        self.beside = self.beside or event.secondary
        self._choose_rows(request, before)
        self._request_of[request.number] = request
        self._touch(request.start)
        self.requests.add(request)

    def _choose_rows(self, request: Request, before: Request | None) -> None:
        """A row of its own as long as it runs, and not that of the one before it: so that they read as a staircase."""
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

    def _feed(self, event: e.OracleFed | e.OracleTaken) -> None:
        request = self._request_of.get(event.revision)
        backend = request.backend if request is not None else ("", "")
        if isinstance(event, e.OracleFed):
            self.fed.add(Fed(event.at, event.revision, backend, event.words, event.waited_ms))
            self._touch(event.at)
            if request is not None:
                self._touch(request.fed_until or request.end or event.at)
                request.fed_until = event.at
            return
        last = self.taken.last
        before = last.taken if last is not None and last.revision == event.revision else 0
        tokens = max(0, event.taken - before)
        self.taken.add(Taken(event.at, event.revision, backend, tokens, event.taken, event.waiting))
        self._touch(event.at)

    def known(self, backend: Backend) -> Backend:
        """Notes a brain, which has its colour from then on."""
        if any(backend) and backend not in self.backends:
            self.backends.append(backend)
        return backend

    def _end(self, request: Request, at: float) -> None:
        request.end = max(at, request.start)
        self.requests.changed(request)
