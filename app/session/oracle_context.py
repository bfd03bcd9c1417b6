"""What an oracle runner has of its session: the ways to ask, to tell, to count and to be allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from app.backend.base import MENDABLE, Backend, BackendError, ChatRequest, FaultKind, StreamItem, Usage, made_for
from app.backend.router import Choice
from app.conversation import events as e
from app.conversation.backend_speed import Pace
from app.session.mailbox import Message


@runtime_checkable
class Chooser(Protocol):
    """A brain that chooses among brains: see `app.backend.router.RouterBackend`."""

    def choose(self, turn: int, words: str, allowed: Callable[[Backend], bool]) -> Choice: ...
    def failed(self, backend: Backend, rest: float) -> bool: ...


@dataclass(slots=True)
class OracleContext:
    """What a runner has of its session.

    `request` makes the chat request that asks a brain for (turn, words, whether it may act on them); `stream` asks it.
    `post` reaches the front-end, `emit` everyone. `now` is the session's time. `group` holds the tasks of all streams.
    `pace` and `cost` are a brain's; `allowed` tells whether it may be asked at all. `acts`: answers may change
    something in the world; `used` hears of a tool that is at work for a turn. `failed` hears of a brain's failure,
    `changed` of a brain that has taken over. `numbers` counts revisions.
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
        """What is known of a brain's speed."""
        key = (backend.name, backend.model)
        if key not in self.paces:
            traits = backend.traits
            self.paces[key] = Pace(traits.least_interval, traits.first_seconds, traits.words_per_second)
        return self.paces[key]


def backend_failure(
    at: float, sentence: str, error: BackendError, backend: Backend, *, secondary: bool, about: e.About = "backend"
) -> e.Failure:
    """What a brain has failed of, as an event that leads to the brain if the user may put it right."""
    if secondary:
        sentence = f"The comparison model: {sentence}"
    who = made_for(backend) if error.kind in MENDABLE else ("", "", "")
    return e.Failure(at, "backend", sentence, False, *who, secondary=secondary, about=about)
