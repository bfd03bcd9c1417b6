"""Executes the tool calls that a model makes during an answer, and continues the answer with their results.

If a tool is slow, a short filler sentence is spoken. If a tool fails, the model receives an error message.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from app.backend.base import (
    Backend,
    ChatRequest,
    OpaqueFields,
    StreamItem,
    ToolCall,
    ToolCallMessage,
    ToolEnded,
    ToolMessage,
    ToolStarted,
)

if TYPE_CHECKING:
    from app.tools.toolbox import Toolbox

MOST_ROUNDS = 4
MOST_CALLS = 6
"""Maximum number of calls per round, since a small model may keep calling the same tool."""
PATIENCE_SECONDS = 1.2
NOT_OFFERED = "This tool can't be used now. Answer without it."
BRIDGE = "One moment, I'm looking that up."
"""Spoken if a tool takes longer than `PATIENCE_SECONDS` and the model has produced no text yet."""


def stream_with_tools(
    backend: Backend, request: ChatRequest, tools: Toolbox
) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
    """Like `backend.stream(request)`, but with `tools` available to the model. Raises BackendError.

    Tools with side effects are only offered if `request.final` is set.
    """
    offered = tuple(spec for spec in tools.specs if request.final or not spec.acts)
    if not offered:
        return backend.stream(request)
    return _stream(backend, replace(request, tools=offered), tools)


@asynccontextmanager
async def _stream(backend: Backend, request: ChatRequest, tools: Toolbox) -> AsyncIterator[AsyncIterator[StreamItem]]:
    async with aclosing(_rounds(backend, request, tools)) as items:
        yield items


async def _rounds(backend: Backend, request: ChatRequest, tools: Toolbox) -> AsyncGenerator[StreamItem, None]:
    spoke = False
    for number in range(MOST_ROUNDS + 1):
        calls: list[ToolCall] = []
        words = opaque = ""
        async with backend.stream(request) as items:
            async for item in items:
                if isinstance(item, ToolCall):
                    calls.append(item)
                    continue
                if isinstance(item, OpaqueFields):
                    opaque = item.fields
                    continue
                if isinstance(item, str):
                    if item.strip() and spoke and not words:
                        yield " "  # separates this text from the text before the tool call
                    words += item
                    spoke = spoke or bool(item.strip())
                yield item
        if not calls:
            return
        calls = calls[:MOST_CALLS]
        offered = {spec.name for spec in request.tools if request.may_call}
        allowed = [call for call in calls if call.name in offered]  # a model may name any tool it has seen or invented
        for call in allowed:
            yield ToolStarted(call.name, call.arguments)
        tasks = [asyncio.ensure_future(tools.call(call.name, call.arguments)) for call in allowed]
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
            if not spoke and not all(task.done() for task in tasks):
                spoke = True
                yield f"{BRIDGE} "
            results = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            yield ToolEnded(result.name, result.ok, result.text, result.seconds)
        told = (result.text for result in results)
        answers = tuple(ToolMessage(c.id, c.name, next(told) if c.name in offered else NOT_OFFERED) for c in calls)
        request = replace(request, messages=(*request.messages, ToolCallMessage(tuple(calls), words, opaque), *answers))
        if number == MOST_ROUNDS - 1:
            request = replace(request, may_call=False)  # the model must answer with the results so far
