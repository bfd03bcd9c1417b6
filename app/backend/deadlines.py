"""Safeguards for every answer stream: deadlines, a maximum length, and the removal of control characters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from app.backend.base import BackendError, ChatRequest, StreamItem, ToolCall
from app.backend.faults import without_cause
from app.untrusted.limits import TOOL_ARGUMENTS
from app.untrusted.text import HarmlessStream, harmless, one_line

NAME_CHARS = 256
"""Maximum length of a tool's name and of a tool call's ID."""


async def harmless_items(items: AsyncIterator[StreamItem]) -> AsyncGenerator[StreamItem, None]:
    """Removes control characters from the items. The end of a text item may be buffered until the next one."""
    text = HarmlessStream()
    async for item in items:
        if isinstance(item, str):
            if piece := text.push(item):
                yield piece
            continue
        if rest := text.flush():
            yield rest
        yield _call(item) if isinstance(item, ToolCall) else item
    if rest := text.flush():
        yield rest


def _call(call: ToolCall) -> ToolCall:
    # One character more than the limit is kept, so that overlong arguments are rejected rather than silently truncated.
    arguments = harmless(call.arguments[: TOOL_ARGUMENTS.bytes + 1])
    return ToolCall(one_line(call.id, NAME_CHARS), one_line(call.name, NAME_CHARS), arguments, call.opaque)


FIRST_TOKEN_SECONDS = 20.0
"""Timeout for the first item. Ollama may have to load the model first, but users won't wait longer than this."""
NEXT_TOKEN_SECONDS = 10.0
YIELD_SECONDS = 0.01
"""How often to yield to other tasks while tokens arrive without a pause."""
MOST_CHARS_PER_TOKEN = 8
"""An answer is truncated after this many characters per allowed token; English text averages about four."""
LEAST_CHARS = 2_000
"""Lower bound of the length limit, in characters."""


@asynccontextmanager
async def limited(
    items: AsyncGenerator[StreamItem, None], who: str, request: ChatRequest
) -> AsyncIterator[AsyncIterator[StreamItem]]:
    """A context manager that applies deadlines and a length limit to `items`, and closes `items` on exit.

    `who`: the model's name in error messages. The length limit is needed because some servers ignore `max_tokens`.
    """
    most_chars = max(LEAST_CHARS, request.max_tokens * MOST_CHARS_PER_TOKEN)
    async with (
        aclosing(items),
        aclosing(_limited(items, who, most_chars)) as timely,
        aclosing(harmless_items(timely)) as out,
    ):
        yield out


async def _limited(items: AsyncIterator[StreamItem], who: str, most_chars: int) -> AsyncGenerator[StreamItem, None]:
    clock = asyncio.get_running_loop().time
    seconds, first = FIRST_TOKEN_SECONDS, True
    deadline, yielded = clock() + seconds, clock()
    while most_chars > 0:
        try:
            with without_cause():
                async with asyncio.timeout_at(deadline):
                    item = await anext(items)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _too_slow(who, seconds, first) from None
        if item:  # empty text doesn't count as progress
            seconds, first = NEXT_TOKEN_SECONDS, False
            if isinstance(item, str):
                item = item[:most_chars]
                most_chars -= len(item)
            yield item
            deadline = clock() + seconds
        if clock() - yielded > YIELD_SECONDS:
            await asyncio.sleep(0)
            yielded = clock()


def _too_slow(who: str, seconds: float, first: bool) -> BackendError:
    if first:
        return BackendError(
            f"{who} did not begin to answer within {seconds:.0f} seconds. It may be overloaded or still loading its "
            "model: wait a little, or choose another model.",
            "timeout",
        )
    return BackendError(
        f"{who} stopped in mid-answer and was silent for {seconds:.0f} seconds. What had come is spoken; ask again, or "
        "choose another model.",
        "timeout",
    )
