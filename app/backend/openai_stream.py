"""Reads the items of an answer in OpenAI's protocol, streamed or in one piece."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from app.backend.attempts import Finish
from app.backend.base import StreamItem, ToolCall, Usage
from app.backend.openai_faults import ErrorInAnswer, UnreadableAnswer, WebPage
from app.backend.thinking_tags import ThinkingTagFilter


async def read_stream(stream: Any) -> AsyncGenerator[StreamItem | Finish, None]:
    """Yields the items of a response of the package `openai`. Raises its exceptions and those of `openai_faults`."""
    content_type = stream.response.headers.get("content-type", "")
    if "html" in content_type:
        raise WebPage
    if "application/json" in content_type:  # the server does not stream, or only reports an error
        for item in _read_whole(await stream.response.aread()):
            yield item
        return
    thoughts, calls = ThinkingTagFilter(), _ToolCalls()
    finish, usage = "", None
    async for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage  # some servers send a running total with every chunk
        for choice in (chunk.choices or ())[:1]:
            delta = choice.delta
            for part in getattr(delta, "tool_calls", None) or ():
                calls.add(part)
            yield thoughts.push(_text(getattr(delta, "content", None) or getattr(delta, "refusal", None)))
            finish = choice.finish_reason or finish
    yield thoughts.flush()
    for call in calls.all():
        yield call
    if usage:
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0)
        yield Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0, cached or 0)
    yield Finish(finish)


class _ToolCalls:
    """Joins the fragments of tool calls."""

    def __init__(self) -> None:
        self._calls: list[list[str]] = []  # id, name, arguments
        self._places: dict[int, int] = {}

    def add(self, part: Any) -> None:
        """Takes the next fragment."""
        index = part.index or 0
        place = self._places.get(index)
        if place is None or (part.id and self._calls[place][0] not in ("", part.id)):  # Google's are all number 0
            place = self._places[index] = len(self._calls)
            self._calls.append(["", "", ""])
        call = self._calls[place]
        call[0] = part.id or call[0]
        if part.function is not None:
            if part.function.name != call[1]:  # some servers repeat it
                call[1] += part.function.name or ""
            call[2] += part.function.arguments or ""

    def all(self) -> Iterator[ToolCall]:
        """Yields the whole calls."""
        for number, (id, name, arguments) in enumerate(self._calls):
            yield ToolCall(id or f"call-{number}", name, arguments or "{}")


def _read_whole(body: bytes) -> Iterator[StreamItem | Finish]:
    value = json.loads(body)
    if isinstance(value, dict) and value.get("error"):
        raise ErrorInAnswer(value["error"])
    try:
        choice = value["choices"][0]
        message = choice["message"]
        thoughts = ThinkingTagFilter()
        yield thoughts.push(_text(message.get("content"))) + thoughts.flush()
        for number, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            yield ToolCall(call.get("id") or f"call-{number}", function["name"], function.get("arguments") or "{}")
        if isinstance(usage := value.get("usage"), dict):
            yield Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        yield Finish(choice.get("finish_reason") or "")
    except (LookupError, TypeError, AttributeError, ValueError):
        raise UnreadableAnswer from None


def _text(content: Any) -> str:
    """Returns a message's text; of a list of parts, those that are text and not thinking."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")
