"""The answers of servers of language models: streamed, in one piece, lists of models, errors."""

import functools
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import strategies as st

from app.backend import attempts
from app.backend.base import Backend, BackendError, ChatRequest, StreamItem
from app.backend.ollama import OllamaBackend
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolCall, ToolSpec, object_schema
from app.untrusted.text import harmless
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import framed, json_bytes, lines_of, unframed
from tests.fuzz.server import Delivered, serving

KEY = "sk-fuzz-0123456789abcdef0123"
_CLOCK = ToolSpec("clock", "Tells the time.", object_schema({"zone": {"type": "string"}}))
_REQUEST = ChatRequest((ChatMessage("user", "Where is it?"),), max_tokens=50, tools=(_CLOCK,))
_CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "clock", "arguments": '{"zone": "UTC"}'}}


def _chunk(delta: Any, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None, **more}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}
_EVENTS = [
    _chunk({"role": "assistant", "content": "Paris"}),
    _chunk({"content": " is it \U0001f600."}),
    _chunk({"tool_calls": [_CALL]}),
    _chunk({}, finish_reason="stop"),
    {"id": "c", "choices": [], "usage": _USAGE},
    {"error": {"message": f"no, {KEY}", "code": 429, "type": "x"}},
]
_WHOLE = [
    {"choices": [{"message": {"content": "Paris", "tool_calls": [_CALL]}, "finish_reason": "stop"}], "usage": _USAGE},
    {"choices": [{"message": {"content": [{"type": "text", "text": "Paris"}]}}]},
    {"error": {"message": f"no, {KEY}", "code": 400}},
]
_LIST = [
    {
        "object": "list",
        "data": [{"id": "m", "object": "model", "meta": {"n_ctx": 100}}, {"id": "n", "max_model_len": 9}],
    },
    [{"id": "m", "context_length": 1000}],
]
_CALLED = {"function": {"name": "clock", "arguments": {"zone": "UTC"}}}
_PARTS = [
    {"model": "m", "created_at": "2026-01-01", "message": {"role": "assistant", "content": "Paris"}, "done": False},
    {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [_CALLED]}},
    {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 3},
    {"error": "model is gone"},
]
_TAGS = [{"models": [{"model": "m:latest", "name": "m:latest", "size": 5, "details": {"family": "x"}}, {"name": "n"}]}]
_SHOW = [
    {
        "capabilities": ["completion", "tools", "thinking"],
        "details": {"family": "x"},
        "model_info": {"a.context_length": 4},
    }
]
_PS = [{"models": [{"model": "m:latest", "name": "m:latest", "context_length": 4096}]}]
_STATUSES = [200] * 50 + [201, 204, 301, 307, 308, 400, 401, 403, 404, 429, 500, 503]
_TYPES = (
    ["text/event-stream"] * 12
    + ["application/json"] * 3
    + ["application/json", "application/x-ndjson", "text/html", "", "x\x7f"]
)
_PLACES = ["", "", "/v1/other", "http://127.0.0.1:9/v1", "https://elsewhere.invalid/", "//x", "\\\\x"]
_HEADS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(_STATUSES),
        "type": st.sampled_from(_TYPES),
        "packed": st.sampled_from([""] * 12 + ["gzip", "gzip", "bomb", "br", "wrong"]),
        "to": st.sampled_from(_PLACES),
        "length": st.booleans(),
    }
)


@functools.cache
def _bomb() -> bytes:
    """Returns 40 MB in 40 KB."""
    return gzip.compress(b'{"a": "' + b" " * 40_000_000 + b'"}')


def _delivered(data: bytes) -> Delivered:
    head, body = unframed(data)
    headers = {"Content-Type": str(head["type"])} if head["type"] else {}
    if head["to"]:
        headers["Location"] = str(head["to"])
    if head["packed"]:
        headers["Content-Encoding"] = "br" if head["packed"] == "br" else "gzip"
        if head["packed"] != "wrong":
            body = _bomb() if head["packed"] == "bomb" else gzip.compress(body, 1)
    return Delivered(body, int(head["status"]), headers, bool(head["length"]))


async def _ask(backend: Backend) -> str:
    """Opens a back-end and asks it; returns the sentence of its error, and checks its words."""
    try:
        await backend.open()
        with mock.patch.object(attempts, "RETRY_SECONDS", 0.001):
            async with backend.stream(_REQUEST) as items:
                async for item in items:
                    _check(item)
    except BackendError as error:
        assert KEY not in str(error)
        return str(error)
    finally:
        await backend.close()
    return ""


def _check(item: StreamItem) -> None:
    if isinstance(item, str):
        assert item == harmless(item), item
    elif isinstance(item, ToolCall):
        assert item.name == harmless(item.name) and item.arguments == harmless(item.arguments)


def _compatible(address: str) -> OpenAICompatibleBackend:
    return OpenAICompatibleBackend(base_url=f"{address}/v1", model="m", api_key=KEY)


def _always(data: bytes) -> Callable[[str, bytes], Delivered]:
    given = _delivered(data)
    return lambda path, body: given


async def _openai_answer(data: bytes, folder: Path) -> str:
    async with serving(_always(data)) as address:
        return await _ask(_compatible(address))


async def _openai_list(data: bytes, folder: Path) -> str:
    async with serving(_always(data)) as address:
        try:
            names = await _compatible(address).models()
        except BackendError as error:
            return str(error)
        assert all(name == harmless(name) for name in names)
        return ""


_OLLAMA = {
    "/api/tags": Delivered(b'{"models": [{"model": "m:latest"}]}'),
    "/api/show": Delivered(b'{"capabilities": ["completion", "tools"]}'),
    "/api/generate": Delivered(b'{"done": true, "response": ""}'),
    "/api/ps": Delivered(b'{"models": []}'),
}


def _ollama(given: Delivered, at: str = "") -> Callable[[str, bytes], Delivered]:
    """Answers as Ollama does, but with `given` at one path, or where it is asked for an answer."""
    otherwise = Delivered(b'{"message": {"content": "Hi"}, "done": true}\n') if at else given
    return lambda path, body: given if path == at else _OLLAMA.get(path, otherwise)


async def _ollama_answer(data: bytes, folder: Path) -> str:
    async with serving(_ollama(_delivered(data))) as address:
        return await _ask(OllamaBackend(base_url=address, model="m:latest"))


async def _ollama_server(data: bytes, folder: Path) -> str:
    """What the server tells about itself and its models."""
    given = _delivered(data)
    path = ("/api/tags", "/api/show", "/api/generate", "/api/ps")[len(data) % 4]
    async with serving(_ollama(given, path)) as address:
        return await _ask(OllamaBackend(base_url=address, model="m:latest" if len(data) % 3 else ""))


async def _ollama_pull(data: bytes, folder: Path) -> str:
    async with serving(_ollama(_delivered(data))) as address:
        told = ""
        try:
            async for words, share in OllamaBackend(base_url=address).pull("m"):
                told = words
                assert words == harmless(words) and share == share
        except BackendError as error:
            return str(error)
        return f"{told}."


def _event(line: bytes) -> bytes:
    return b"data: " + line + b"\n\n"


_STREAMED = st.tuples(lines_of(_EVENTS, 5, _event), st.sampled_from([b"data: [DONE]\n\n", b"", b"data: "])).map(
    b"".join
)
_PULL = [
    {"status": "pulling"},
    {"status": "x", "digest": "sha256:1", "total": 10, "completed": 5},
    {"status": "success"},
    {"error": "pull model manifest: file does not exist"},
]
BOUNDARIES = (
    Boundary("openai-answer", framed(_HEADS, _STREAMED | json_bytes(_WHOLE)), _openai_answer),
    Boundary("openai-models", framed(_HEADS, json_bytes(_LIST)), _openai_list),
    Boundary("ollama-answer", framed(_HEADS, lines_of(_PARTS, 5, lambda line: line + b"\n")), _ollama_answer),
    Boundary("ollama-server", framed(_HEADS, json_bytes(_TAGS + _SHOW + _PS)), _ollama_server),
    Boundary("ollama-pull", framed(_HEADS, lines_of(_PULL, 4, lambda line: line + b"\n")), _ollama_pull),
)
