"""How a request is made and an answer is read: text, usage, thinking, tools, and the models of a server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.base import BackendError, ToolCall, Usage
from app.backend.thinking_tags import ThinkingTagFilter
from tests.support.provider_protocols import NDJSON, SSE, LlamaCpp, OpenRouter, Speech, Vllm, event, line, whole
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    REQUEST,
    SPEECHES,
    TEXT,
    answers_to,
    check_sentence,
    each,
    fail,
    make,
    say,
    wire_for,
    words_in,
)


@each
async def test_a_request_is_put_as_the_provider_wants_it(kind: str) -> None:
    items, [body] = await answers_to(kind, SPEECHES[kind].answer())
    assert words_in(items) == TEXT
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
    _, [body] = await answers_to("openai", SPEECHES["openai"].answer(), model="gpt-5-mini")
    assert body["reasoning_effort"] == "none" and "temperature" not in body
    _, [body] = await answers_to("anthropic", SPEECHES["anthropic"].answer(), request=replace(REQUEST, temperature=1.7))
    assert body["temperature"] == 1.0


@each
async def test_usage_is_counted_once(kind: str) -> None:
    items, _ = await answers_to(kind, SPEECHES[kind].answer(usage=(2100, 3, 2048)))
    assert [i for i in items if isinstance(i, Usage)] == [Usage(2100, 3, 0 if kind == "ollama" else 2048)]


@pytest.mark.parametrize("speech", [Vllm(), OpenRouter(), LlamaCpp(), Speech()], ids=lambda s: s.name)
async def test_other_servers_dialects_are_read(speech: Speech) -> None:
    items, _ = await answers_to("compatible", speech.answer(usage=(9, 3, 1)))
    assert words_in(items) == TEXT and Usage(9, 3, 1) in items


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
    items, _ = await answers_to("compatible", replace(answer, parts=(data,)))
    assert words_in(items) == TEXT


async def test_an_answer_in_one_piece() -> None:
    """Some servers don't stream."""
    message = {"role": "assistant", "content": "<think>Hm.</think>\n\nParis is it."}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    items, _ = await answers_to("compatible", whole(200, body))
    assert words_in(items) == TEXT
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}  # type: ignore[index]
    items, _ = await answers_to("compatible", whole(200, body))
    assert items == [ToolCall("c1", "clock", "{}")]


async def test_text_in_parts() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": TEXT}]
    chunk = event({**head, "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": "stop"}]})
    items, _ = await answers_to("compatible", Reply(200, SSE, parts=(chunk,)))
    assert words_in(items) == TEXT


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


@each
async def test_thoughts_that_take_the_limit_up_get_more_room(kind: str) -> None:
    spent = SPEECHES[kind].answer((), finish="length")
    items, bodies = await answers_to(kind, spent, SPEECHES[kind].answer())
    assert words_in(items) == TEXT
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
    items, _ = await answers_to(kind, SPEECHES[kind].answer(words))
    assert words_in(items) == TEXT


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
