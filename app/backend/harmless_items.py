"""Makes the text of an answer harmless, and the names and arguments of its tool calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from app.backend.base import StreamItem, ToolCall
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
