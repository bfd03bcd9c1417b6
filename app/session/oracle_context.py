"""What an oracle runner needs of its session, as a record of functions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from app.backend.base import USER_FIXABLE, Backend, BackendError, ChatRequest, FaultKind, StreamItem, Usage, made_for
from app.backend.router import Choice
from app.conversation import events as e
from app.conversation.backend_speed import ASSUMED_LIMIT, Pace, RequestBudget
from app.session.mailbox import Message


@runtime_checkable
class Chooser(Protocol):
    """A back-end that chooses among back-ends, such as the router."""

    def choose(self, turn: int, words: str, allowed: Callable[[Backend], bool]) -> Choice: ...
    def failed(self, backend: Backend, rest: float) -> bool: ...


@dataclass(slots=True)
class OracleContext:
    """`request` builds the chat request for (back-end, turn, words, whether tools may act); `stream` sends it.

    `post` sends a message to the front-end, `emit` an event to every listener; `now` is the session's time in seconds.
    `group` holds the tasks of all streams, `numbers` counts revisions. `paces`: what is known of back-ends' speed, by
    name and model. `cost` returns US dollars or None; `allowed` tells whether a back-end may be asked at all. `acts`:
    whether tools may change something. Called back: `used` with a tool's call for a turn, `failed` with a back-end's
    failure, `changed` when the standby has taken over.
    """

    request: Callable[[Backend, int, str, bool], ChatRequest]
    post: Callable[[Message], None]
    emit: Callable[[e.Event], None]
    now: Callable[[], float]
    group: asyncio.TaskGroup
    numbers: Iterator[int] | None = None
    stream: Callable[[Backend, ChatRequest], AbstractAsyncContextManager[AsyncIterator[StreamItem]]] = (
        lambda backend, request: backend.stream(request)
    )
    paces: dict[tuple[str, str], Pace] = field(default_factory=dict)
    cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None
    allowed: Callable[[Backend], bool] = lambda backend: True
    acts: Callable[[], bool] = lambda: False
    used: Callable[[int, str], None] = lambda turn, tool: None
    failed: Callable[[Backend, FaultKind], None] = lambda backend, kind: None
    changed: Callable[[], None] = lambda: None

    def pace(self, backend: Backend) -> Pace:
        """Return what is known of a back-end's speed."""
        key = (backend.name, backend.model)
        if key not in self.paces:
            traits = backend.traits
            budget = RequestBudget(None if traits.free else ASSUMED_LIMIT)
            self.paces[key] = Pace(traits.least_interval, traits.first_seconds, traits.words_per_second, budget)
        return self.paces[key]


def backend_failure(
    at: float, sentence: str, error: BackendError, backend: Backend, *, secondary: bool, about: e.About = "backend"
) -> e.Failure:
    """Return a back-end's failure as an event; it names the back-end if the user may put its key or server right."""
    if secondary:
        sentence = f"The comparison model: {sentence}"
    who = made_for(backend) if error.kind in USER_FIXABLE else ("", "", "")
    return e.Failure(at, "backend", sentence, False, *who, secondary=secondary, about=about)
