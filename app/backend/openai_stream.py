"""Reads the items of an answer in OpenAI's protocol, streamed or in one piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

from app.backend.attempts import Finish
from app.backend.base import StreamItem, ToolCall, Usage, token_count
from app.backend.openai_faults import ErrorInAnswer, UnreadableAnswer, WebPage
from app.backend.thinking_tags import ThinkingTagFilter
from app.untrusted.limits import ANSWER, TOOL_ARGUMENTS, TOOL_CALLS
from app.untrusted.workers import read_json_aside


async def read_stream(stream: Any) -> AsyncGenerator[StreamItem | Finish, None]:
    """Yields the items of a response of the package `openai`. Raises its exceptions and those of `openai_faults`."""
    content_type = stream.response.headers.get("content-type", "")
    if "html" in content_type:
        raise WebPage
    if "application/json" in content_type:  # the server does not stream, or only reports an error
        value = await read_json_aside(await stream.response.aread(), ANSWER)
        with _readable():
            items = list(_read_whole(value))
        for item in items:
            yield item
        return
    thoughts, calls = ThinkingTagFilter(), _ToolCalls()
    finish, usage = "", None
    async for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage  # some servers send a running total with every chunk
        text = ""
        with _readable():
            for choice in (chunk.choices or ())[:1]:
                delta = choice.delta
                for part in getattr(delta, "tool_calls", None) or ():
                    calls.add(part)
                text = _text(getattr(delta, "content", None) or getattr(delta, "refusal", None))
                finish = str(choice.finish_reason or finish)
        yield thoughts.push(text)
    yield thoughts.flush()
    for call in calls.all():
        yield call
    if usage:
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0)
        sent, answered = (getattr(usage, name, 0) for name in ("prompt_tokens", "completion_tokens"))
        yield Usage(token_count(sent), token_count(answered), token_count(cached))
    yield Finish(finish)


@contextmanager
def _readable() -> Iterator[None]:
    """Raises UnreadableAnswer where an answer has not the form that the block expects."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise UnreadableAnswer from None


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
        call[0] = str(part.id or call[0])
        if part.function is not None:
            if part.function.name != call[1]:  # some servers repeat it
                call[1] += part.function.name or ""
            call[2] += part.function.arguments or ""
        if len(self._calls) > TOOL_CALLS or max(map(len, call)) > TOOL_ARGUMENTS.bytes:
            raise ValueError

    def all(self) -> Iterator[ToolCall]:
        """Yields the whole calls."""
        for number, (id, name, arguments) in enumerate(self._calls):
            yield ToolCall(id or f"call-{number}", name, arguments or "{}")


def _read_whole(value: dict[str, Any]) -> Iterator[StreamItem | Finish]:
    """Yields the items of an answer in one piece. Raises many errors where it has another form."""
    if value.get("error"):
        raise ErrorInAnswer(value["error"])
    choice = value["choices"][0]
    message = choice["message"]
    thoughts = ThinkingTagFilter()
    yield thoughts.push(_text(message.get("content"))) + thoughts.flush()
    calls = message.get("tool_calls") or ()
    if len(calls) > TOOL_CALLS:
        raise ValueError
    for number, call in enumerate(calls):
        function = call["function"]
        arguments = function.get("arguments") or "{}"
        yield ToolCall(str(call.get("id") or f"call-{number}"), str(function["name"]), str(arguments))
    if isinstance(usage := value.get("usage"), dict):
        yield Usage(token_count(usage.get("prompt_tokens")), token_count(usage.get("completion_tokens")))
    yield Finish(str(choice.get("finish_reason") or ""))


def _text(content: Any) -> str:
    """Returns a message's text; of a list of parts, those that are text and not thinking."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")
