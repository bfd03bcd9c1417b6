"""One answer from Ollama: the request, its retries and its error messages."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from app.backend.attempts import AnswerAttempts, Finish
from app.backend.base import (
    BackendError,
    ChatRequest,
    Message,
    StreamItem,
    Thinking,
    Usage,
    token_count,
    without_secrets,
)
from app.backend.dialect import EFFORTS, MORE_ROOM, Refusal, RequestForm, tool_schemas
from app.backend.faults import Failure, Rule, is_connect_timeout, is_reset, match_rules, no_connection, refused_answer
from app.backend.model_record import ModelRecord
from app.backend.thinking import AnswerFilter
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolCall, ToolCallMessage, ToolMessage
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_ARGUMENTS, TOOL_CALLS, Refused

DEFAULT_URL = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True)
class OllamaServer:
    """The server and the requested model, as named in messages."""

    base_url: str = field(repr=False)
    model: str

    @property
    def address(self) -> str:
        """The address without secrets."""
        return without_secrets(self.base_url)

    @property
    def where(self) -> str:
        """The server's name in messages, including its address unless it is the default."""
        return f"Ollama ({self.address})" if self.address != DEFAULT_URL else "Ollama"


def no_model(model: str) -> BackendError:
    """Returns the error for a model that the server doesn't have."""
    return BackendError(
        f"Ollama does not have the model “{model}”. Get it (“ollama pull {model}”), or choose another model.", "model"
    )


def status_of(error: Exception) -> int:
    """Returns the HTTP status of an exception from the `ollama` package, or 0 for other exceptions."""
    return getattr(error, "status_code", 0)


def explain(error: Exception, server: OllamaServer, *, mid_answer: bool = False) -> BackendError:
    """Converts an exception to a BackendError. Re-raises the exception if it is a bug in this app."""
    if isinstance(error, BackendError):
        return error
    if refused := refused_answer(error, server.where):
        return refused
    failure = Failure(error, status_of(error), str(error).lower()[:2_000], mid_answer)
    if failure.status == 404 and "model" in failure.complaint:
        return no_model(server.model)
    if not mid_answer and _cannot_connect(error):
        if is_connect_timeout(error):
            return no_connection(error, server.where)
        return no_connection(error, f"{server.address} (Ollama)", "Start it (“ollama serve”)")
    explained = match_rules(failure, _RULES, where=server.where, model=server.model, address=server.address)
    if explained is None:
        raise error
    return explained


def _broken_off(error: Exception) -> bool:
    import httpx

    return isinstance(error, EOFError | httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)


def _cannot_connect(error: Exception) -> bool:
    import httpx

    if _broken_off(error) or isinstance(error, TimeoutError | httpx.TimeoutException):
        return isinstance(error, httpx.ConnectTimeout)
    return isinstance(error, httpx.HTTPError | OSError)


def _timed_out(f: Failure) -> bool:
    import httpx

    return f.status in (408, 504) or isinstance(f.error, TimeoutError | httpx.TimeoutException)


def _told_in_stream(f: Failure) -> bool:
    import ollama

    return isinstance(f.error, ollama.ResponseError)


_RULES: tuple[Rule, ...] = (
    (
        lambda f: f.mid_answer,
        "broken",
        "Ollama broke off in mid-answer. What was received is spoken; ask again, or choose another model.",
    ),
    (
        lambda f: f.status in (401, 403),
        "key",
        "{where} denies this app access. Check what it requires, or choose another model.",
    ),
    (
        lambda f: f.status != 0 and "memory" in f.complaint,
        "model",
        "There is not enough memory on this machine for “{model}”. Close other programs, or choose a smaller model.",
    ),
    (
        lambda f: f.status == 429,
        "quota",
        "{where} is overloaded just now. Ask again in a while, or choose another model.",
    ),
    (
        lambda f: f.status in (503, 529),
        "server",
        "{where} is overloaded just now. Ask again in a while, or choose another model.",
    ),
    (
        _timed_out,
        "timeout",
        "{where} did not answer in time. Check whether it hangs, or choose another model.",
    ),
    (
        lambda f: f.status == 400,
        "request",
        "{where} does not accept the request for “{model}”. Choose another model.",
    ),
    (
        lambda f: f.status == 404,
        "setup",
        "The server at {address} is not Ollama. Check the address, or choose another model.",
    ),
    (
        lambda f: f.status > 0,
        "server",
        "{where} has an internal error (status {status}). Look at its log, or choose another model.",
    ),
    (
        _told_in_stream,
        "server",
        "{where} reports an error. Look at its log, or choose another model.",
    ),
    (
        lambda f: _broken_off(f.error),
        "broken",
        "{where} broke off before it answered. Ask again, or choose another model.",
    ),
    (
        lambda f: isinstance(f.error, ValueError | TypeError | AttributeError | LookupError | RecursionError),
        "broken",
        "What answers at {address} does not speak as Ollama does. Check the address, or choose another model.",
    ),
)
"""Rules that map a failure to its message; the first match wins."""


def explain_pull(error: Exception, server: OllamaServer) -> BackendError:
    """Returns the error for a failed download of `server.model`."""
    model = server.model
    if isinstance(error, EOFError) or is_reset(error):
        return BackendError(
            f"Ollama broke off while it fetched “{model}”. What was downloaded is kept; choose it again to continue.",
            "broken",
        )
    if not _told_in_stream(Failure(error, 0, "")):
        return explain(error, server)
    text = str(error).lower()
    if status_of(error) in (405, 501) or (status_of(error) == 404 and "model" not in text):
        return BackendError(
            f"{server.where} can't download models: it is another server with Ollama's protocol. Add “{model}” to it "
            "by its own means, or choose a model that it has.",
            "setup",
        )
    if "not exist" in text or "not found" in text or status_of(error) == 404:
        return BackendError(f"There is no model “{model}” to fetch. Check the spelling.", "model")
    if "space" in text:
        return BackendError(f"The disk is too full for “{model}”. Make room where Ollama keeps its models.", "setup")
    return BackendError(
        f"Ollama could not fetch “{model}”. Check the network and try again; what was downloaded is kept.", "server"
    )


KEEP_ALIVE = "30m"
"""How long the model stays loaded after each request during a conversation."""
_TRANSIENT = {408, 429, 500, 502, 503, 504, 529}


def first_form(shown: Mapping[str, Any]) -> RequestForm:
    """Returns the form for a model's requests according to `/api/show`, as far as it is known.

    The efforts are values of `think`; "none" stands for False.
    """
    capabilities, thinking = shown.get("capabilities"), shown.get("thinking")
    efforts: tuple[str, ...] = ("none",)
    tools = True
    if isinstance(capabilities, list):
        efforts = efforts if "thinking" in capabilities else ()
        tools = "tools" in capabilities
    if isinstance(thinking, dict) and isinstance(values := thinking.get("values"), list):
        listed = {"none" if value is False else value for value in values if isinstance(value, str | bool)}
        efforts = tuple(effort for effort in EFFORTS if effort in listed)
    room = MORE_ROOM if efforts and "none" not in efforts else 1  # its thinking can't be disabled
    return RequestForm(limits=("num_predict",), room=room, efforts=efforts, tools=tools)


class OllamaAnswer(AnswerAttempts):
    """The request attempts for a single answer. `client`: an `ollama.AsyncClient`."""

    def __init__(
        self, request: ChatRequest, server: OllamaServer, client: Any, record: ModelRecord, first: RequestForm
    ) -> None:
        super().__init__(request, f"“{server.model}” in Ollama", record, first)
        self._server, self._client = server, client

    async def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        request, form, answer = self.request, self.form, self.filter()
        options: dict[str, Any] = {"temperature": request.temperature, "num_predict": form.room_for(request)}
        more: dict[str, Any] = {}
        if form.efforts:
            more["think"] = False if form.efforts[0] == "none" else form.efforts[0]
        if request.tools and form.tools and request.may_call:  # Ollama has no tool_choice
            more["tools"] = tool_schemas(request)
        stream = await self._client.chat(
            model=self._server.model,
            messages=list(_messages(request.messages)),
            stream=True,
            keep_alive=KEEP_ALIVE,
            options=options,
            **more,
        )
        async with aclosing(stream):
            async for item in self.filtered(answer, self._read(stream, answer)):
                yield item

    async def _read(self, stream: Any, answer: AnswerFilter) -> AsyncGenerator[StreamItem | Finish, None]:
        """Yields the items of a response from the `ollama` package."""
        begun, calls = False, 0
        async for part in stream:
            if not begun:
                begun = True
                for notice in self.accepted():
                    yield notice
            if thought := part.message.thinking or "":
                if self.form.efforts[:1] == ("none",) and self.form.room == 1:
                    self.record.thinks("low", "none")  # its thinking can't be disabled, but perhaps be kept short
                yield Thinking(len(thought), thought)
            for call in part.message.tool_calls or ():
                calls += 1
                if calls > TOOL_CALLS:
                    raise ValueError("too many tool calls")
                arguments = json.dumps(dict(call.function.arguments), ensure_ascii=False)
                yield ToolCall(f"call-{calls}", call.function.name, arguments)
            words = answer.push(text := part.message.content or "")
            if answer.thinking:
                yield Thinking(len(text), text)
            yield words
            if part.done or answer.over:
                yield answer.flush()
                if part.eval_count is not None:
                    yield Usage(token_count(part.prompt_eval_count), token_count(part.eval_count))
                yield Finish(part.done_reason or "")
                return
        raise EOFError

    def learn(self, error: Exception) -> bool:
        text = str(error)
        return (
            status_of(error) == 400 and re.search(r"think|tool", text, re.I) is not None and self.adapt(Refusal(text))
        )

    def is_loading(self, error: Exception) -> bool:
        return status_of(error) == 503 and "loading" in str(error).lower()

    def retry_wait(self, error: Exception, usual: float) -> float | None:
        # The server may be busy, restarting a crashed runner, or have closed an idle connection.
        helps = "memory" not in str(error).lower() and (status_of(error) in _TRANSIENT or is_reset(error))
        return usual if helps else None

    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        return explain(error, self._server, mid_answer=mid_answer)


def _messages(messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    for message in messages:
        match message:
            case ChatMessage(role, content):
                yield {"role": role, "content": content}
            case ToolCallMessage(calls, content):
                yield {
                    "role": "assistant",
                    "content": content,
                    "tool_calls": [{"function": {"name": c.name, "arguments": _object(c.arguments)}} for c in calls],
                }
            case ToolMessage(_, name, text):
                yield {"role": "tool", "tool_name": name, "content": text}


def _object(text: str) -> dict[str, Any]:
    """Parses a JSON object; returns an empty one on failure, since Ollama only accepts objects."""
    try:
        value: dict[str, Any] = read_json(text, TOOL_ARGUMENTS)
    except Refused:
        return {}
    return value
