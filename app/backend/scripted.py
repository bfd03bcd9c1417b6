"""A back-end for tests and demos that streams scripted answers, with delays timed by the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.backend.base import BackendError, ChatRequest, StreamItem, Traits


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An answer whose first delta arrives after `first` seconds and the others `every` seconds apart.

    `error`: the message of a BackendError to be raised at the end; empty for none.
    """

    deltas: tuple[StreamItem, ...]
    first: float = 0.1
    every: float = 0.02
    error: str = ""


def answer(text: str, *, first: float = 0.1, every: float = 0.02, error: str = "") -> ScriptedAnswer:
    """Returns an answer that consists of `text`, streamed word by word."""
    words = text.split(" ")
    deltas = tuple(word if i == 0 else f" {word}" for i, word in enumerate(words)) if text else ()
    return ScriptedAnswer(deltas, first, every, error)


class ScriptedBackend:
    """A back-end whose `script` returns the answer to each request.

    `requests` records all requests; `open_streams` counts the streams that are currently open.
    """

    def __init__(
        self,
        script: Callable[[ChatRequest], ScriptedAnswer],
        *,
        name: str = "Scripted",
        model: str = "script",
        concurrent: bool = True,
        enough_words: int = 0,
        least_interval: float = 0.1,
        free: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.traits = Traits(
            concurrent=concurrent,
            enough_words=enough_words,
            least_interval=least_interval,
            free=free,
        )
        self.requests: list[ChatRequest] = []
        self.closed = False
        self.open_streams = self.most_open_streams = 0
        self._script = script

    async def open(self) -> None:
        """Does nothing."""

    async def prime(self, request: ChatRequest) -> None:
        """Does nothing."""

    async def models(self) -> list[str]:
        """Returns the back-end's only model."""
        return [self.model]

    async def close(self) -> None:
        """Sets `closed`."""
        self.closed = True

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        self.requests.append(request)
        self.open_streams += 1
        self.most_open_streams = max(self.most_open_streams, self.open_streams)
        try:
            yield self._items(self._script(request))
        finally:
            self.open_streams -= 1

    async def _items(self, reply: ScriptedAnswer) -> AsyncIterator[StreamItem]:
        await asyncio.sleep(reply.first)
        for number, delta in enumerate(reply.deltas):
            if number and reply.every:
                await asyncio.sleep(reply.every)
            yield delta
        if reply.error:
            raise BackendError(reply.error)
