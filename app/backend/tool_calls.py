"""A brain's stream with tools: runs what it asks for, tells it what came of it, and goes on with its answer.

Knows no tool, and nothing of sessions. A tool that takes long is bridged with a few words, so that the voice is never
left with nothing; a tool that fails is a sentence for the brain.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Protocol

from app.backend.base import (
    AskedTools,
    Backend,
    ChatRequest,
    StreamItem,
    ToolAnswer,
    ToolCall,
    ToolEnded,
    ToolStarted,
)
from app.tools.base import ToolResult, ToolSpec

MOST_ROUNDS = 4
MOST_CALLS = 6
"""In one round; a small model may ask for the same thing again and again."""
PATIENCE_SECONDS = 1.2
BRIDGE = "One moment, I'm looking that up."
"""Said when a tool takes longer than a listener's patience and the brain has said nothing yet."""


class Tools(Protocol):
    """What the stream needs of a toolbox: see `app.tools.toolbox.Toolbox`."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What there is."""
        ...

    async def call(self, name: str, arguments: str) -> ToolResult:
        """Runs one tool; never raises."""
        ...


def stream_with_tools(
    backend: Backend, request: ChatRequest, tools: Tools
) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
    """`backend.stream(request)` with `tools` to use. Raises BackendError as it does.

    Tools that may change something are not offered while the user still talks (`request.final`).
    """
    offered = tuple(spec for spec in tools.specs if request.final or not spec.acts)
    if not offered:
        return backend.stream(request)
    return _with_tools(backend, replace(request, tools=offered), tools)


@asynccontextmanager
async def _with_tools(backend: Backend, request: ChatRequest, tools: Tools) -> AsyncIterator[AsyncIterator[StreamItem]]:
    async with aclosing(_rounds(backend, request, tools)) as items:
        yield items


async def _rounds(backend: Backend, request: ChatRequest, tools: Tools) -> AsyncGenerator[StreamItem, None]:
    said = False
    for number in range(MOST_ROUNDS + 1):
        calls: list[ToolCall] = []
        words = ""
        async with backend.stream(request) as items:
            async for item in items:
                if isinstance(item, ToolCall):
                    calls.append(item)
                    continue
                if isinstance(item, str):
                    if item.strip() and said and not words:
                        yield " "  # what was said before the tool is a sentence of its own
                    words += item
                    said = said or bool(item.strip())
                yield item
        if not calls:
            return
        calls = calls[:MOST_CALLS]
        for call in calls:
            yield ToolStarted(call.name, call.arguments)
        work = [asyncio.ensure_future(tools.call(call.name, call.arguments)) for call in calls]
        try:
            await asyncio.wait(work, timeout=PATIENCE_SECONDS)
            if not said and not all(task.done() for task in work):
                said = True
                yield f"{BRIDGE} "
            results = await asyncio.gather(*work)
        finally:
            for task in work:
                task.cancel()
            await asyncio.wait(work)
        for result in results:
            yield ToolEnded(result.name, result.ok, result.text, result.seconds)
        answers = tuple(ToolAnswer(c.id, c.name, r.text) for c, r in zip(calls, results, strict=True))
        request = replace(request, messages=(*request.messages, AskedTools(tuple(calls), words), *answers))
        if number == MOST_ROUNDS - 1:
            request = replace(request, tools=())  # enough: now it has to answer with what it has
