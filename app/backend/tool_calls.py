"""Executes the tool calls that a model makes during an answer, and continues the answer with their results.

If a tool is slow, a short filler sentence is spoken. If a tool fails, the model receives an error message. If a call
needs the user's consent, the answer ends with a question, and the calls wait. Once the user has allowed them, they are
made at the beginning of the answer to that turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from app.backend.base import (
    Backend,
    CallDeferred,
    CallRefused,
    ChatRequest,
    ConsentNeeded,
    OpaqueFields,
    StreamItem,
    ToolEnded,
    ToolStarted,
    made_for,
)
from app.conversation.languages import language
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolCall
from app.tools.consent import Proposal

if TYPE_CHECKING:
    from app.tools.toolbox import Toolbox

MOST_ROUNDS = 4
MOST_CALLS = 6
"""Maximum number of calls per round, since a small model may keep calling the same tool."""
PATIENCE_SECONDS = 1.2
LONGEST_NAME = 40
"""Of a tool in a question that is spoken, in characters."""
NOT_OFFERED = "This tool can't be used now. Answer without it."
NOT_ALLOWED = "This was not done, since it needs the user's consent, which can't be given here. Say so."


def stream_with_tools(
    backend: Backend, request: ChatRequest, tools: Toolbox
) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
    """Like `backend.stream(request)`, but with `tools` available to the model. Raises BackendError.

    Tools that do more than read are only called if `request.final` is set.
    """
    offered = tuple(spec for spec in tools.specs if request.final or request.defers or not spec.acts)
    if not offered and request.granted is not None:
        offered, request = tools.specs, replace(request, may_call=False)  # the messages will contain calls
    if not offered:
        return backend.stream(request)
    return _stream(backend, replace(request, tools=offered), tools)


@asynccontextmanager
async def _stream(backend: Backend, request: ChatRequest, tools: Toolbox) -> AsyncIterator[AsyncIterator[StreamItem]]:
    async with aclosing(_rounds(backend, request, tools)) as items:
        yield items


async def _rounds(backend: Backend, request: ChatRequest, tools: Toolbox) -> AsyncGenerator[StreamItem, None]:
    said, phrases = "", language(request.language)  # `said`: the newest words
    first, maker = len(request.messages), made_for(backend, with_secrets=True)
    if (granted := request.granted) is not None:
        yield (said := f"{phrases.agreed} ")
        await asyncio.sleep(granted.delay)
        async for item in _call(granted.waiting, tools, granted):
            yield item
        request = replace(request, granted=None, messages=(*request.messages, *granted.messages(maker)))
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
                    if item.strip() and said and not said[-1].isspace() and not words:
                        yield " "  # separates this text from the text before the tool call
                    words += item
                    said = item if item.strip() else said
                yield item
        if not calls:
            return
        calls = calls[:MOST_CALLS]
        before = tuple(one for one in request.messages[first:] if not isinstance(one, ChatMessage))
        proposal = Proposal(tuple(calls), words, opaque, before, [NOT_OFFERED] * len(calls), maker)
        offered = {spec.name: spec for spec in request.tools if request.may_call}
        if not request.final and any(call.name in offered and offered[call.name].acts for call in calls):
            yield CallDeferred()
            return
        allowed, waiting = list[ToolCall](), list[ToolCall]()
        for place, call in enumerate(proposal.calls):
            if call.name not in offered:
                continue  # a model may name any tool it has seen or invented
            verdict = tools.consent.verdict(offered[call.name])
            if verdict == "refuse":
                proposal.results[place] = NOT_ALLOWED
                yield CallRefused(call.name, call.arguments)
            else:
                proposal.results[place] = None
                (allowed if verdict == "run" else waiting).append(call)
        async for item in _call(allowed, tools, proposal, bridge="" if said else f"{phrases.looking_up} "):
            said = item if isinstance(item, str) else said
            yield item
        if waiting:
            names = dict.fromkeys(_spoken_name(call.name) for call in waiting)
            proposal.question = phrases.asks_consent.format(", ".join(names))
            yield f"{' ' if said and not said[-1].isspace() else ''}{proposal.question}"
            yield ConsentNeeded(proposal)
            return
        request = replace(request, messages=(*request.messages, *proposal.messages(maker)[len(before) :]))
        if number == MOST_ROUNDS - 1:
            request = replace(request, may_call=False)  # the model must answer with the results so far


async def _call(
    calls: Sequence[ToolCall], tools: Toolbox, proposal: Proposal, *, bridge: str = ""
) -> AsyncGenerator[StreamItem, None]:
    """Makes `calls` in parallel, and stores their results in `proposal`. `bridge`: spoken if they take long."""
    for call in calls:
        yield ToolStarted(call.name, call.arguments)
    tasks = [asyncio.ensure_future(tools.call(call.name, call.arguments)) for call in calls]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
        if bridge and not all(task.done() for task in tasks):
            yield bridge
        results = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for call, result in zip(calls, results, strict=True):
        yield ToolEnded(result.name, result.ok, result.text, result.seconds)
        place = next(place for place, one in enumerate(proposal.calls) if one is call)
        proposal.results[place] = result.text


def _spoken_name(name: str) -> str:
    """Returns a tool's name as it can be spoken: "mail__send_message" becomes "send message"."""
    return " ".join(name.rpartition("__")[2].replace("-", "_").split("_"))[:LONGEST_NAME].strip() or name
