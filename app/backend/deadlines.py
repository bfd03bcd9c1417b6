"""Safeguards for every answer stream: deadlines, a maximum length, and the removal of control characters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from app.backend.base import BackendError, ChatRequest, StreamItem, Thinking
from app.backend.faults import without_cause
from app.tools.base import ToolCall
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
"""How long a server may be silent before its first sign of life. Ollama may have to load the model first, but users
won't wait longer than this."""
NEXT_TOKEN_SECONDS = 10.0
"""How long it may be silent afterwards."""
MOST_SECONDS = 600.0
"""How long a server may send signs of life, but no words."""
YIELD_SECONDS = 0.01
"""How often to yield to other tasks while tokens arrive without a pause."""
MOST_CHARS_PER_TOKEN = 8
"""An answer is truncated after this many characters per allowed token; English text averages about four."""
LEAST_CHARS = 2_000
"""Lower bound of the length limit, in characters."""


@asynccontextmanager
async def limited(
    items: AsyncGenerator[StreamItem, None],
    who: str,
    request: ChatRequest,
    *,
    first_seconds: float = 0.0,
    received: Callable[[], int] = lambda: 0,
) -> AsyncIterator[AsyncIterator[StreamItem]]:
    """A context manager that applies deadlines and a length limit to `items`, and closes `items` on exit.

    A server is alive as long as it sends anything: thoughts, empty pieces of text, comments. The length limit is needed
    because some servers ignore `max_tokens`.

    - `who`: the model's name in error messages
    - `first_seconds`: how long the server may be silent at first; 0 for the default
    - `received`: returns how many bytes have been received
    """
    most_chars = max(LEAST_CHARS, request.max_tokens * MOST_CHARS_PER_TOKEN)
    async with (
        aclosing(items),
        aclosing(_limited(items, who, most_chars, first_seconds or FIRST_TOKEN_SECONDS, received)) as timely,
        aclosing(harmless_items(timely)) as out,
    ):
        yield out


async def _limited(
    items: AsyncIterator[StreamItem], who: str, most_chars: int, seconds: float, received: Callable[[], int]
) -> AsyncGenerator[StreamItem, None]:
    loop = asyncio.get_running_loop()
    begun = yielded = loop.time()
    answered = False
    while most_chars > 0:
        try:
            with without_cause():
                async with _Silence(seconds, begun + MOST_SECONDS, received):
                    item = await anext(items)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _too_slow(who, loop.time() - begun, seconds, answered) from None
        if item:
            if isinstance(item, str | ToolCall):
                answered, begun = True, loop.time()
            if isinstance(item, str):
                item = item[:most_chars]
                most_chars -= len(item)
            yield item
        seconds = NEXT_TOKEN_SECONDS if answered or isinstance(item, Thinking) else seconds
        if loop.time() - yielded > YIELD_SECONDS:
            await asyncio.sleep(0)
            yielded = loop.time()


class _Silence:
    """A context that raises TimeoutError if nothing is received for `seconds`, or at `latest`."""

    def __init__(self, seconds: float, latest: float, received: Callable[[], int]) -> None:
        self._seconds, self._latest, self._received = seconds, latest, received
        self._loop = asyncio.get_running_loop()
        self._timeout = asyncio.timeout_at(min(self._loop.time() + seconds, latest))

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._count = self._received()
        self._watch = self._loop.call_later(self._seconds / 4, self._look)

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._watch.cancel()
        await self._timeout.__aexit__(kind, error, traceback)

    def _look(self) -> None:
        now, count = self._loop.time(), self._received()
        if count != self._count and not self._timeout.expired():
            self._count = count
            self._timeout.reschedule(min(now + self._seconds, self._latest))
        self._watch = self._loop.call_later(self._seconds / 4, self._look)


def _too_slow(who: str, waited: float, silence: float, answered: bool) -> BackendError:
    if answered:
        return BackendError(
            f"{who} stopped in mid-answer and was silent for {silence:.0f} seconds. What was received is spoken; ask "
            "again, or choose another model.",
            "timeout",
        )
    return BackendError(
        f"{who} did not begin to answer within {waited:.0f} seconds. It may be overloaded or still loading its "
        "model: wait a little, or choose another model.",
        "timeout",
    )
