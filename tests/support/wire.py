"""One scripted HTTP server on loopback that speaks each provider's stream at the wire, with a network's faults.

A script is a list of replies, one for each request, and must be used up exactly. Knows nothing of the app.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

SECRET = "sk-secret-123"
SERVER_WORDS = "zebra crossing"
"""Both stand in every refusal, as servers do quote keys: neither may come through to the user."""

Fault = Literal["", "reset", "cut", "hang"]


@dataclass(frozen=True)
class Reply:
    """What one request gets.

    `parts` are written one by one as chunks of a stream, `pause` seconds apart, `burst` of them together, `wait`
    seconds after the request came; without `parts`, `body` goes out whole. `repeat` follows over and over until the
    client leaves. `fault`, behind all that: `reset` (RST), `cut` (a clean end in mid-message), `hang` (silence until
    the client leaves). `status` 0: nothing at all before the fault.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    parts: tuple[bytes, ...] = ()
    repeat: bytes = b""
    wait: float = 0.0
    pause: float = 0.0
    burst: int = 1
    fault: Fault = ""


@dataclass(frozen=True)
class Seen:
    """A request that came in, `at` seconds of the monotonic clock; `body` as JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    at: float


class _Gone(Exception):
    """The client has left, or the test is over."""


class Wire:
    """`async with Wire([reply, …], standing={path: reply}) as wire`: `wire.url` answers as the script says.

    A path in `standing` is always answered so and is not part of the script: what an adapter asks beside the talk.
    `seen` and `beside` keep the requests. The end fails the test when replies are left, requests found none, or a
    connection is still open. `left` is set when a client closed before its answer's end.
    """

    def __init__(
        self,
        script: Sequence[Reply] = (),
        *,
        standing: Mapping[str, Reply] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.seen: list[Seen] = []
        self.beside: list[Seen] = []
        self.left = threading.Event()
        self.troubles: list[str] = []
        self._script = list(script)
        self._standing = dict(standing or {})
        self._tls = tls
        self._over = threading.Event()
        self._change = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self.url = ""
        self._accepting = threading.Thread(target=self._accept, name="wire", daemon=True)

    async def __aenter__(self) -> Wire:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http{'s' if self._tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"
        self._accepting.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None and not await self.closed():
            self.troubles.append("a connection is still open")
        await asyncio.to_thread(self._stop)
        if kind is None:
            if self._script:
                self.troubles.append(f"{len(self._script)} replies were not asked for")
            assert not self.troubles, "; ".join(self.troubles)

    def reply(self, body: Any) -> Reply | None:
        """What the next request gets; a wire that answers by what it is asked overrides this."""
        return self._script.pop(0) if self._script else None

    async def closed(self, seconds: float = 3.0) -> bool:
        """Waits until no client is connected; whether that came."""

        def wait() -> bool:
            with self._change:
                return self._change.wait_for(lambda: not self._threads, seconds)

        return await asyncio.to_thread(wait)

    async def client_left(self, seconds: float = 5.0) -> bool:
        """Waits until a client has closed before its answer's end; whether one did."""
        return await asyncio.to_thread(self.left.wait, seconds)

    def _stop(self) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self._listener.close()
        self._accepting.join(5)
        with self._change:
            self._change.wait_for(lambda: not self._threads, 5)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            with self._change:
                self._threads.add(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock.settimeout(2)
                sock = self._tls.wrap_socket(sock, server_side=True)
            while self._one(sock):
                pass
        except (_Gone, OSError):
            pass
        finally:
            sock.close()
            with self._change:
                self._threads.discard(threading.current_thread())
                self._change.notify_all()

    def _one(self, sock: socket.socket) -> bool:
        """Answers one request; whether the connection may carry another."""
        request = self._read(sock)
        if request is None:
            return False
        if (reply := self._standing.get(request.path)) is not None:
            self.beside.append(request)
        else:
            self.seen.append(request)
            with self._change:
                reply = self.reply(request.body)
            if reply is None:
                self.troubles.append(f"one request too many: {request.method} {request.path}")
                reply = Reply(599, body=b"{}")
        try:
            self._answer(sock, reply)
        except (_Gone, OSError):
            self.left.set()
            raise _Gone from None
        return not reply.fault

    def _read(self, sock: socket.socket) -> Seen | None:
        data = b""
        while b"\r\n\r\n" not in data:
            self._sleep(sock, None)
            more = sock.recv(65536)
            if not more:
                return None
            data += more
            if not data[:1].isalpha():  # somebody speaks TLS to a server without it
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                return None
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += sock.recv(65536)
        method, path, _ = first.split(" ", 2)
        return Seen(method, path, headers, json.loads(body) if body else None, time.monotonic())

    def _answer(self, sock: socket.socket, reply: Reply) -> None:
        self._sleep(sock, reply.wait)
        if reply.status:
            streams = bool(reply.parts or reply.repeat)
            size = {"transfer-encoding": "chunked"} if streams else {"content-length": str(len(reply.body))}
            headers = {"content-type": "application/json", **size, **reply.headers}
            lines = [f"HTTP/1.1 {reply.status} Said", *(f"{k}: {v}" for k, v in headers.items())]
            sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            if not streams:
                sock.sendall(reply.body)
            for place in range(0, len(reply.parts), reply.burst):
                if place and reply.pause:
                    self._sleep(sock, reply.pause)
                sock.sendall(b"".join(map(_chunk, reply.parts[place : place + reply.burst])))
            many = _chunk(reply.repeat) * (20 if reply.pause == 0 else 1)
            while reply.repeat:
                self._sleep(sock, reply.pause)
                sock.sendall(many)
            if streams and not reply.fault:
                sock.sendall(b"0\r\n\r\n")
        if reply.fault == "hang":
            self._sleep(sock, None)
            raise _Gone
        if reply.fault == "reset":
            # What was written must have arrived: a reset throws away what the peer has not read yet.
            self._sleep(sock, 0.02)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _sleep(self, sock: socket.socket, seconds: float | None) -> None:
        """Waits that long; None: until the client writes. Raises _Gone when it leaves meanwhile."""
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if self._over.is_set():
                raise _Gone
            rest = 0.05 if end is None else min(0.05, max(0.0, end - time.monotonic()))
            if select.select([sock], [], [], rest)[0]:
                if end is None and (isinstance(sock, ssl.SSLSocket) or sock.recv(1, socket.MSG_PEEK)):
                    return
                raise _Gone
            if end is not None and time.monotonic() >= end:
                return


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


# -- how providers speak ---------------------------------------------------------------------------

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
    """How a provider of OpenAI's protocol speaks, OpenAI's own way: what the others do otherwise, they override."""

    name = "openai"
    model = "gpt-4.1-mini"
    path = "/v1"
    about: Mapping[str, Any] = {"service_tier": "default", "system_fingerprint": "fp_1"}
    first: Mapping[str, Any] | None = {"role": "assistant", "content": "", "refusal": None}
    each: Mapping[str, Any] = {}

    def answer(
        self,
        words: Iterable[str] = ("Paris", " is", " it."),
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
        **how: Any,
    ) -> Reply:
        """A whole streamed answer; `usage`: tokens in, out, cached."""
        return Reply(200, SSE, parts=(*self.parts(words, finish=finish, calls=calls, usage=usage), DONE), **how)

    def parts(
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
    ) -> tuple[bytes, ...]:
        """The answer's events: the role, the words, the tools' calls in fragments, the finish, the usage."""
        out = [self._delta(self.first)] if self.first is not None else []
        out += [self._delta({**self.each, "content": word}) for word in words]
        for delta in self._calls(calls):
            out.append(self._delta(delta))
        if finish:
            out.append(self._delta({}, finish))
        if usage[0]:
            out.append(event({**self._head(), "choices": [], "usage": self._usage(usage)}))
        return tuple(out)

    def delta(self, word: str) -> bytes:
        """One event with a piece of text."""
        return self._delta({**self.each, "content": word})

    def refusal(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "invalid_request_error",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An error as it tells one; the server's words and a key are in it."""
        error = {"message": _marked(message), "type": kind, "param": param, "code": code}
        return whole(status, {"error": error}, headers)

    def wrong_key(self) -> Reply:
        """What a wrong key gets."""
        return self.refusal(401, f"Incorrect API key provided: {SECRET}.", code="invalid_api_key")

    def no_model(self) -> Reply:
        """What an unknown model gets."""
        return self.refusal(
            404, f"The model `{self.model}` does not exist or you do not have access to it.", code="model_not_found"
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
            yield {"tool_calls": [start]}
            for place in range(0, len(arguments), 5):
                yield {"tool_calls": [{"index": number, "function": {"arguments": arguments[place : place + 5]}}]}


class Anthropic(Speech):
    """Anthropic's endpoint for OpenAI's protocol: the role in every delta, its own kind of errors."""

    name = "anthropic"
    model = "claude-haiku-4-5"
    about: Mapping[str, Any] = {}
    first = None
    each: Mapping[str, Any] = {"role": "assistant"}

    def refusal(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "invalid_request_error",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An error of Anthropic's API."""
        kinds = {
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            429: "rate_limit_error",
            500: "api_error",
            529: "overloaded_error",
        }
        error = {"type": kinds.get(status, kind), "message": _marked(message)}
        return whole(status, {"type": "error", "error": error, "request_id": "req_1"}, headers)

    def wrong_key(self) -> Reply:
        """What a wrong key gets."""
        return self.refusal(401, "invalid x-api-key")

    def no_model(self) -> Reply:
        """What an unknown model gets."""
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
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
    ) -> tuple[bytes, ...]:
        """The answer's events; the finish comes with the last piece."""
        deltas = [{**self.each, "content": word} for word in words]
        deltas += list(self._calls(calls)) or ([] if deltas else [{"role": "assistant"}])
        last = len(deltas) - 1
        return tuple(
            event(
                {
                    **self._head(),
                    "choices": [
                        {"index": 0, "delta": d, **({"finish_reason": finish} if n == last and finish else {})}
                    ],
                    "usage": {
                        "prompt_tokens": usage[0],
                        "completion_tokens": min(n + 1, usage[1]),
                        "total_tokens": usage[0] + n,
                        "prompt_tokens_details": {"cached_tokens": usage[2]},
                    },
                }
            )
            for n, d in enumerate(deltas)
        )

    def refusal(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "INVALID_ARGUMENT",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An error in a list."""
        names = {
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            500: "INTERNAL",
            503: "UNAVAILABLE",
        }
        error = {"code": status, "message": _marked(message), "status": names.get(status, "INVALID_ARGUMENT")}
        return whole(status, [{"error": error}], headers)

    def wrong_key(self) -> Reply:
        """What a wrong key gets: a status like a bad request's."""
        return self.refusal(400, "API key not valid. Please pass a valid API key.")

    def no_model(self) -> Reply:
        """What an unknown model gets."""
        return self.refusal(404, f"models/{self.model} is not found for API version v1main.")

    def models(self, *names: str) -> Reply:
        """The list of models, each name with its kind before it."""
        data = [{"id": f"models/{name}", "object": "model", "owned_by": "google"} for name in names]
        return whole(200, {"object": "list", "data": data})

    def _calls(self, calls: Sequence[Call]) -> Iterable[dict[str, Any]]:
        for id, name, arguments in calls:
            call = {"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            yield {"role": "assistant", "tool_calls": [call]}


class LlamaCpp(Speech):
    """llama.cpp's server: a first delta without text, timings, its own error types."""

    name = "compatible"
    model = "tiny"
    about: Mapping[str, Any] = {"system_fingerprint": "b6000-abc"}
    first: Mapping[str, Any] | None = {"role": "assistant", "content": None}

    def wrong_key(self) -> Reply:
        """What a wrong key gets."""
        return self.refusal(401, "Invalid API Key", kind="authentication_error")

    def models(self, *names: str, n_ctx: int = 4096) -> Reply:
        """Both lists that it gives; the context's size is in `meta`."""
        data = [{"id": n, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": n_ctx}} for n in names]
        return whole(200, {"models": [{"name": n, "model": n} for n in names], "object": "list", "data": data})

    def _usage(self, usage: tuple[int, int, int]) -> dict[str, Any]:
        return {**super()._usage(usage), "timings": {"prompt_n": usage[0], "predicted_per_second": 60.0}}


class Vllm(Speech):
    """vLLM behind FastAPI: errors at the top level, or a plain `detail`."""

    name = "vllm"
    model = "org/tiny"

    def refusal(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "BadRequestError",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An error without the `error` around it."""
        error = {"object": "error", "message": _marked(message), "type": kind, "param": param, "code": status}
        return whole(status, error, headers)

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

    def parts(
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
    ) -> tuple[bytes, ...]:
        """The answer's events, comments before and among them."""
        parts = super().parts(words, finish=finish, calls=calls, usage=usage)
        return (self.comment, self.comment, *parts[:1], self.comment, *parts[1:])

    def broken(self, words: Iterable[str], code: int | str = 502) -> Reply:
        """Words, and an error as an event behind them."""
        error = {"code": code, "message": _marked("Provider disconnected")}
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        fault = event({**self._head(), "error": error, "choices": [choice]})
        return Reply(200, SSE, parts=(self.comment, *map(self.delta, words), fault))


class Ollama:
    """Ollama's own protocol."""

    name = "ollama"
    model = "tiny:latest"
    path = ""

    def answer(
        self,
        words: Iterable[str] = ("Paris", " is", " it."),
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
        **how: Any,
    ) -> Reply:
        """A whole streamed answer."""
        return Reply(200, NDJSON, parts=self.parts(words, finish=finish, calls=calls, usage=usage), **how)

    def parts(
        self,
        words: Iterable[str],
        *,
        finish: str = "stop",
        calls: Sequence[Call] = (),
        usage: tuple[int, int, int] = (21, 3, 0),
    ) -> tuple[bytes, ...]:
        """The answer's lines; a tool's call comes whole."""
        out = [self.delta(word) for word in words]
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

    def refusal(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An error: one text."""
        return whole(status, {"error": _marked(message)}, headers)

    def wrong_key(self) -> Reply:
        """What a proxy before it says."""
        return self.refusal(401, "unauthorized")

    def no_model(self) -> Reply:
        """What an unknown model gets."""
        return self.refusal(404, f"model '{self.model}' not found")

    def models(self, *names: str) -> Reply:
        """The list of models."""
        return whole(200, {"models": [{"name": n, "model": n, "size": 1, "digest": "d"} for n in names]})

    def standing(self, *names: str, capabilities: Sequence[str] = ("completion", "tools")) -> dict[str, Reply]:
        """What it answers to all that is asked beside the talk."""
        running = [{"name": n, "model": n, "size": 1, "context_length": 4096} for n in names]
        return {
            "/api/tags": self.models(*names),
            "/api/show": whole(200, {"model_info": {}, "capabilities": list(capabilities)}),
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
