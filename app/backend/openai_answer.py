"""One answer from an OpenAI-compatible server: the request, its retries and the items of the answer.

The request is adapted until the server accepts it. The server may stream the answer or send it as a whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from app.backend.attempts import AnswerAttempts, Finish
from app.backend.base import BackendError, ChatRequest, OpaqueFields, StreamItem, Thinking, Usage, token_count
from app.backend.dialect import RequestForm, without_older_half
from app.backend.faults import is_reset
from app.backend.model_record import ModelRecord
from app.backend.openai_faults import (
    CONTENT,
    KEY,
    NO_MODEL,
    NO_MONEY,
    NOT_LOADED,
    TEMPLATE,
    TOO_LONG,
    TRANSIENT,
    ErrorInAnswer,
    ServerInfo,
    UnreadableAnswer,
    WebPage,
    complaint_of,
    explain,
    is_loading,
    rate_limit,
    refusal_of,
    retry_after,
    status_of,
)
from app.backend.thinking import AnswerFilter
from app.tools.base import ToolCall
from app.untrusted.http import read_json_aside
from app.untrusted.limits import ANSWER, TOOL_ARGUMENTS, TOOL_CALLS


async def read_stream(stream: Any, answer: AnswerFilter) -> AsyncGenerator[StreamItem | Finish, None]:
    """Yields the items of a response from the `openai` package. `answer` takes thinking out of its text.

    Raises that package's exceptions and those of `openai_faults`.
    """
    content_type = stream.response.headers.get("content-type", "")
    if "html" in content_type:
        raise WebPage
    if "application/json" in content_type:  # the server doesn't stream, or reports an error
        value = await read_json_aside(await stream.response.aread(), ANSWER)
        with _readable():
            items = list(_read_whole(value, answer))
        for item in items:
            yield item
        return
    calls, opaque = _ToolCalls(), _Opaque()
    finish, usage = "", None
    async for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage  # some servers send a running total with every chunk
        text = thought = ""
        with _readable():
            for choice in (chunk.choices or ())[:1]:
                delta = choice.delta
                opaque.add(_others(delta), MESSAGE_FIELDS)
                thought = _thought_of(delta)
                for part in getattr(delta, "tool_calls", None) or ():
                    calls.add(part)
                text = _text(getattr(delta, "content", None) or getattr(delta, "refusal", None))
                finish = str(choice.finish_reason or finish)
        words = answer.push(text)
        if thought := thought or (text if answer.thinking else ""):
            yield Thinking(len(thought), thought)
        yield words
        if answer.over:
            break
    yield answer.flush()
    with _readable():
        made = list(calls.all())
        fields = opaque.json() if made else ""
    for call in made:
        yield call
    if fields:
        yield OpaqueFields(fields)
    if usage:
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0)
        sent, answered, total = (
            token_count(getattr(usage, name, 0)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
        )
        # Google and xAI count thinking in the total only.
        yield Usage(sent, max(answered, total - sent), token_count(cached))
    yield Finish(finish)


@contextmanager
def _readable() -> Iterator[None]:
    """Converts the exceptions that a malformed answer causes in the block to UnreadableAnswer."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise UnreadableAnswer from None


MESSAGE_FIELDS = ("reasoning_content", "reasoning_details", "extra_content")
"""The fields of a message that have to be sent back: to DeepSeek and Moonshot, OpenRouter, and Google."""


_NO_THOUGHT = ("role", "type", "id", "object", "name", "status", "model")
"""Fields of a message that hold no thinking. Servers give the one that does any other name."""


def _thought_of(delta: Any) -> str:
    """Returns the thinking in a delta, which is in a field of its own, of any name, or in parts of the content."""
    fields = (text for name, text in _others(delta).items() if name not in _NO_THOUGHT and isinstance(text, str))
    content = getattr(delta, "content", None)
    parts = content if isinstance(content, list) else ()
    thinking = (str(part.get("thinking") or "") for part in parts if isinstance(part, dict))
    return max(fields, key=len, default="") + "".join(thinking)


def _others(part: Any) -> dict[str, Any]:
    """Returns the fields of a part of an answer that the `openai` package doesn't know."""
    return getattr(part, "model_extra", None) or {}


class _Opaque:
    """Assembles streamed fields that this app doesn't interpret: strings and lists are continued, others replaced."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def add(self, fields: Mapping[str, Any], names: Collection[str] | None = None) -> None:
        """Adds the next fragments of the fields in `names`, or of all fields."""
        for name, value in fields.items():
            if value is None or (names is not None and name not in names):
                continue
            before = self._fields.get(name)
            if isinstance(value, str) and isinstance(before, str):
                self._fields[name] = before + value
            elif isinstance(value, list) and isinstance(before, list):
                self._fields[name] = [*before, *value]
            else:
                self._fields[name] = value

    def json(self) -> str:
        """Returns the fields as a JSON object; empty if there are none. Raises ValueError if they are too long."""
        text = json.dumps(self._fields) if self._fields else ""
        if len(text) > ANSWER.bytes:
            raise ValueError
        return text


class _ToolCalls:
    """Assembles streamed tool calls from their fragments."""

    def __init__(self) -> None:
        self._calls: list[list[str]] = []  # id, name, arguments
        self._opaque: list[_Opaque] = []
        self._places: dict[int, int] = {}

    def add(self, part: Any) -> None:
        """Adds the next fragment. Raises ValueError if a limit is exceeded."""
        index = part.index or 0
        place = self._places.get(index)
        if place is None or (part.id and self._calls[place][0] not in ("", part.id)):  # Google's calls all have index 0
            place = self._places[index] = len(self._calls)
            self._calls.append(["", "", ""])
            self._opaque.append(_Opaque())
        call = self._calls[place]
        self._opaque[place].add(_others(part))
        call[0] = str(part.id or call[0])
        if part.function is not None:
            if part.function.name != call[1]:  # some servers repeat the name
                call[1] += part.function.name or ""
            call[2] += part.function.arguments or ""
        if len(self._calls) > TOOL_CALLS or max(map(len, call)) > TOOL_ARGUMENTS.bytes:
            raise ValueError

    def all(self) -> Iterator[ToolCall]:
        """Yields the complete calls."""
        for number, (id, name, arguments) in enumerate(self._calls):
            yield ToolCall(id or f"call-{number}", name, arguments or "{}", self._opaque[number].json())


def _read_whole(value: dict[str, Any], answer: AnswerFilter) -> Iterator[StreamItem | Finish]:
    """Yields the items of a non-streamed answer. Raises various exceptions if it is malformed."""
    if value.get("error"):
        raise ErrorInAnswer(value["error"])
    choice = value["choices"][0]
    message = choice["message"]
    yield answer.push(_text(message.get("content"))) + answer.flush()
    calls = message.get("tool_calls") or ()
    if len(calls) > TOOL_CALLS:
        raise ValueError
    for number, call in enumerate(calls):
        function = call["function"]
        arguments = function.get("arguments") or "{}"
        others = _Opaque()
        others.add({name: value for name, value in call.items() if name not in ("id", "type", "index", "function")})
        name = str(function["name"])
        yield ToolCall(str(call.get("id") or f"call-{number}"), name, str(arguments), others.json())
    if calls:
        fields = _Opaque()
        fields.add(message, MESSAGE_FIELDS)
        if text := fields.json():
            yield OpaqueFields(text)
    if isinstance(usage := value.get("usage"), dict):
        sent, total = token_count(usage.get("prompt_tokens")), token_count(usage.get("total_tokens"))
        yield Usage(sent, max(token_count(usage.get("completion_tokens")), total - sent))
    yield Finish(str(choice.get("finish_reason") or ""))


def _text(content: Any) -> str:
    """Returns a message's text. If the content is a list of parts, joins their text, omitting thinking."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


LONGEST_RETRY_SECONDS = 2.5
"""If a server asks for a longer delay than this, the failure is reported to the user instead of retried."""


class OpenAIAnswer(AnswerAttempts):
    """The request attempts for a single answer.

    - `create` sends a request in a form, and `extra` are the names of the parameters that it adds.
    - `accepted_request` is called with the request that the server accepted, which may have had to be shorter.
    """

    def __init__(
        self,
        request: ChatRequest,
        server: ServerInfo,
        record: ModelRecord,
        first: RequestForm,
        create: Callable[[RequestForm, ChatRequest], Any],
        accepted_request: Callable[[ChatRequest], None],
        extra: Collection[str] = (),
    ) -> None:
        super().__init__(request, server.name, record, first)
        self._server = server
        self._create, self._accepted_request = create, accepted_request
        self._extra = extra
        self._response: Any = None

    @property
    def received(self) -> int:
        """How many bytes of the current answer have been received, including comments."""
        return self._response.num_bytes_downloaded if self._response is not None else 0

    def filter(self) -> AnswerFilter:
        return AnswerFilter(thinks=self.form.room > 1) if self._server.known else super().filter()

    async def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        self._response = None
        try:
            opened = await self._create(self.form, self.request)
        except Exception as error:
            self._learn_limit(getattr(error, "response", None))
            self._learn_key(status_of(error), bool(KEY.search(complaint_of(error))))
            raise
        async with opened as stream:
            self._response = stream.response
            self._learn_limit(stream.response)
            self._learn_key(200)
            self._accepted_request(self.request)
            for notice in self.accepted():
                yield notice
            answer = self.filter()
            async for item in self.filtered(answer, read_stream(stream, answer)):
                yield item

    def learn(self, error: Exception) -> bool:
        status, complaint = status_of(error), complaint_of(error)
        if status in (400, 413, 422) and TOO_LONG.search(complaint) and (less := without_older_half(self.request)):
            self.request = less
            return True
        return _is_refusal(status, complaint) and self.adapt(refusal_of(error), self._extra)

    def _learn_limit(self, response: Any) -> None:
        """Records the rate limit that the server states with each answer."""
        limit, rest = rate_limit(getattr(response, "headers", None) or {})
        budget = self.record.pace.budget
        if limit is not None:
            budget.stated(limit)
        if rest:
            budget.rests_until = max(budget.rests_until, asyncio.get_running_loop().time() + rest)

    def _learn_key(self, status: int, refused_key: bool = False) -> None:
        if status in (401, 403) or (status == 400 and refused_key):
            self.record.wants_key = True
        elif status == 200 and not self._server.has_key:
            self.record.wants_key = False

    def is_loading(self, error: Exception) -> bool:
        return is_loading(error)

    def retry_wait(self, error: Exception, usual: float) -> float | None:
        import openai

        status = status_of(error)
        if NO_MONEY.search(complaint_of(error)):
            return None
        if status in TRANSIENT or status == 429:
            wait = retry_after(error) or usual
            return wait if wait <= LONGEST_RETRY_SECONDS else None
        if isinstance(error, openai.APITimeoutError | TimeoutError):
            return None  # the user has already waited long enough
        return usual if is_reset(error) else None

    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        return explain(error, self._server, mid_answer=mid_answer)

    def check_finish(self, reason: str, answered: bool) -> None:
        if reason.startswith(("content_filter", "safety")) or (reason == "refusal" and not answered):
            raise BackendError(
                f"{self._server.where} stopped this answer with its content filter. Ask in other words, or choose "
                "another model.",
                "content",
            )


def _is_refusal(status: int, complaint: str) -> bool:
    """Returns whether a server rejected the form of a request and may therefore accept a different form."""
    others = (KEY, CONTENT, NO_MODEL, NOT_LOADED, NO_MONEY, TOO_LONG)
    other = any(pattern.search(complaint) for pattern in others)
    return (status in (400, 422) and not other) or (status == 500 and bool(TEMPLATE.search(complaint)))
