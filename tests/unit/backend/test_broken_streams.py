"""Answers that break off, make no sense, are empty, or are left early."""

import asyncio
from dataclasses import replace

import pytest

from app.backend.base import BackendError
from tests.support.provider_protocols import SSE, OpenRouter, broken_off, event, page
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    REQUEST,
    SPEECHES,
    TEXT,
    answered_after,
    check_sentence,
    each,
    each_openai_like,
    fault_then_answer,
    has_words,
    make,
    opened,
    say,
)


@each
@pytest.mark.parametrize("fault", ["reset", "cut"])
@pytest.mark.parametrize("where", ["before the headers", "before the words"])
async def test_broken_off_before_the_answer_is_tried_again(kind: str, fault: str, where: str) -> None:
    role = {"google": 0, "anthropic": 0, "ollama": 0}.get(kind, 1)
    broken = (
        Reply(0, fault=fault)
        if where == "before the headers"
        # type: ignore[arg-type]
        else (
            broken_off(replace(SPEECHES[kind].answer(), repeat=b""), role, fault)  # type: ignore[arg-type]
        )
    )
    if not broken.parts and broken.status:  # a comment, or an empty piece, so that there is a stream
        broken = replace(broken, parts=(b": hm\n\n" if kind != "ollama" else SPEECHES[kind].delta(""),))
    await answered_after(kind, broken, SPEECHES[kind].answer())
    got, error, _ = await fault_then_answer(kind, *[broken] * 3)
    assert (got, error.kind) == ("", "broken") and has_words(error, "broke off before it answered")


@each
@pytest.mark.parametrize("fault", ["reset", "cut"])
async def test_broken_off_in_mid_answer(kind: str, fault: str) -> None:
    answer = SPEECHES[kind].answer()
    words = next(n for n, part in enumerate(answer.parts) if b" is" in part) + 1
    got, error, wire = await fault_then_answer(kind, broken_off(answer, words, fault))  # type: ignore[arg-type]
    assert (got, error.kind) == ("Paris is", "broken") and has_words(error, "broke off in mid-answer")
    assert len(wire.seen) == 2, "what was said can't be taken back"


@each
@pytest.mark.parametrize("rubbish", [b'data: {"choices": [{"del\n\n', b"data: \xff\xfe\n\n", b'data: "words"\n\n'])
async def test_a_stream_that_makes_no_sense(kind: str, rubbish: bytes) -> None:
    if kind == "ollama":
        rubbish = rubbish.removeprefix(b"data: ").rstrip() + b"\n"
    answer = SPEECHES[kind].answer()
    got, error, _ = await fault_then_answer(kind, replace(answer, parts=(rubbish,)))
    assert (got, error.kind) == ("", "broken")
    first = next(n for n, part in enumerate(answer.parts) if b"Paris" in part) + 1
    got, error, _ = await fault_then_answer(kind, replace(answer, parts=(*answer.parts[:first], rubbish)))
    assert (got, error.kind) == ("Paris", "broken") and has_words(error, "broke off in mid-answer")


@each
async def test_bytes_that_end_in_mid_letter(kind: str) -> None:
    words = ("Zürich", " – 東京", " 🙂.")
    data = b"".join(SPEECHES[kind].answer(words).parts)
    cut = data.index("🙂".encode()) + 2
    halves = replace(SPEECHES[kind].answer(), parts=(data[:cut], data[cut:]), pause=0.02)
    single = replace(halves, parts=tuple(data[n : n + 1] for n in range(len(data))), pause=0)
    async with opened(kind, halves, single) as (_, backend):
        assert await say(backend) == "Zürich – 東京 🙂."
        assert await say(backend) == "Zürich – 東京 🙂."


@each
@pytest.mark.parametrize("words", [(), ("",), (" ", "\n")])
async def test_an_empty_answer(kind: str, words: tuple[str, ...]) -> None:
    got, error, wire = await fault_then_answer(kind, SPEECHES[kind].answer(words))
    assert (got.strip(), error.kind) == ("", "empty") and has_words(error, "gave an empty answer")
    assert len(wire.seen) == 2


@each
async def test_a_request_for_one_token_may_be_answered_with_none(kind: str) -> None:
    """It has the conversation read in advance."""
    async with opened(kind, SPEECHES[kind].answer((), finish="length")) as (_, backend):
        assert await say(backend, replace(REQUEST, max_tokens=1)) == ""


@each_openai_like
@pytest.mark.parametrize("words", [(), ("Well, ", "I")])
async def test_an_answer_stopped_by_a_filter(kind: str, words: tuple[str, ...]) -> None:
    finish = "content_filter: SAFETY" if kind == "google" else "content_filter"
    got, error, wire = await fault_then_answer(kind, SPEECHES[kind].answer(words, finish=finish))
    assert (got, error.kind) == ("".join(words), "content") and has_words(error, "content filter")
    assert len(wire.seen) == 2


@each
async def test_a_web_page_instead_of_an_answer(kind: str) -> None:
    _, error, _ = await fault_then_answer(kind, page(200))
    assert error.kind == ("broken" if kind == "ollama" else "setup") and has_words(error, "Check the address")


async def test_a_web_page_instead_of_a_list_of_models() -> None:
    async with Wire([page(200)]) as wire:
        with pytest.raises(BackendError, match="web page") as raised:
            await make("compatible", wire.url, model="x").models()
    check_sentence(raised.value)
    async with Wire([page(200)]) as wire:
        with pytest.raises(BackendError, match="does not speak as Ollama") as raised:
            await make("ollama", wire.url).models()
    check_sentence(raised.value)


async def test_a_fault_told_in_the_stream() -> None:
    router = OpenRouter()
    broken = router.broken(("Paris", " is"))
    got, error, _ = await fault_then_answer("compatible", broken)
    assert (got, error.kind) == ("Paris is", "broken")
    got, error, _ = await fault_then_answer("compatible", *[router.broken(())] * 3)
    assert (got, error.kind) == ("", "server") and has_words(error, "status 502")
    await answered_after("compatible", router.broken((), 429), router.answer())
    got, error, _ = await fault_then_answer("compatible", router.broken((), "server_error"))
    assert (got, error.kind) == ("", "server") and has_words(error, "reports a fault")
    overloaded = event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    await answered_after(
        "anthropic", Reply(200, SSE, parts=(b"event: error\n" + overloaded,)), SPEECHES["anthropic"].answer()
    )
    told = replace(SPEECHES["ollama"].refusal(200, "an error was encountered while running the model"))
    got, error, _ = await fault_then_answer("ollama", told)
    assert (got, error.kind) == ("", "server") and has_words(error, "reports a fault")


@each
async def test_leaving_a_stream_closes_its_connection(kind: str) -> None:
    slow = replace(SPEECHES[kind].answer([f" word{n}" for n in range(400)]), pause=0.01)
    async with opened(kind, slow, SPEECHES[kind].answer()) as (wire, backend):
        async with backend.stream(REQUEST) as items:
            async for item in items:
                if item:
                    break
        assert await wire.client_left(2), "the server still sends"
        assert await say(backend) == TEXT


@each
async def test_a_cancelled_task_closes_its_connection(kind: str) -> None:
    async with opened(kind, Reply(0, fault="hang"), SPEECHES[kind].answer()) as (wire, backend):
        task = asyncio.create_task(say(backend))
        while not wire.seen:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await wire.client_left(2), "the server is still asked"
        assert await say(backend) == TEXT
