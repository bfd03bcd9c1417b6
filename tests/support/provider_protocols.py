"""How each provider answers and refuses: the bytes of its protocol, as replies for a `Wire`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.support.wire import Fault, Reply

SECRET = "sk-secret-123"
SERVER_WORDS = "zebra crossing"
"""Both are in every refusal, since real servers quote keys: the user may see neither."""
SSE = {"content-type": "text/event-stream; charset=utf-8"}
NDJSON = {"content-type": "application/x-ndjson"}
DONE = b"data: [DONE]\n\n"
Call = tuple[str, str, str]
"""A tool's call: id, name, arguments as JSON."""


def event(value: Any) -> bytes:
    """One event of a stream of server-sent events."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def line(value: Any) -> bytes:
    """One line of NDJSON."""
    return f"{json.dumps(value, ensure_ascii=False)}\n".encode()


def whole(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply of one piece of JSON."""
    return Reply(status, headers or {}, json.dumps(value).encode())


class Speech:
    """How OpenAI speaks its protocol; other providers override what they do differently."""

    name = "openai"
    model = "gpt-4.1-mini"
    path = "/v1"
    about: Mapping[str, Any] = {"service_tier": "default", "system_fingerprint": "fp_1"}
    first: Mapping[str, Any] | None = {"role": "assistant", "content": "", "refusal": None}
    each: Mapping[str, Any] = {}
    with_call: Mapping[str, Any] = {}
    with_thought: Mapping[str, Any] = {}
    headers: Mapping[str, str] = SSE
    end: tuple[bytes, ...] = (DONE,)

    def __init__(self, **attributes: Any) -> None:
        """`attributes`: what one model's server does differently. `with_call`, `with_thought`: more fields of these."""
        vars(self).update(attributes)

    def answer(self, words: Iterable[str] = ("Paris", " is", " it."), **how: Any) -> Reply:
        """A whole streamed answer. `how`: the options of `parts`, and more fields of the Reply."""
        options = {name: how.pop(name) for name in ("finish", "calls", "usage", "thoughts") if name in how}
        return Reply(200, self.headers, parts=(*self.parts(words, **options), *self.end), **how)

    def parts(
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
        thoughts: Sequence[Mapping[str, Any]] = (),
    ) -> tuple[bytes, ...]:
        """The answer's events: the role, the thoughts, the words, the tools' calls in fragments, the finish, the usage.
        `thoughts`: each as the fields of a delta."""
        out = [self._delta(delta) for delta in self._deltas(words, calls, thoughts)]
        if finish:
            out.append(self._delta({}, finish))
        if usage[0]:
            out.append(event({**self._head(), "choices": [], "usage": self._usage(usage)}))
        return tuple(out)

    def delta(self, word: str) -> bytes:
        """One event with a piece of text."""
        return self._delta({**self.each, "content": word})

    def _deltas(
        self, words: Iterable[str], calls: Sequence[Call], thoughts: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        return [
            *([self.first] if self.first is not None else ()),
            *({**self.each, **self.with_thought, **thought} for thought in thoughts),
            *({**self.each, "content": word} for word in words),
            *self._calls(calls),
        ]

    def refusal(
        self, status: int, message: str = "No.", *, headers: Mapping[str, str] | None = None, **details: str
    ) -> Reply:
        """An error response, whose message contains the server's words and a key. `details`: code, param, kind."""
        return whole(status, self.error(status, _marked(message), details), headers)

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        """The body of an error response."""
        kind = details.get("kind", "invalid_request_error")
        error = {"message": message, "type": kind, "param": details.get("param"), "code": details.get("code")}
        return {"error": error}

    def wrong_key(self) -> Reply:
        """The response to a wrong key."""
        return self.refusal(401, f"Incorrect API key provided: {SECRET}.", code="invalid_api_key")

    def no_model(self) -> Reply:
        """The response to an unknown model."""
        return self.refusal(
            404, f"The model `{self.model}` does not exist or you have no access to it.", code="model_not_found"
        )

    def models(self, *names: str) -> Reply:
        """The list of models."""
        data = [{"id": name, "object": "model", "created": 1, "owned_by": "system"} for name in names]
        return whole(200, {"object": "list", "data": data})

    def _head(self) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_760_000_000,
            "model": self.model,
            **self.about,
        }

    def _delta(self, delta: Any, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**self._head(), "choices": [choice], "usage": None})

    def _usage(self, usage: tuple[int, int, int]) -> dict[str, Any]:
        came, went, cached = usage
        return {
            "prompt_tokens": came,
            "completion_tokens": went,
            "total_tokens": came + went,
            "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def _calls(self, calls: Sequence[Call]) -> Iterable[dict[str, Any]]:
        """In fragments: the first of a call has its id and name, the others pieces of its arguments."""
        for number, (id, name, arguments) in enumerate(calls):
            start = {"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
            yield {"tool_calls": [{**start, **self.with_call}]}
            for place in range(0, len(arguments), 5):
                yield {"tool_calls": [{"index": number, "function": {"arguments": arguments[place : place + 5]}}]}


class Anthropic(Speech):
    """Anthropic's endpoint for OpenAI's protocol: the role in every delta, errors of its own form."""

    name = "anthropic"
    model = "claude-haiku-4-5"
    about: Mapping[str, Any] = {}
    first = None
    each: Mapping[str, Any] = {"role": "assistant"}

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        kinds = {
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            429: "rate_limit_error",
            500: "api_error",
            529: "overloaded_error",
        }
        error = {"type": kinds.get(status, details.get("kind", "invalid_request_error")), "message": message}
        return {"type": "error", "error": error, "request_id": "req_1"}

    def wrong_key(self) -> Reply:
        """The response to a wrong key."""
        return self.refusal(401, "invalid x-api-key")

    def no_model(self) -> Reply:
        """The response to an unknown model."""
        return self.refusal(404, f"model: {self.model}")

    def models(self, *names: str) -> Reply:
        """The list of models, as Anthropic's own API has it."""
        data = [{"type": "model", "id": n, "display_name": n, "created_at": "2025-10-01T00:00:00Z"} for n in names]
        return whole(200, {"data": data, "has_more": False, "first_id": None, "last_id": None})


class Google(Speech):
    """Google's endpoint: the usage in every event, errors in a list, a wrong key a 400, all calls with the number 0."""

    name = "google"
    model = "gemini-2.5-flash"
    path = "/v1beta/openai"
    about: Mapping[str, Any] = {}
    first = None
    each: Mapping[str, Any] = {"role": "assistant"}

    def parts(
        self, words: Iterable[str], *, finish: str = "stop", usage: tuple[int, int, int] = (21, 3, 0), **more: Any
    ) -> tuple[bytes, ...]:
        """The answer's events; the finish comes with the last piece."""
        deltas = self._deltas(words, more.get("calls", ()), more.get("thoughts", ())) or [{"role": "assistant"}]
        last = len(deltas) - 1
        counts = {"prompt_tokens": usage[0], "prompt_tokens_details": {"cached_tokens": usage[2]}}
        came = [usage[1] if n == last else min(n + 1, usage[1]) for n in range(len(deltas))]
        return tuple(
            event(
                {
                    **self._head(),
                    "choices": [
                        {"index": 0, "delta": d, **({"finish_reason": finish} if n == last and finish else {})}
                    ],
                    "usage": {**counts, "completion_tokens": came[n], "total_tokens": usage[0] + came[n]},
                }
            )
            for n, d in enumerate(deltas)
        )

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        names = {
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            500: "INTERNAL",
            503: "UNAVAILABLE",
        }
        return [{"error": {"code": status, "message": message, "status": names.get(status, "INVALID_ARGUMENT")}}]

    def wrong_key(self) -> Reply:
        """The response to a wrong key, with the status of a bad request."""
        return self.refusal(400, "API key not valid. Please pass a valid API key.")

    def no_model(self) -> Reply:
        """The response to an unknown model."""
        return self.refusal(404, f"models/{self.model} is not found for API version v1main.")

    def models(self, *names: str) -> Reply:
        """The list of models, each name with its kind before it."""
        data = [{"id": f"models/{name}", "object": "model", "owned_by": "google"} for name in names]
        return whole(200, {"object": "list", "data": data})

    def _calls(self, calls: Sequence[Call]) -> Iterable[dict[str, Any]]:
        for id, name, arguments in calls:
            call = {"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            yield {"role": "assistant", "tool_calls": [{**call, **self.with_call}]}


class Azure(Speech):
    """Azure: what its content filter says, in chunks without a choice, and in choices without a delta."""

    name = "azure"

    def parts(self, words: Iterable[str], **options: Any) -> tuple[bytes, ...]:
        """The answer's events, with the filter's."""
        safe = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}
        head = {"id": "", "object": "", "created": 0, "model": ""}
        prompt = event({**head, "choices": [], "prompt_filter_results": [{"content_filter_results": safe}]})
        choice = {"index": 0, "finish_reason": None, "content_filter_results": safe, "content_filter_offsets": {}}
        parts = super().parts(words, **options)
        return (prompt, *parts[:2], event({**head, "choices": [choice], "usage": None}), *parts[2:])


class LlamaCpp(Speech):
    """llama.cpp's server: a first delta without text, timings, its own error types."""

    name = "compatible"
    model = "tiny"
    about: Mapping[str, Any] = {"system_fingerprint": "b6000-abc"}
    first: Mapping[str, Any] | None = {"role": "assistant", "content": None}

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        return {"error": {"code": status, "message": message, "type": details.get("kind", "invalid_request_error")}}

    def wrong_key(self) -> Reply:
        """The response to a wrong key."""
        return self.refusal(401, "Invalid API Key", kind="authentication_error")

    def models(self, *names: str, n_ctx: int = 4096) -> Reply:
        """The list of models, in both forms; the size of the context is in `meta`."""
        data = [{"id": n, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": n_ctx}} for n in names]
        return whole(200, {"models": [{"name": n, "model": n} for n in names], "object": "list", "data": data})

    def _usage(self, usage: tuple[int, int, int]) -> dict[str, Any]:
        return {**super()._usage(usage), "timings": {"prompt_n": usage[0], "predicted_per_second": 60.0}}


class Vllm(Speech):
    """vLLM behind FastAPI: errors at the top level, or a plain `detail`."""

    name = "vllm"
    model = "org/tiny"

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        kind = details.get("kind", "BadRequestError")
        return {"object": "error", "message": message, "type": kind, "param": details.get("param"), "code": status}

    def detail(self, status: int, detail: Any) -> Reply:
        """FastAPI's own kind of error."""
        return whole(status, {"detail": detail})

    def models(self, *names: str, max_model_len: int = 1000) -> Reply:
        """The list of models, with how much each reads."""
        data = [{"id": n, "object": "model", "owned_by": "vllm", "max_model_len": max_model_len} for n in names]
        return whole(200, {"object": "list", "data": data})


class OpenRouter(Speech):
    """OpenRouter: comment lines while it waits for a provider, errors inside of a stream."""

    name = "openrouter"
    model = "org/model"
    about: Mapping[str, Any] = {"provider": "Somebody"}
    first = None
    each: Mapping[str, Any] = {"role": "assistant"}
    comment = b": OPENROUTER PROCESSING\n\n"

    def parts(self, words: Iterable[str], **options: Any) -> tuple[bytes, ...]:
        """The answer's events, with comments before and among them."""
        parts = super().parts(words, **options)
        return (self.comment, self.comment, *parts[:1], self.comment, *parts[1:])

    def broken(self, words: Iterable[str], code: int | str = 502) -> Reply:
        """Words, and an error as an event behind them."""
        error = {"code": code, "message": _marked("Provider disconnected")}
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        fault = event({**self._head(), "error": error, "choices": [choice]})
        return Reply(200, SSE, parts=(self.comment, *map(self.delta, words), fault))


class Ollama(Speech):
    """Ollama's own protocol."""

    name = "ollama"
    model = "tiny:latest"
    path = ""
    headers = NDJSON
    end = ()

    def parts(
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
        thoughts: Sequence[Mapping[str, Any]] = (),
    ) -> tuple[bytes, ...]:
        """The answer's lines; a tool's call comes whole."""
        out = [self._line({"role": "assistant", "content": "", **thought}) for thought in thoughts]
        out += [self.delta(word) for word in words]
        for _, name, arguments in calls:
            call = {"function": {"name": name, "arguments": json.loads(arguments)}}
            out.append(self._line({"role": "assistant", "content": "", "tool_calls": [call]}))
        if finish:
            counts = {"prompt_eval_count": usage[0], "eval_count": usage[1]}
            times = {"total_duration": 5_000_000, "load_duration": 1_000, "eval_duration": 3_000_000}
            end = {"role": "assistant", "content": ""}
            out.append(self._line(end, done=True, done_reason=finish, **times, **counts))
        return tuple(out)

    def delta(self, word: str) -> bytes:
        """One line with a piece of text."""
        return self._line({"role": "assistant", "content": word})

    def error(self, status: int, message: str, details: Mapping[str, str]) -> Any:
        return {"error": message}

    def wrong_key(self) -> Reply:
        """The response of a proxy in front of it."""
        return self.refusal(401, "unauthorized")

    def no_model(self) -> Reply:
        """The response to an unknown model."""
        return self.refusal(404, f"model '{self.model}' not found")

    def models(self, *names: str) -> Reply:
        """The list of models."""
        return whole(200, {"models": [{"name": n, "model": n, "size": 1, "digest": "d"} for n in names]})

    def standing(self, *names: str, capabilities: Sequence[str] | None = ("completion", "tools")) -> dict[str, Reply]:
        """The responses to all requests but those for answers. `capabilities`: None for an old server."""
        running = [{"name": n, "model": n, "size": 1, "context_length": 4096} for n in names]
        return {
            "/api/tags": self.models(*names),
            "/api/show": whole(
                200, {"model_info": {}, **({"capabilities": list(capabilities)} if capabilities is not None else {})}
            ),
            "/api/generate": whole(200, {"model": names[0], "response": "", "done": True, "done_reason": "load"}),
            "/api/ps": whole(200, {"models": running}),
        }

    def _line(self, message: dict[str, Any], *, done: bool = False, **more: Any) -> bytes:
        head = {"model": self.model, "created_at": "2026-01-01T00:00:00.000000Z"}
        return line({**head, "message": message, "done": done, **more})


def page(status: int = 200) -> Reply:
    """A web page, as a proxy or a wrong address gives it."""
    text = f"<html><head><title>{status}</title></head><body><h1>{_marked('Bad gateway')}</h1></body></html>"
    return Reply(status, {"content-type": "text/html"}, text.encode())


def broken_off(reply: Reply, parts: int, fault: Fault) -> Reply:
    """`reply` with `parts` of its pieces, and a fault behind them."""
    return replace(reply, parts=reply.parts[:parts], fault=fault)


def _marked(message: str) -> str:
    return f"{message} ({SERVER_WORDS}, {SECRET})"
