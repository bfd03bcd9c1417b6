"""Answers that are late, endless, broken off or hostile, and addresses without a server: each gives a sentence."""

import asyncio
import json
import socket
import ssl
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import trustme
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.backend import deadlines, ollama, openai_answer, openai_compatible
from app.backend.base import BackendError, ChatRequest, text_of
from app.backend.deadlines import LEAST_CHARS
from app.tools.base import ToolCall
from app.untrusted.limits import TOOL_ARGUMENTS, TOOL_CALLS
from app.untrusted.text import harmless
from tests.support.examples import examples
from tests.support.provider_protocols import SECRET, SSE, OpenRouter, broken_off, event, page
from tests.support.servers import closed_port_url
from tests.support.tables import cases
from tests.support.wire import Reply, Wire, endless_gzip
from tests.unit.backend.adapters import (
    CLOCK,
    REQUEST,
    SPEECHES,
    TEXT,
    answered_after,
    ask,
    check_sentence,
    each,
    each_openai_like,
    fail,
    fault_then_answer,
    has_words,
    make,
    opened,
    say,
    wire_for,
)


@contextmanager
def _impatient(name: str, seconds: float) -> Iterator[None]:
    """Sets a deadline of the adapters, only for the block: a busy machine may need longer for an answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadlines, name, seconds)
        yield


@each
async def test_no_first_token_in_time(kind: str) -> None:
    late = Reply(0, fault="hang")
    got, error, wire = await fault_then_answer(kind, late, during=_impatient("FIRST_TOKEN_SECONDS", 0.15))
    assert (got, error.kind) == ("", "timeout") and has_words(error, "did not (begin to )?answer")
    assert wire.left.is_set()


def _signs_of_life(kind: str, what: str) -> bytes:
    if what == "comments":
        return b": keep-alive\n\n"
    if what == "empty pieces":
        return SPEECHES[kind].delta("")
    if kind == "ollama":
        return SPEECHES[kind].delta("").replace(b'"content": ""', b'"content": "", "thinking": "Hm. "')
    return SPEECHES[kind].delta("").replace(b'"content": ""', b'"content": "", "reasoning_content": "Hm. "')


@cases(
    "kind, what",
    ("compatible", "comments"),
    *((kind, what) for kind in ("compatible", "ollama") for what in ("empty pieces", "thoughts")),
)
async def test_a_server_that_sends_anything_is_alive(kind: str, what: str) -> None:
    """The limits count the silence of the connection: a model may think for longer than they allow."""
    sign = _signs_of_life(kind, what)
    answer = SPEECHES[kind].answer()
    slow = replace(answer, parts=(*[sign] * 64, *answer.parts), pause=0.05)
    async with opened(kind, SPEECHES[kind].answer(), slow) as (wire, backend):
        await say(backend)
        with _impatient("FIRST_TOKEN_SECONDS", 3.0), _impatient("NEXT_TOKEN_SECONDS", 3.0):
            assert await say(backend) == TEXT
    assert len(wire.seen) == 2, "it is not asked again while it streams"


@each
async def test_signs_of_life_without_end_are_given_up(kind: str) -> None:
    endless = replace(SPEECHES[kind].answer(), parts=(), repeat=SPEECHES[kind].delta(""), pause=0.02)
    got, error, wire = await fault_then_answer(kind, endless, during=_impatient("MOST_SECONDS", 0.3))
    assert (got, error.kind) == ("", "timeout") and has_words(error, "did not begin to answer")
    assert wire.left.is_set()


@each
async def test_silence_in_mid_answer(kind: str) -> None:
    half = replace(SPEECHES[kind].answer(), parts=SPEECHES[kind].parts(("Paris", " is"), finish=""), fault="hang")
    got, error, wire = await fault_then_answer(kind, half, during=_impatient("NEXT_TOKEN_SECONDS", 0.1))
    assert (got, error.kind) == ("Paris is", "timeout") and has_words(error, "stopped in mid-answer")
    assert wire.left.is_set()


async def test_one_token_a_second_is_an_answer() -> None:
    async def slowly(kind: str) -> list[float]:
        answer = SPEECHES[kind].answer()
        first = next(n for n, part in enumerate(answer.parts) if b"Paris" in part) + 1
        three = (b"".join(answer.parts[:first]), answer.parts[first], b"".join(answer.parts[first + 1 :]))
        async with opened(kind, answer, replace(answer, parts=three, pause=1.0)) as (_, backend):
            await say(backend)  # of a model that is new, the first sentence is held back: it might be a thought
            async with backend.stream(REQUEST) as items:
                return [time.monotonic() async for _ in text_of(items)]

    for times in await asyncio.gather(*map(slowly, ["compatible", "ollama"])):
        words = [t for a, t in zip([0.0, *times], times, strict=False) if t - a > 0.5]
        assert len(words) >= 3, "the words came together"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_ten_thousand_tokens_a_second(kind: str) -> None:
    words = [f" w{number}" for number in range(5_000)]
    answer = SPEECHES[kind].answer(words, burst=100, pause=0.01)
    async with opened(kind, answer) as (_, backend):
        beats: list[float] = []

        async def beat() -> None:
            while True:
                beats.append(time.monotonic())
                await asyncio.sleep(0.005)

        heart = asyncio.create_task(beat())
        begin = time.thread_time()  # a busy machine is no fault of the adapter's
        text = await say(backend, replace(REQUEST, max_tokens=10_000))
        seconds = time.thread_time() - begin
        heart.cancel()
    assert text == "".join(words).lstrip()
    gaps = sorted(b - a for a, b in pairwise(beats))
    assert seconds < 10 and gaps[len(gaps) // 2] < 0.06, f"{seconds:.1f} s, {gaps[-9:]}: the loop must live meanwhile"


@each
async def test_an_endless_answer_is_cut_off(kind: str) -> None:
    parts = SPEECHES[kind].parts((), finish="", usage=(0, 0, 0)) if kind != "google" else ()
    endless = replace(SPEECHES[kind].answer(), parts=parts, repeat=SPEECHES[kind].delta(" word"))
    async with opened(kind, endless, SPEECHES[kind].answer()) as (wire, backend):
        begin = time.monotonic()
        text = await say(backend)
        assert len(text) == LEAST_CHARS and text.startswith("word word")
        assert await wire.client_left(), "the server still sends"
        assert time.monotonic() - begin < 3
        assert await say(backend) == TEXT


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_a_line_of_five_megabytes(kind: str) -> None:
    big = SPEECHES[kind].delta("word " * 1_000_000)
    pieces = tuple(big[place : place + 16_000] for place in range(0, len(big), 16_000))
    long = replace(SPEECHES[kind].answer(), parts=pieces)
    async with opened(kind, long, SPEECHES[kind].answer()) as (_, backend):
        with pytest.raises(BackendError, match="a line of it is longer than 256 KB"):
            await say(backend)
        assert await say(backend) == TEXT


@contextmanager
def _deaf() -> Iterator[str]:
    """A port whose backlog is full: connecting to it gets no answer."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    callers = []
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        callers.append(caller)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        for sock in (*callers, listener):
            sock.close()


async def _cannot_connect(kind: str, url: str) -> BackendError:
    """Asks there, and looks that every way to it (models, open, an answer) is a sentence of the same kind."""
    backend = make(kind, url)
    try:
        with pytest.raises(BackendError) as listed:
            await backend.models()
        check_sentence(listed.value)
        if kind == "ollama":  # it is asked for its models first
            with pytest.raises(BackendError) as raised:
                await backend.open()
            error = raised.value
            check_sentence(error)
        else:
            await backend.open()
            _, error = await fail(backend)
    finally:
        await backend.close()
    assert listed.value.kind == error.kind == "network"
    return error


@each
async def test_a_server_that_can_not_be_reached(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_words(await _cannot_connect(kind, closed_port_url()), "Start it")
    for module in (ollama, openai_compatible):
        monkeypatch.setattr(module, "CONNECT_SECONDS", 0.1)
    with _deaf() as url:
        assert has_words(await _cannot_connect(kind, url), "nothing came back")

    def unknown(host: object, *args: object, **kwargs: object) -> None:
        assert host in (b"model.invalid", "model.invalid")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert has_words(await _cannot_connect(kind, "http://model.invalid:8080"), "can't be found")


@pytest.fixture(scope="module")
def unknown_authority() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


@each
async def test_a_connection_that_is_not_safe(kind: str, unknown_authority: ssl.SSLContext) -> None:
    async with Wire(tls=unknown_authority) as wire:
        assert has_words(await _cannot_connect(kind, wire.url), "is not safe")
    async with Wire() as wire:
        assert has_words(await _cannot_connect(kind, wire.url.replace("http:", "https:")), "is not safe")


async def test_a_key_in_an_address_is_not_shown() -> None:
    for kind in ("compatible", "ollama"):
        url = closed_port_url().replace("http://", "http://me:sk-secret-123@")
        assert "127.0.0.1" in str(await _cannot_connect(kind, url))


@each
@pytest.mark.parametrize("fault", ["reset", "cut"])
@pytest.mark.parametrize("where", ["before the headers", "before the words"])
async def test_broken_off_before_the_answer_is_tried_again(kind: str, fault: str, where: str) -> None:
    role = {"google": 0, "anthropic": 0, "ollama": 0}.get(kind, 1)
    answer = replace(SPEECHES[kind].answer(), repeat=b"")
    broken = Reply(0, fault=fault) if where == "before the headers" else broken_off(answer, role, fault)
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


async def test_a_fault_reported_in_the_stream() -> None:
    router = OpenRouter()
    broken = router.broken(("Paris", " is"))
    got, error, _ = await fault_then_answer("compatible", broken)
    assert (got, error.kind) == ("Paris is", "broken")
    got, error, _ = await fault_then_answer("compatible", *[router.broken(())] * 3)
    assert (got, error.kind) == ("", "server") and has_words(error, "status 502")
    await answered_after("compatible", router.broken((), 429), router.answer())
    got, error, _ = await fault_then_answer("compatible", router.broken((), "server_error"))
    assert (got, error.kind) == ("", "server") and has_words(error, "reports an error")
    overloaded = event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    await answered_after(
        "anthropic", Reply(200, SSE, parts=(b"event: error\n" + overloaded,)), SPEECHES["anthropic"].answer()
    )
    told = replace(SPEECHES["ollama"].refusal(200, "an error was encountered while running the model"))
    got, error, _ = await fault_then_answer("ollama", told)
    assert (got, error.kind) == ("", "server") and has_words(error, "reports an error")


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
async def test_too_many_calls_and_too_long_arguments_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = SPEECHES[kind].answer((), calls=[(f"c{n}", "clock", "{}") for n in range(TOOL_CALLS + 1)])
    async with opened(kind, answer) as (_, backend):
        _, error = await fail(backend, replace(REQUEST, tools=(CLOCK,)))
    assert error.kind == "broken"
    monkeypatch.setattr(openai_answer, "TOOL_ARGUMENTS", replace(TOOL_ARGUMENTS, bytes=500))
    answer = SPEECHES[kind].answer((), calls=[("a", "clock", "x" * 501)])
    async with opened(kind, answer) as (_, backend):
        _, error = await fail(backend, replace(REQUEST, tools=(CLOCK,)))
    assert error.kind == "broken"
