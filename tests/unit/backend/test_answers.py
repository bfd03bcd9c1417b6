"""How a request is put and an answer read: what servers mind is learned once, tools, thoughts, usage, lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend import make_backend
from app.backend.base import (
    Backend,
    BackendError,
    ChatRequest,
    Message,
    StreamItem,
    ToolAnswer,
    ToolCall,
    ToolCallMessage,
    Usage,
)
from app.backend.thinking_tags import ThinkingTagFilter
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolSpec, object_schema
from tests.support.wire import NDJSON, SSE, LlamaCpp, OpenRouter, Reply, Speech, Vllm, Wire, event, line, whole
from tests.unit.backend.adapters import ADAPTERS, REQUEST, SPEECHES, ask, check_sentence, fail, make, say, wire_for

TEXT = "Paris is it."
CLOCK = ToolSpec("clock", "Tells the time.", object_schema({"zone": {"type": "string"}}))
each = pytest.mark.parametrize("kind", ADAPTERS)


async def _asked(
    kind: str,
    *script: Reply,
    request: ChatRequest = REQUEST,
    times: int = 1,
    model: str | None = None,
    wire: Wire | None = None,
) -> tuple[list[StreamItem], list[Any]]:
    """The last answer's items, and the bodies of all requests."""
    wire = wire or wire_for(kind, *script)
    async with wire:
        backend = make(kind, wire.url, model=model)
        try:
            await backend.open()
            for _ in range(times):
                items = await ask(backend, request)
        finally:
            await backend.close()
    return items, [seen.body for seen in wire.seen]


def _text(items: list[StreamItem]) -> str:
    return "".join(item for item in items if isinstance(item, str))


# -- a request and an answer -----------------------------------------------------------------------


@each
async def test_a_request_is_put_as_the_provider_wants_it(kind: str) -> None:
    items, [body] = await _asked(kind, SPEECHES[kind].answer())
    assert _text(items) == TEXT
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Where is it?"}]
    common = {"model": SPEECHES[kind].model, "messages": messages, "stream": True}
    limit = "max_completion_tokens" if kind == "openai" else "max_tokens"
    if kind == "ollama":
        options = {"temperature": 0.3, "num_predict": 50}
        assert body == {**common, "tools": [], "keep_alive": "30m", "options": options}
    else:
        effort = {"reasoning_effort": "none"} if kind == "google" else {}
        usage = {"include_usage": True}
        assert body == {**common, limit: 50, "temperature": 0.3, "stream_options": usage, **effort}


async def test_a_model_that_thinks_is_asked_to_think_little() -> None:
    _, [body] = await _asked("openai", SPEECHES["openai"].answer(), model="gpt-5-mini")
    assert body["reasoning_effort"] == "none" and "temperature" not in body
    _, [body] = await _asked("anthropic", SPEECHES["anthropic"].answer(), request=replace(REQUEST, temperature=1.7))
    assert body["temperature"] == 1.0


@each
async def test_usage_is_counted_once(kind: str) -> None:
    items, _ = await _asked(kind, SPEECHES[kind].answer(usage=(2100, 3, 2048)))
    assert [i for i in items if isinstance(i, Usage)] == [Usage(2100, 3, 0 if kind == "ollama" else 2048)]


@pytest.mark.parametrize("speech", [Vllm(), OpenRouter(), LlamaCpp(), Speech()], ids=lambda s: s.name)
async def test_other_servers_dialects_are_read(speech: Speech) -> None:
    items, _ = await _asked("compatible", speech.answer(usage=(9, 3, 1)))
    assert _text(items) == TEXT and Usage(9, 3, 1) in items


@pytest.mark.parametrize("ending", ["no DONE", "no finish", "crlf", "no space", "split data"])
async def test_streams_that_are_written_otherwise(ending: str) -> None:
    answer = SPEECHES["compatible"].answer()
    data = b"".join(answer.parts)
    match ending:
        case "no DONE":
            data = data.replace(b"data: [DONE]\n\n", b"")
        case "no finish":
            data = b"".join((*SPEECHES["compatible"].parts(("Paris", " is", " it."), finish=""), b"data: [DONE]\n\n"))
        case "crlf":
            data = data.replace(b"\n", b"\r\n")
        case "no space":
            data = data.replace(b"data: ", b"data:")
        case "split data":
            data = data.replace(b'{"id"', b'{\ndata: "id"')
    items, _ = await _asked("compatible", replace(answer, parts=(data,)))
    assert _text(items) == TEXT


async def test_an_answer_in_one_piece() -> None:
    """Some servers don't stream, whatever they are asked for."""
    message = {"role": "assistant", "content": "<think>Hm.</think>\n\nParis is it."}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    items, _ = await _asked("compatible", whole(200, body))
    assert _text(items) == TEXT
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}  # type: ignore[index]
    items, _ = await _asked("compatible", whole(200, body))
    assert items == [ToolCall("c1", "clock", "{}")]


async def test_text_in_parts() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": TEXT}]
    chunk = event({**head, "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": "stop"}]})
    items, _ = await _asked("compatible", Reply(200, SSE, parts=(chunk,)))
    assert _text(items) == TEXT


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_without_a_model_the_servers_first_one_answers(kind: str) -> None:
    first = {"openai": "gpt-4.1-mini", "ollama": "tiny:latest"}[kind]
    speech = SPEECHES[kind]
    standing = {**(speech.standing(first) if kind == "ollama" else {})}  # type: ignore[union-attr]
    path = "/api/tags" if kind == "ollama" else "/v1/models"
    async with Wire([speech.answer()], standing={**standing, path: speech.models(first, "second:latest")}) as wire:
        backend = make(kind, wire.url, model="")
        await backend.open()
        assert backend.model == first and await say(backend) == TEXT
        await backend.close()
    assert wire.seen[0].body["model"] == first


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_a_server_without_models_says_so(kind: str) -> None:
    async with Wire([SPEECHES[kind].models()]) as wire:
        backend = make(kind, wire.url, model="")
        with pytest.raises(BackendError, match="no model") as raised:
            await backend.open()
        await backend.close()
    assert raised.value.kind == "model"


async def test_ollama_is_asked_for_what_it_has_and_loads_it() -> None:
    async with wire_for("ollama") as wire:
        backend = make("ollama", wire.url, model="tiny")
        await backend.open()
        assert backend.traits.history_words == 600
        await backend.close()
        await backend.close()
    loads = [seen.body for seen in wire.beside if seen.path == "/api/generate"]
    assert [body["keep_alive"] for body in loads] == ["30m", "5m"] and not any(body.get("prompt") for body in loads)
    async with Wire([SPEECHES["ollama"].models("other:latest")]) as wire:
        backend = make("ollama", wire.url, model="tiny")
        with pytest.raises(BackendError, match="ollama pull tiny") as raised:
            await backend.open()
        await backend.close()
    assert raised.value.kind == "model"


PULLED = tuple(
    line({"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a07", "total": 4_000_000_000, "completed": n * 10**9})
    for n in range(1, 4)
)


@pytest.mark.parametrize(
    ("last", "fault", "kind", "words"),
    [
        ({"error": "pull model manifest: file does not exist"}, "", "model", "no model “gemma3” to fetch"),
        ({"error": "write /models/blobs: no space left on device"}, "", "setup", "disk is too full"),
        ({"error": "max retries exceeded: Get: dial tcp: lookup registry"}, "", "server", "could not fetch"),
        ({"status": "verifying sha256 digest"}, "", "broken", "broke off while it fetched"),
        ({"status": "verifying sha256 digest"}, "cut", "broken", "broke off while it fetched"),
        ({"status": "verifying sha256 digest"}, "reset", "broken", "broke off while it fetched"),
    ],
)
async def test_a_pull_that_fails(last: dict[str, str], fault: Any, kind: str, words: str) -> None:
    reply = Reply(200, NDJSON, parts=(line({"status": "pulling manifest"}), *PULLED, line(last)), fault=fault)
    told = []
    async with wire_for("ollama", reply) as wire:
        with pytest.raises(BackendError, match=words) as raised:
            async for step in make("ollama", wire.url).pull("gemma3"):
                told.append(step)
    check_sentence(raised.value)
    assert raised.value.kind == kind
    assert told[:3] == [("pulling manifest", 0.0), ("1.00 of 4.00 GB", 0.25), ("2.00 of 4.00 GB", 0.5)]
    assert wire.seen[0].body["model"] == "gemma3"


# -- what servers mind -----------------------------------------------------------------------------


def _unsupported(kind: str, name: str, **how: Any) -> Reply:
    return SPEECHES[kind].refusal(400, f"Unsupported parameter: '{name}' is not supported with this model.", **how)


def _without_tokens_limit(body: dict[str, Any]) -> bool:
    return "max_completion_tokens" in body and "max_tokens" not in body


MINDED: dict[str, tuple[str, Reply, Callable[[dict[str, Any]], bool]]] = {
    "max_tokens": ("compatible", _unsupported("compatible", "max_tokens"), _without_tokens_limit),
    "max_completion_tokens": (
        "openai",
        _unsupported("openai", "max_completion_tokens"),
        lambda b: "max_tokens" in b and "max_completion_tokens" not in b,
    ),
    "temperature": (
        "openai",
        _unsupported("openai", "temperature", param="temperature", code="unsupported_value"),
        lambda b: "temperature" not in b,
    ),
    "effort": (
        "google",
        SPEECHES["google"].refusal(400, "Thinking can't be disabled: reasoning_effort"),
        lambda b: b["reasoning_effort"] == "low",
    ),
    "stream_options": (
        "compatible",
        Vllm().detail(422, [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]),
        lambda b: "stream_options" not in b,
    ),
    "tools": ("compatible", _unsupported("compatible", "tools"), lambda b: "tools" not in b),
    "system": (
        "openai",
        SPEECHES["openai"].refusal(400, "messages[0].role does not support 'system'"),
        lambda b: b["messages"] == [{"role": "user", "content": "Be short.\n\nWhere is it?"}],
    ),
    "alternate": (
        "compatible",
        SPEECHES["compatible"].refusal(
            500, "Conversation roles must alternate user/assistant/user/assistant/...", kind="server_error"
        ),
        lambda b: b["messages"] == [{"role": "user", "content": "Be short.\n\nWhere is it?"}],
    ),
    "behind OpenRouter": (
        "compatible",
        whole(
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {
                        "raw": '{"error":{"message":"temperature is deprecated"}}',
                        "provider_name": "Somebody",
                    },
                }
            },
        ),
        lambda b: "temperature" not in b,
    ),
}


@pytest.mark.parametrize("what", MINDED)
async def test_what_a_server_minds_is_left_out_and_remembered(what: str) -> None:
    kind, refusal, as_wanted = MINDED[what]
    answer = SPEECHES[kind].answer()
    request = replace(REQUEST, tools=(CLOCK,))
    items, bodies = await _asked(kind, refusal, answer, answer, request=request, times=2)
    assert _text(items) == TEXT
    assert not as_wanted(bodies[0])
    assert as_wanted(bodies[1]) and bodies[2] == bodies[1]
    assert ("tools" in bodies[1]) == (what != "tools"), "only what it minds is left out"


class _Picky(Wire):
    """Refuses the first thing that it minds in every request, and answers when nothing is left."""

    def __init__(self, kind: str, backends: list[tuple[Callable[[dict[str, Any]], bool], Reply]]) -> None:
        super().__init__()
        self._kind, self._mind = kind, backends

    def reply(self, body: Any) -> Reply:
        for minds, refusal in self._mind:
            if minds(body):
                return refusal
        return SPEECHES[self._kind].answer()


async def test_everything_minded_in_turn_is_learned_in_turn() -> None:
    speech = SPEECHES["openai"]
    backends = [
        (lambda b: "max_completion_tokens" in b, _unsupported("openai", "max_completion_tokens")),
        (lambda b: "temperature" in b, _unsupported("openai", "temperature")),
        (lambda b: b.get("reasoning_effort") in ("none", "minimal", "low"), _unsupported("openai", "reasoning_effort")),
        (lambda b: "stream_options" in b, _unsupported("openai", "stream_options")),
        (lambda b: "tools" in b, _unsupported("openai", "tools")),
        (lambda b: b["messages"][0]["role"] == "system", speech.refusal(400, "no system message, please")),
    ]
    wire = _Picky("openai", backends)  # type: ignore[arg-type]
    request = replace(REQUEST, tools=(CLOCK,))
    items, bodies = await _asked("openai", wire=wire, request=request, times=2, model="gpt-5-mini")
    assert _text(items) == TEXT
    assert len(bodies) == 9 and bodies[-1] == bodies[-2], "the second request is right at once"
    assert bodies[-1] == {
        "model": "gpt-5-mini",
        "stream": True,
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "Be short.\n\nWhere is it?"}],
    }


async def test_a_bad_request_that_says_nothing_is_put_more_and_more_plainly() -> None:
    bad = Reply(400, {"content-type": "text/plain"}, b"Bad Request")
    wire = _Picky("compatible", [(lambda b: len(b) > 3, bad)])
    items, bodies = await _asked("compatible", wire=wire, request=replace(REQUEST, tools=(CLOCK,)), times=2)
    assert _text(items) == TEXT and len(bodies) <= 5 and bodies[-1] == bodies[-2]
    assert set(bodies[-1]) == {"model", "messages", "stream"}


@pytest.mark.parametrize("kind", ["openai", "google", "compatible", "ollama"])
async def test_what_is_refused_in_every_way_is_told_and_spoils_nothing(kind: str) -> None:
    refuse = [True]
    wire = _Picky(kind, [(lambda b: refuse[0], SPEECHES[kind].refusal(400, "Bad Request"))])
    wire._standing = wire_for(kind)._standing
    request = replace(REQUEST, tools=(CLOCK,))
    async with wire:
        backend = make(kind, wire.url)
        await backend.open()
        _, error = await fail(backend, request)
        assert error.kind == "request" and "does not accept the request" in str(error)
        assert len(wire.seen) <= 9
        refuse[0] = False
        assert await say(backend, request) == TEXT
        await backend.close()
    assert wire.seen[-1].body == wire.seen[0].body, "a refusal that was about something else has taught nothing"


async def test_unknown_extras_are_left_out() -> None:
    from app.backend.openai_compatible import OpenAICompatibleBackend

    refusal = SPEECHES["compatible"].refusal(400, "Unrecognized request argument supplied: dry_multiplier")
    async with wire_for("compatible", refusal, *[SPEECHES["compatible"].answer()] * 2) as wire:
        backend = OpenAICompatibleBackend(base_url=f"{wire.url}/v1", model="tiny", extra={"dry_multiplier": 0.8})
        await backend.open()
        assert await say(backend) == await say(backend) == TEXT
        await backend.close()
    assert ["dry_multiplier" in seen.body for seen in wire.seen] == [True, False, False]
    assert "temperature" in wire.seen[-1].body


async def test_ollamas_models_that_cant_think_or_use_tools() -> None:
    speech = SPEECHES["ollama"]
    backends = [
        (lambda b: "think" in b, speech.refusal(400, '"tiny:latest" does not support thinking')),
        (lambda b: bool(b.get("tools")), speech.refusal(400, "tiny:latest does not support tools")),
    ]
    wire = _Picky("ollama", backends)  # type: ignore[arg-type]
    standing = speech.standing("tiny:latest", capabilities=("completion", "thinking", "tools"))  # type: ignore[union-attr]
    wire._standing = standing
    items, bodies = await _asked("ollama", wire=wire, request=replace(REQUEST, tools=(CLOCK,)), times=2)
    assert _text(items) == TEXT and len(bodies) == 4
    assert "think" not in bodies[-1] and not bodies[-1].get("tools")


LONG = ChatRequest(
    (
        ChatMessage("system", "Be short."),
        *(ChatMessage("user" if n % 2 == 0 else "assistant", f"Turn {n} of the talk.") for n in range(8)),
        ChatMessage("user", "Where is it?"),
    )
)


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        ("openai", 400, "This model's maximum context length is 128 tokens."),
        ("compatible", 400, "the request exceeds the available context size, try increasing it"),
        ("anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"),
        ("google", 400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
        ("compatible", 413, "Request too long"),
    ],
)
async def test_a_talk_that_is_too_long_is_asked_shorter(kind: str, status: int, message: str) -> None:
    too_long = SPEECHES[kind].refusal(status, message)
    async with wire_for(kind, too_long, too_long, SPEECHES[kind].answer()) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        before = backend.traits.history_words
        assert await say(backend, LONG) == TEXT
        assert backend.traits.history_words < before, "the next requests are to fit at once"
        await backend.close()
    sizes = [len(seen.body["messages"]) for seen in wire.seen]
    assert sizes[0] > sizes[1] > sizes[2] >= 2
    for seen in wire.seen:
        first, *rest = seen.body["messages"]
        assert first["content"] == "Be short." and rest[0]["role"] == "user" and rest[-1]["content"] == "Where is it?"


async def test_a_talk_that_stays_too_long_is_a_sentence() -> None:
    too_long = SPEECHES["openai"].refusal(400, "maximum context length", code="context_length_exceeded")
    wire = _Picky("openai", [(lambda b: True, too_long)])
    async with wire:
        backend = make("openai", wire.url)
        await backend.open()
        _, error = await fail(backend, LONG)
        await backend.close()
    assert error.kind == "request" and "can read at once" in str(error) and len(wire.seen) < 6


# -- thoughts --------------------------------------------------------------------------------------


@each
async def test_thoughts_that_take_the_limit_up_get_more_room(kind: str) -> None:
    spent = SPEECHES[kind].answer((), finish="length")
    items, bodies = await _asked(kind, spent, SPEECHES[kind].answer())
    assert _text(items) == TEXT
    limits = [
        b["options"]["num_predict"] if kind == "ollama" else b.get("max_tokens", b.get("max_completion_tokens"))
        for b in bodies
    ]
    assert limits == [50, 400]


@each
async def test_thoughts_without_end_are_an_empty_answer(kind: str) -> None:
    spent = SPEECHES[kind].answer((), finish="length")
    async with wire_for(kind, spent, spent) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        _, error = await fail(backend)
        await backend.close()
    assert error.kind == "empty"


@each
async def test_thoughts_are_not_said(kind: str) -> None:
    words = ("<th", "ink>They want", " a </thin", "k", ">", "\n", "\nParis", " is it.")
    items, _ = await _asked(kind, SPEECHES[kind].answer(words))
    assert _text(items) == TEXT


PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", " ", "\n", "é"]), max_size=12)


@given(PIECES, st.data())
def test_any_chunking_gives_the_same_text(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole_filter, cut_filter = ThinkingTagFilter(), ThinkingTagFilter()
    expected = whole_filter.push(text) + whole_filter.flush()
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(cut_filter.push, chunks)) + cut_filter.flush() == expected
    if not text.lstrip().startswith("<think>"):
        assert expected == text
    elif "</think>" in text:
        assert expected == text.partition("</think>")[2].lstrip()
    else:
        assert expected == ""


# -- tools -----------------------------------------------------------------------------------------

CALLS = (("call_a", "clock", '{"zone": "Asia/Tokyo"}'), ("call_b", "clock", '{"zone": "Zürich"}'))


@each
async def test_tools_are_offered_and_called(kind: str) -> None:
    answer = SPEECHES[kind].answer((), finish="tool_calls" if kind != "ollama" else "stop", calls=CALLS)
    items, [body] = await _asked(kind, answer, request=replace(REQUEST, tools=(CLOCK,)))
    schema = {k: v for k, v in CLOCK.parameters.items() if kind != "ollama" or k != "additionalProperties"}
    function = {"name": "clock", "description": "Tells the time.", "parameters": schema}
    [offered] = body["tools"]
    assert offered["type"] == "function"
    assert offered["function"] == function
    calls = [item for item in items if isinstance(item, ToolCall)]
    assert [(c.name, c.arguments) for c in calls] == [(name, arguments) for _, name, arguments in CALLS]
    assert len({c.id for c in calls}) == 2
    if kind != "ollama":
        assert [c.id for c in calls] == ["call_a", "call_b"]


async def test_a_call_that_repeats_its_name_or_has_no_id() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def delta(**function: str) -> bytes:
        call = {"index": 0, "function": function}
        return event({**head, "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})

    parts = (delta(name="clock", arguments=""), delta(name="clock", arguments='{"zone": '), delta(arguments='"UTC"}'))
    items, _ = await _asked("compatible", Reply(200, SSE, parts=parts))
    assert items == [ToolCall("call-0", "clock", '{"zone": "UTC"}')]


@each
async def test_what_tools_said_is_told_in_the_providers_form(kind: str) -> None:
    calls = (ToolCall("call_a", "clock", '{"zone": "Asia/Tokyo"}'),)
    talk: tuple[Message, ...] = (ToolCallMessage(calls, "One moment."), ToolAnswer("call_a", "clock", "noon"))
    request = replace(REQUEST, messages=(*REQUEST.messages, *talk), tools=(CLOCK,))
    _, [body] = await _asked(kind, SPEECHES[kind].answer(), request=request)
    asked, told = body["messages"][2:]
    assert asked["role"] == "assistant" and asked["content"] == "One moment."
    [call] = asked["tool_calls"]
    if kind == "ollama":
        assert call["function"] == {"name": "clock", "arguments": {"zone": "Asia/Tokyo"}}
        assert told == {"role": "tool", "tool_name": "clock", "content": "noon"}
    else:
        function = {"name": "clock", "arguments": '{"zone": "Asia/Tokyo"}'}
        assert call == {"id": "call_a", "type": "function", "function": function}
        assert told == {"role": "tool", "tool_call_id": "call_a", "content": "noon"}


# -- the ways in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compatible", "ollama"])
async def test_made_by_name_it_answers(name: str) -> None:
    async with wire_for(name, SPEECHES[name].answer()) as wire:
        backend: Backend = make_backend(name, model=SPEECHES[name].model, base_url=wire.url + SPEECHES[name].path)
        await backend.open()
        assert await say(backend) == TEXT
        await backend.close()
    assert all("sk-" not in str(seen.headers) for seen in wire.seen)


async def test_without_a_key_or_an_address() -> None:
    for name in ("openai", "anthropic", "google"):
        with pytest.raises(BackendError, match="no API key") as raised:
            await make_backend(name).open()
        assert raised.value.kind == "key"
    for name in ("compatible", "ollama"):
        with pytest.raises(BackendError, match="no address of a server") as raised:
            await make_backend(name, base_url="ftp://127.0.0.1:1").open()
        assert raised.value.kind == "setup"


@each
async def test_before_it_is_opened_it_says_so(kind: str) -> None:
    with pytest.raises(BackendError, match="not been opened") as raised:
        await say(make(kind, "http://127.0.0.1:9"))
    assert raised.value.kind == "setup"


def test_an_unknown_backend_names_those_there_are() -> None:
    with pytest.raises(BackendError, match="embedded, ollama, openai"):
        make_backend("hal9000")
