"""Servers that send what no server should: the app says one sentence, and the next question is answered."""

import json
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.backend import openai_answer
from app.backend.base import BackendError, ChatRequest
from app.tools.base import ToolCall
from app.untrusted.limits import TOOL_ARGUMENTS, TOOL_CALLS
from app.untrusted.text import harmless
from tests.support.examples import examples
from tests.support.provider_protocols import SECRET
from tests.support.wire import Reply, Wire, endless_gzip
from tests.unit.backend.adapters import (
    CLOCK,
    REQUEST,
    SPEECHES,
    TEXT,
    ask,
    check_sentence,
    each,
    each_openai_like,
    fail,
    fault_then_answer,
    make,
    opened,
    say,
    wire_for,
)


@each
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_words_and_keys_go_to_the_chosen_server_alone(kind: str, status: int) -> None:
    async with Wire() as other:
        moved = Reply(status, {"Location": f"{other.url}/v1/chat/completions"})
        got, error, _ = await fault_then_answer(kind, moved)
    assert (got, error.kind) == ("", "setup") and f"another server ({other.url})" in str(error)
    assert other.seen == other.beside == []


@each
async def test_a_list_is_not_fetched_from_elsewhere(kind: str) -> None:
    async with Wire() as other, Wire([Reply(308, {"Location": f"{other.url}/v1/models"})]) as wire:
        with pytest.raises(BackendError, match="another server") as raised:
            await make(kind, wire.url).models()
    check_sentence(raised.value)


async def test_the_name_of_the_other_server_does_not_show_the_key() -> None:
    moved = Reply(307, {"Location": f"https://{SECRET}.invalid/v1"})
    _, error, _ = await fault_then_answer("openai", moved)
    assert "isn't shown" in str(error)


@each
async def test_a_redirect_within_the_server_is_followed(kind: str) -> None:
    path = "/api/chat" if kind == "ollama" else f"{SPEECHES[kind].path}/elsewhere"
    async with opened(kind, Reply(307, {"Location": path}), SPEECHES[kind].answer()) as (_, backend):
        assert await say(backend) == TEXT


@each
async def test_half_an_emoji_is_joined_to_its_other_half(kind: str) -> None:
    answer = SPEECHES[kind].answer(("HIGH", "LOW \x1b[31mred\x1b", "[0m HIGH."))
    parts = tuple(part.replace(b"HIGH", rb"\ud83d").replace(b"LOW", rb"\ude00") for part in answer.parts)
    async with opened(kind, replace(answer, parts=parts)) as (_, backend):
        assert await say(backend) == "😀 red \ufffd."


@each
async def test_the_names_and_arguments_of_tool_calls_are_harmless(kind: str) -> None:
    answer = SPEECHES[kind].answer((), calls=[("a\x1b[1m", "clo\x00ck", '{"zone": "\u202eUTC"}')])
    async with opened(kind, answer) as (_, backend):
        calls = [item for item in await ask(backend, replace(REQUEST, tools=(CLOCK,))) if isinstance(item, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [("clock", '{"zone": "UTC"}')]


@each
async def test_a_packed_answer_that_never_ends_takes_no_memory(kind: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    bomb = Reply(200, headers, body=endless_gzip(b'{"a": "', 300))
    tracemalloc.start()
    got, error, _ = await fault_then_answer(kind, bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (got, error.kind) == ("", "broken") and "longer than" in str(error)
    assert peak < 60_000_000


NESTED = b'{"choices": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"


@pytest.mark.slow
@each
@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize("content", ["application/json", "text/event-stream", "text/plain"])
async def test_nested_json_is_refused(kind: str, status: int, content: str) -> None:
    body = b"data: " + NESTED + b"\n\n" if content == "text/event-stream" else NESTED
    times = 3 if status == 500 else 1
    got, error, _ = await fault_then_answer(kind, *[Reply(status, {"Content-Type": content}, body=body)] * times)
    assert got == "" and error.kind in ("broken", "server", "key")


@each
async def test_a_nested_list_is_refused(kind: str) -> None:
    body = b'{"data": ' + b"[" * 30_000 + b"]" * 30_000 + b', "models": []}'
    async with Wire([Reply(200, {"Content-Type": "application/json"}, body=body)]) as wire:
        with pytest.raises(BackendError) as raised:
            await make(kind, wire.url).models()
    check_sentence(raised.value)
    assert raised.value.kind == "broken"


async def test_a_bare_list_and_entries_without_names_are_taken() -> None:
    listed: list[Any] = [{"id": "a"}, {"id": None}, {"id": ["x"]}, "b", {}, {"id": "c\x1b[1m"}, {"id": "x" * 999}]
    async with Wire([Reply(200, body=json.dumps(listed).encode())]) as wire:
        assert await make("compatible", wire.url).models() == ["a", "c"]


ODD = st.recursive(
    st.sampled_from([None, True, 0, -1, 10**18, 1.5, "", "x", "stop", "\ud83d", "\x1b]0;x\x07", "{}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "choices delta message content role tool_calls function name arguments index id finish_reason usage "
                "prompt_tokens completion_tokens prompt_tokens_details cached_tokens error text refusal done".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=14,
)


def _answer(content: Any) -> Any:
    return {"choices": [{"delta": content, "message": content, "finish_reason": "stop"}], "message": content}


@each
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(ODD | ODD.map(_answer) | st.dictionaries(st.just("content"), ODD).map(_answer), max_size=3))
async def test_odd_answers_end_in_words_or_in_a_sentence(kind: str, parts: list[Any]) -> None:
    lines = [json.dumps(part).encode() for part in parts]
    events = b"".join(line + b"\n" if kind == "ollama" else b"data: " + line + b"\n\n" for line in lines)
    streamed = Reply(200, {"Content-Type": "text/event-stream"}, body=events)
    whole = Reply(200, {"Content-Type": "application/json"}, body=lines[0] if lines else b"")
    for reply in (streamed, whole):
        wire = wire_for(kind, *[reply] * 3)
        async with wire as running:
            backend = make(kind, running.url)
            await backend.open()
            text = await _said(backend, REQUEST)
            wire._script.clear()  # an answer was enough, or all three tries were needed
            await backend.close()
        assert text == harmless(text)


async def _said(backend: Any, request: ChatRequest) -> str:
    try:
        return await say(backend, request)
    except BackendError as error:
        check_sentence(error)
        return str(error)


@each_openai_like
async def test_too_many_tool_calls_and_too_long_arguments_are_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = SPEECHES[kind].answer((), calls=[(f"c{n}", "clock", "{}") for n in range(TOOL_CALLS + 1)])
    async with opened(kind, answer) as (_, backend):
        _, error = await fail(backend, replace(REQUEST, tools=(CLOCK,)))
    assert error.kind == "broken"
    monkeypatch.setattr(openai_answer, "TOOL_ARGUMENTS", replace(TOOL_ARGUMENTS, bytes=500))
    answer = SPEECHES[kind].answer((), calls=[("a", "clock", "x" * 501)])
    async with opened(kind, answer) as (_, backend):
        _, error = await fail(backend, replace(REQUEST, tools=(CLOCK,)))
    assert error.kind == "broken"
