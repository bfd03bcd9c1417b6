"""What a network and a server can do to an answer, at the wire: each is a sentence, and the talk goes on.

Every adapter meets every fault that its provider can show. A wire checks by itself that no request was made beyond the
script, none was left out, and no connection stays open.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise

import pytest
import trustme

from app.backend import deadlines, ollama, openai_answer, openai_compatible
from app.backend.base import BackendError, text_of
from app.backend.deadlines import LEAST_CHARS
from tests.support.servers import closed_port_url
from tests.support.wire import SSE, OpenRouter, Reply, Vllm, Wire, broken_off, event, page
from tests.unit.backend.adapters import ADAPTERS, REQUEST, SPEECHES, check_sentence, fail, make, say, wire_for

TEXT = "Paris is it."
OPENAI_LIKE = ADAPTERS[:-1]
each = pytest.mark.parametrize("kind", ADAPTERS)
each_openai_like = pytest.mark.parametrize("kind", OPENAI_LIKE)


async def _fault_then_answer(kind: str, *faults: Reply) -> tuple[str, BackendError, Wire]:
    """Asks into the faults, and once more, which is answered: the session goes on."""
    wire = wire_for(kind, *faults, SPEECHES[kind].answer())
    async with wire:
        backend = make(kind, wire.url)
        try:
            await backend.open()
            got, error = await fail(backend)
            assert await say(backend) == TEXT
        finally:
            await backend.close()
    return got, error, wire


async def _answered_after(kind: str, *script: Reply) -> Wire:
    """The script's last reply is an answer, and its text comes as if nothing had been before."""
    wire = wire_for(kind, *script)
    async with wire:
        backend = make(kind, wire.url)
        try:
            await backend.open()
            assert await say(backend) == TEXT
        finally:
            await backend.close()
    return wire


# -- statuses --------------------------------------------------------------------------------------

Make = Callable[[str], Reply]


def _status(status: int, **how: object) -> Make:
    return lambda kind: SPEECHES[kind].refusal(status, f"This is {status}.", **how)  # type: ignore[arg-type]


REFUSALS: dict[str, tuple[Make, str, str]] = {
    "401": (lambda kind: SPEECHES[kind].wrong_key(), "key", "refuses the API key|does not let this app in"),
    "403": (_status(403), "key", "does not let this"),
    "404 model": (lambda kind: SPEECHES[kind].no_model(), "model", "does not (know|have) the model “"),
}
"""What asking again can't help: the reply, the kind, words of the sentence."""


@each
@pytest.mark.parametrize("what", REFUSALS)
async def test_a_refusal_that_stays_is_told_at_once(kind: str, what: str) -> None:
    reply, fault, words = REFUSALS[what]
    got, error, wire = await _fault_then_answer(kind, reply(kind))
    assert (got, error.kind) == ("", fault)
    assert _has(error, words)
    assert len(wire.seen) == 2


TRANSIENT: dict[str, tuple[Make, str, str]] = {
    "408": (_status(408), "timeout", "did not answer in time"),
    "429": (_status(429), "quota", "takes no more requests just now|has too much to do"),
    "500": (_status(500), "server", r"fault of its own \(status 500\)"),
    "502 page": (lambda kind: page(502), "server", r"fault of its own \(status 502\)"),
    "503": (_status(503), "server", "overloaded just now|too much to do"),
    "504": (_status(504), "timeout", "did not answer in time"),
    "529": (_status(529), "server", "overloaded just now|too much to do"),
}
"""What may pass: it is asked thrice in all."""


@each
@pytest.mark.parametrize("what", TRANSIENT)
async def test_a_fault_that_may_pass_is_tried_thrice_and_told(kind: str, what: str) -> None:
    reply, fault, words = TRANSIENT[what]
    got, error, wire = await _fault_then_answer(kind, *[reply(kind)] * 3)
    assert (got, error.kind) == ("", fault)
    assert _has(error, words)
    assert len(wire.seen) == 4


@each
@pytest.mark.parametrize("what", TRANSIENT)
async def test_a_fault_that_passes_is_not_noticed(kind: str, what: str) -> None:
    await _answered_after(kind, TRANSIENT[what][0](kind), SPEECHES[kind].answer())


@each_openai_like
async def test_a_short_retry_after_is_kept(kind: str) -> None:
    busy = SPEECHES[kind].refusal(429, headers={"Retry-After": "0.12"})
    wire = await _answered_after(kind, busy, SPEECHES[kind].answer())
    assert 0.12 <= wire.seen[1].at - wire.seen[0].at < 1.5


@each_openai_like
@pytest.mark.parametrize(
    ("after", "words"),
    [("30", "in 30 seconds"), ("900", "in 15 minutes"), ("86400", "in 24 hours"), ("date", "in [56]. seconds")],
)
async def test_a_long_retry_after_is_told_instead_of_kept(kind: str, after: str, words: str) -> None:
    value = formatdate(time.time() + 60, usegmt=True) if after == "date" else after
    _, error, wire = await _fault_then_answer(kind, SPEECHES[kind].refusal(429, headers={"Retry-After": value}))
    assert error.kind == "quota" and _has(error, words)
    assert error.retry_after == pytest.approx(60 if after == "date" else float(after), abs=5)
    assert len(wire.seen) == 2


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-5", "1e999", ""])
async def test_a_retry_after_that_makes_no_sense_is_as_none(value: str) -> None:
    busy = SPEECHES["openai"].refusal(429, headers={"Retry-After": value})
    _, error, _ = await _fault_then_answer("openai", *[busy] * 3)
    assert error.retry_after == 0 and _has(error, "Ask again in a while")


async def test_googles_own_way_to_ask_for_patience() -> None:
    body = b'[{"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": '
    body += b'[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}}]'
    _, error, _ = await _fault_then_answer("google", Reply(429, body=body))
    assert error.retry_after == 34 and _has(error, "in 34 seconds")


@pytest.mark.parametrize("kind", ["openai", "anthropic", "compatible"])
async def test_no_money_is_not_asked_twice(kind: str) -> None:
    reply = SPEECHES[kind].refusal(429, "You have insufficient quota.", code="insufficient_quota")
    _, error, _ = await _fault_then_answer(kind, reply)
    assert error.kind == "quota" and _has(error, "no credit left")
    for status, words in ((402, "Insufficient credits"), (400, "Your credit balance is too low to access the API.")):
        _, error, wire = await _fault_then_answer(kind, SPEECHES[kind].refusal(status, words))
        assert error.kind == "quota" and _has(error, "no credit left") and len(wire.seen) == 2


async def test_an_unknown_model_as_a_bad_request_is_about_the_model() -> None:
    """OpenRouter's and others' way."""
    bad = SPEECHES["compatible"].refusal(400, "tiny is not a valid model ID")
    _, error, wire = await _fault_then_answer("compatible", bad)
    assert error.kind == "model" and len(wire.seen) == 2


async def test_a_plain_detail_and_a_top_level_error_are_understood() -> None:
    vllm = Vllm()
    _, error, _ = await _fault_then_answer("compatible", vllm.refusal(404, "The model `tiny` does not exist."))
    assert error.kind == "model"
    _, error, _ = await _fault_then_answer("compatible", vllm.detail(401, "Unauthorized"))
    assert error.kind == "key"


async def test_without_a_key_a_server_that_wants_one_is_told_so() -> None:
    async with wire_for("compatible", SPEECHES["compatible"].wrong_key()) as wire:
        backend = make("compatible", wire.url, key="")
        await backend.open()
        _, error = await fail(backend)
        await backend.close()
    assert error.kind == "key" and _has(error, "wants an API key")


@each_openai_like
async def test_a_question_against_the_content_rules(kind: str) -> None:
    rules = SPEECHES[kind].refusal(400, "Your request was flagged by our content management policy.")
    _, error, wire = await _fault_then_answer(kind, rules)
    assert error.kind == "content" and len(wire.seen) == 2


async def test_too_little_memory_for_a_model() -> None:
    full = SPEECHES["ollama"].refusal(500, "model requires more system memory (9.0 GiB) than is available (1.0 GiB)")
    _, error, wire = await _fault_then_answer("ollama", full)
    assert error.kind == "model" and _has(error, "not enough memory") and len(wire.seen) == 2


# -- no connection ---------------------------------------------------------------------------------


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
async def test_nobody_listens(kind: str) -> None:
    assert _has(await _cannot_connect(kind, closed_port_url()), "Start it")


@each
async def test_the_name_is_not_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(host: object, *args: object, **kwargs: object) -> None:
        assert host in (b"model.invalid", "model.invalid")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert _has(await _cannot_connect(kind, "http://model.invalid:8080"), "can't be found")


@each
async def test_nothing_comes_back(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ollama, openai_compatible):
        monkeypatch.setattr(module, "CONNECT_SECONDS", 0.1)
    with _deaf() as url:
        assert _has(await _cannot_connect(kind, url), "nothing came back")


@pytest.fixture(scope="module")
def unknown_authority() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


@each
async def test_a_certificate_of_nobody_we_know(kind: str, unknown_authority: ssl.SSLContext) -> None:
    async with Wire(tls=unknown_authority) as wire:
        assert _has(await _cannot_connect(kind, wire.url), "is not safe")


@each
async def test_a_server_without_tls_behind_https(kind: str) -> None:
    async with Wire() as wire:
        assert _has(await _cannot_connect(kind, wire.url.replace("http:", "https:")), "is not safe")


@each
async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_port_url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    await _answered_after(kind, SPEECHES[kind].answer())


async def test_a_key_in_an_address_is_not_shown() -> None:
    for kind in ("compatible", "ollama"):
        url = closed_port_url().replace("http://", "http://me:sk-secret-123@")
        assert "127.0.0.1" in str(await _cannot_connect(kind, url))


# -- time ------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("where", ["headers", "text"])
async def test_no_first_token_in_time(kind: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (deadlines, openai_answer):
        monkeypatch.setattr(module, "FIRST_TOKEN_SECONDS", 0.15)
    answer = SPEECHES[kind].answer()
    late = Reply(0, fault="hang") if where == "headers" else replace(answer, parts=answer.parts[:0], fault="hang")
    if where == "text":  # comments and empty deltas are no answer
        comment = b": keep-alive\n\n" if kind != "ollama" else SPEECHES[kind].delta("")
        late = replace(answer, parts=(), repeat=comment, pause=0.02)
    begin = time.monotonic()
    got, error, wire = await _fault_then_answer(kind, late)
    assert (got, error.kind) == ("", "timeout") and _has(error, "did not (begin to )?answer")
    assert time.monotonic() - begin < 2 and wire.left.is_set()


@each
async def test_silence_in_mid_answer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "NEXT_TOKEN_SECONDS", 0.1)
    half = replace(SPEECHES[kind].answer(), parts=SPEECHES[kind].parts(("Paris", " is"), finish=""), fault="hang")
    got, error, wire = await _fault_then_answer(kind, half)
    assert (got, error.kind) == ("Paris is", "timeout") and _has(error, "stopped in mid-answer")
    assert wire.left.is_set()


async def test_one_token_a_second_is_an_answer() -> None:
    async def slowly(kind: str) -> list[float]:
        answer = SPEECHES[kind].answer()
        first = next(n for n, part in enumerate(answer.parts) if b"Paris" in part) + 1
        three = (b"".join(answer.parts[:first]), answer.parts[first], b"".join(answer.parts[first + 1 :]))
        async with wire_for(kind, replace(answer, parts=three, pause=1.0)) as wire:
            backend = make(kind, wire.url)
            await backend.open()
            times = []
            async with backend.stream(REQUEST) as items:
                async for _ in text_of(items):
                    times.append(time.monotonic())
            await backend.close()
            return times

    for times in await asyncio.gather(*map(slowly, ["compatible", "ollama"])):
        words = [t for a, t in zip([0.0, *times], times, strict=False) if t - a > 0.5]
        assert len(words) >= 3, "the words came together"


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_ten_thousand_tokens_a_second(kind: str) -> None:
    words = [f" w{number}" for number in range(5_000)]
    answer = SPEECHES[kind].answer(words, burst=100, pause=0.01)
    async with wire_for(kind, answer) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        beats: list[float] = []

        async def beat() -> None:
            while True:
                beats.append(time.monotonic())
                await asyncio.sleep(0.005)

        heart = asyncio.create_task(beat())
        begin = time.monotonic()
        text = await say(backend, replace(REQUEST, max_tokens=10_000))
        seconds = time.monotonic() - begin
        heart.cancel()
        await backend.close()
    assert text == "".join(words)
    gaps = sorted(b - a for a, b in pairwise(beats))
    assert seconds < 10 and gaps[len(gaps) // 2] < 0.06, f"{seconds:.1f} s, {gaps[-9:]}: the loop must live meanwhile"


@each
async def test_an_endless_answer_is_cut_off(kind: str) -> None:
    parts = SPEECHES[kind].parts((), finish="", usage=(0, 0, 0)) if kind != "google" else ()
    endless = replace(SPEECHES[kind].answer(), parts=parts, repeat=SPEECHES[kind].delta(" word"))
    async with wire_for(kind, endless, SPEECHES[kind].answer()) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        begin = time.monotonic()
        text = await say(backend)
        assert len(text) == LEAST_CHARS and text.startswith(" word word")
        assert await wire.client_left(), "the server still sends"
        assert time.monotonic() - begin < 3
        assert await say(backend) == TEXT
        await backend.close()


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_a_line_of_five_megabytes(kind: str) -> None:
    big = SPEECHES[kind].delta("word " * 1_000_000)
    pieces = tuple(big[place : place + 16_000] for place in range(0, len(big), 16_000))
    long = replace(SPEECHES[kind].answer(), parts=pieces)
    async with wire_for(kind, long, SPEECHES[kind].answer()) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        begin = time.monotonic()
        text = await say(backend)
        assert len(text) == LEAST_CHARS and time.monotonic() - begin < 4
        assert await say(backend) == TEXT
        await backend.close()


@pytest.mark.parametrize("kind", ["compatible", "ollama"])
async def test_a_line_that_never_ends(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "FIRST_TOKEN_SECONDS", 0.25)
    opening = SPEECHES[kind].delta("word")[:-10]
    never = replace(SPEECHES[kind].answer(), parts=(opening,), repeat=b"word " * 800)
    got, error, wire = await _fault_then_answer(kind, never)
    assert (got, error.kind) == ("", "timeout") and wire.left.is_set()


# -- what comes broken -----------------------------------------------------------------------------


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
    await _answered_after(kind, broken, SPEECHES[kind].answer())
    got, error, _ = await _fault_then_answer(kind, *[broken] * 3)
    assert (got, error.kind) == ("", "broken") and _has(error, "broke off before it answered")


@each
@pytest.mark.parametrize("fault", ["reset", "cut"])
async def test_broken_off_in_mid_answer(kind: str, fault: str) -> None:
    answer = SPEECHES[kind].answer()
    words = next(n for n, part in enumerate(answer.parts) if b" is" in part) + 1
    got, error, wire = await _fault_then_answer(kind, broken_off(answer, words, fault))  # type: ignore[arg-type]
    assert (got, error.kind) == ("Paris is", "broken") and _has(error, "broke off in mid-answer")
    assert len(wire.seen) == 2, "what was said can't be taken back"


@each
@pytest.mark.parametrize("rubbish", [b'data: {"choices": [{"del\n\n', b"data: \xff\xfe\n\n", b'data: "words"\n\n'])
async def test_a_stream_that_makes_no_sense(kind: str, rubbish: bytes) -> None:
    if kind == "ollama":
        rubbish = rubbish.removeprefix(b"data: ").rstrip() + b"\n"
    answer = SPEECHES[kind].answer()
    got, error, _ = await _fault_then_answer(kind, replace(answer, parts=(rubbish,)))
    assert (got, error.kind) == ("", "broken")
    first = next(n for n, part in enumerate(answer.parts) if b"Paris" in part) + 1
    got, error, _ = await _fault_then_answer(kind, replace(answer, parts=(*answer.parts[:first], rubbish)))
    assert (got, error.kind) == ("Paris", "broken") and _has(error, "broke off in mid-answer")


@each
async def test_bytes_that_end_in_mid_letter(kind: str) -> None:
    words = ("Zürich", " – 東京", " 🙂.")
    data = b"".join(SPEECHES[kind].answer(words).parts)
    cut = data.index("🙂".encode()) + 2
    halves = replace(SPEECHES[kind].answer(), parts=(data[:cut], data[cut:]), pause=0.02)
    single = replace(halves, parts=tuple(data[n : n + 1] for n in range(len(data))), pause=0)
    async with wire_for(kind, halves, single) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        assert await say(backend) == "Zürich – 東京 🙂."
        assert await say(backend) == "Zürich – 東京 🙂."
        await backend.close()


@each
@pytest.mark.parametrize("words", [(), ("",), (" ", "\n")])
async def test_an_empty_answer(kind: str, words: tuple[str, ...]) -> None:
    got, error, wire = await _fault_then_answer(kind, SPEECHES[kind].answer(words))
    assert (got.strip(), error.kind) == ("", "empty") and _has(error, "gave an empty answer")
    assert len(wire.seen) == 2


@each
async def test_a_request_for_one_token_may_be_answered_with_none(kind: str) -> None:
    """It has the talk read in advance."""
    async with wire_for(kind, SPEECHES[kind].answer((), finish="length")) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        assert await say(backend, replace(REQUEST, max_tokens=1)) == ""
        await backend.close()


@each_openai_like
@pytest.mark.parametrize("words", [(), ("Well, ", "I")])
async def test_an_answer_stopped_by_a_filter(kind: str, words: tuple[str, ...]) -> None:
    finish = "content_filter: SAFETY" if kind == "google" else "content_filter"
    got, error, wire = await _fault_then_answer(kind, SPEECHES[kind].answer(words, finish=finish))
    assert (got, error.kind) == ("".join(words), "content") and _has(error, "content filter")
    assert len(wire.seen) == 2


@each
async def test_a_web_page_instead_of_an_answer(kind: str) -> None:
    _, error, _ = await _fault_then_answer(kind, page(200))
    assert error.kind == ("broken" if kind == "ollama" else "setup") and _has(error, "Check the address")


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
    got, error, _ = await _fault_then_answer("compatible", broken)
    assert (got, error.kind) == ("Paris is", "broken")
    got, error, _ = await _fault_then_answer("compatible", *[router.broken(())] * 3)
    assert (got, error.kind) == ("", "server") and _has(error, "status 502")
    await _answered_after("compatible", router.broken((), 429), router.answer())
    got, error, _ = await _fault_then_answer("compatible", router.broken((), "server_error"))
    assert (got, error.kind) == ("", "server") and _has(error, "reports a fault")
    overloaded = event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    await _answered_after(
        "anthropic", Reply(200, SSE, parts=(b"event: error\n" + overloaded,)), SPEECHES["anthropic"].answer()
    )
    told = replace(SPEECHES["ollama"].refusal(200, "an error was encountered while running the model"))
    got, error, _ = await _fault_then_answer("ollama", told)
    assert (got, error.kind) == ("", "server") and _has(error, "reports a fault")


@each
async def test_leaving_a_stream_closes_its_connection(kind: str) -> None:
    slow = replace(SPEECHES[kind].answer([f" word{n}" for n in range(400)]), pause=0.01)
    async with wire_for(kind, slow, SPEECHES[kind].answer()) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        async with backend.stream(REQUEST) as items:
            async for item in items:
                if item:
                    break
        assert await wire.client_left(2), "the server still sends"
        assert await say(backend) == TEXT
        await backend.close()


@each
async def test_a_cancelled_task_closes_its_connection(kind: str) -> None:
    async with wire_for(kind, Reply(0, fault="hang"), SPEECHES[kind].answer()) as wire:
        backend = make(kind, wire.url)
        await backend.open()
        task = asyncio.create_task(say(backend))
        while not wire.seen:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await wire.client_left(2), "the server is still asked"
        assert await say(backend) == TEXT
        await backend.close()


# -- the list of models ----------------------------------------------------------------------------


@each
async def test_models_are_listed_in_each_providers_way(kind: str) -> None:
    speech = SPEECHES[kind]
    listing = {
        "openai": ("gpt-4.1-mini", "text-embedding-3-small", "whisper-1"),
        "google": ("gemini-2.5-flash", "imagen-4", "gemini-embedding-001"),
    }
    names = listing.get(kind, (speech.model,))
    async with Wire([speech.models(*names)]) as wire:
        assert await make(kind, wire.url).models() == [speech.model]
    [request] = wire.seen
    assert request.method == "GET" and request.path == ("/api/tags" if kind == "ollama" else f"{speech.path}/models")
    if kind == "anthropic":
        assert request.headers["x-api-key"] == "sk-secret-123" and "anthropic-version" in request.headers
    elif kind != "ollama":
        assert request.headers["authorization"] == "Bearer sk-secret-123" and "x-api-key" not in request.headers


@each
@pytest.mark.parametrize("what", ["401", "403", "500", "hang", "rubbish"])
async def test_a_list_that_does_not_come(kind: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "MODELS_SECONDS", 0.1)
    monkeypatch.setattr(ollama, "QUERY_SECONDS", 0.1)
    reply, fault = {
        "401": (SPEECHES[kind].wrong_key(), "key"),
        "403": (SPEECHES[kind].refusal(403), "key"),
        "500": (SPEECHES[kind].refusal(500), "server"),
        "hang": (Reply(0, fault="hang"), "timeout"),
        "rubbish": (Reply(200, body=b'{"data": 5, "models": 5}'), "broken"),
    }[what]
    async with Wire([reply]) as wire:
        with pytest.raises(BackendError) as raised:
            await make(kind, wire.url).models()
    check_sentence(raised.value)
    assert raised.value.kind == fault


async def test_a_server_tells_how_much_it_reads() -> None:
    for speech, size in ((SPEECHES["compatible"], {"n_ctx": 1000}), (Vllm(), {"max_model_len": 1000})):
        async with Wire([speech.models("other", "tiny", **size)]) as wire:  # type: ignore[arg-type]
            backend = make("compatible", wire.url, model="tiny")
            await backend.models()
        assert backend.traits.history_words == 400


def _has(error: BackendError, words: str) -> bool:
    with pytest.raises(BackendError, match=words):
        raise error
    return True
