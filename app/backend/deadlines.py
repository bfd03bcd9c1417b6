"""Limits on a stream: how long its items may take, how much text it may give, and text without control characters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from app.backend.base import BackendError, ChatRequest, StreamItem, ToolCall
from app.backend.faults import without_cause
from app.untrusted.limits import TOOL_ARGUMENTS
from app.untrusted.text import HarmlessStream, harmless, one_line

NAME_CHARS = 256
"""The most characters of a tool's name, and of a call's id."""


async def harmless_items(items: AsyncIterator[StreamItem]) -> AsyncGenerator[StreamItem, None]:
    """Yields the items with harmless text; what a piece of text ends with may be held until the next."""
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
    # One character too many, so that arguments that are too long are refused, and not cut and misread.
    arguments = harmless(call.arguments[: TOOL_ARGUMENTS.bytes + 1])
    return ToolCall(one_line(call.id, NAME_CHARS), one_line(call.name, NAME_CHARS), arguments)


FIRST_TOKEN_SECONDS = 20.0
"""A model that has to be loaded first (Ollama) can take long, but a user won't wait longer than this."""
NEXT_TOKEN_SECONDS = 10.0
YIELD_SECONDS = 0.01
"""When tokens come without a pause, other tasks of the loop get a turn this often."""
MOST_CHARS_PER_TOKEN = 8
"""An answer's text is cut off after this many characters for each token it may have; English has about four."""
LEAST_CHARS = 2_000
"""The cut-off is never below this."""


@asynccontextmanager
async def limited(
    items: AsyncGenerator[StreamItem, None], who: str, request: ChatRequest
) -> AsyncIterator[AsyncIterator[StreamItem]]:
    """Gives `items` under deadlines and a limit of length, as a context that closes them when it is left.

    `who` names the model in the sentence of a BackendError. The length is limited because some servers ignore
    `max_tokens`.
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
        if item:  # an empty piece of text is no progress
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
