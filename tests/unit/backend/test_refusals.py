"""How each adapter treats refusals, and what servers refuse in a request is left out from then on."""

import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate

import pytest

from app.backend.base import ChatRequest
from app.backend.openai_faults import DEFAULT_REST_SECONDS
from app.conversation.prompt import ChatMessage
from tests.support.provider_protocols import Vllm, page, whole
from tests.support.rule_server import Row, Rule, RuleServer
from tests.support.tables import cases
from tests.support.wire import Reply
from tests.unit.backend.adapters import (
    CLOCK,
    REQUEST,
    SPEECHES,
    TEXT,
    answered_after,
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

Make = Callable[[str], Reply]


def _status(status: int, **how: object) -> Make:
    return lambda kind: SPEECHES[kind].refusal(status, f"This is {status}.", **how)  # type: ignore[arg-type]


REFUSALS: dict[str, tuple[Make, str, str]] = {
    "401": (lambda kind: SPEECHES[kind].wrong_key(), "key", "refuses the API key|denies this app access"),
    "403": (_status(403), "key", "does not let this|denies this app"),
    "400 model": (
        lambda kind: (
            SPEECHES[kind].no_model()
            if kind == "ollama"
            else SPEECHES[kind].refusal(
                400, "/chat/completions: Invalid model name passed in model=x. Call `/v1/models`."
            )
        ),
        "model",
        "does not (know|have) the model “",
    ),
    "404 model": (lambda kind: SPEECHES[kind].no_model(), "model", "does not (know|have) the model “"),
}
"""What asking again can't help: the reply, the kind, words of the sentence."""


@each
@pytest.mark.parametrize("what", REFUSALS)
async def test_a_refusal_that_stays_is_reported_at_once(kind: str, what: str) -> None:
    reply, fault, words = REFUSALS[what]
    got, error, wire = await fault_then_answer(kind, reply(kind))
    assert (got, error.kind) == ("", fault)
    assert has_words(error, words)
    assert len(wire.seen) == 2


TRANSIENT: dict[str, tuple[Make, str, str]] = {
    "408": (_status(408), "timeout", "did not answer in time"),
    "429": (_status(429), "quota", "takes no more requests just now|is overloaded"),
    "500": (_status(500), "server", r"internal error \(status 500\)"),
    "502 page": (lambda kind: page(502), "server", r"internal error \(status 502\)"),
    "503": (_status(503), "server", "overloaded just now"),
    "504": (_status(504), "timeout", "did not answer in time"),
    "529": (_status(529), "server", "overloaded just now"),
}
"""What may pass: it is asked thrice in all."""


@each
@pytest.mark.parametrize("what", TRANSIENT)
async def test_a_fault_that_may_pass_is_tried_three_times_and_reported(kind: str, what: str) -> None:
    reply, fault, words = TRANSIENT[what]
    got, error, wire = await fault_then_answer(kind, *[reply(kind)] * 3)
    assert (got, error.kind) == ("", fault)
    assert has_words(error, words)
    assert len(wire.seen) == 4


@each
@pytest.mark.parametrize("what", TRANSIENT)
async def test_a_fault_that_passes_is_not_noticed(kind: str, what: str) -> None:
    await answered_after(kind, TRANSIENT[what][0](kind), SPEECHES[kind].answer())


@each_openai_like
async def test_a_short_retry_after_is_kept(kind: str) -> None:
    busy = SPEECHES[kind].refusal(429, headers={"Retry-After": "0.12"})
    wire = await answered_after(kind, busy, SPEECHES[kind].answer())
    assert 0.12 <= wire.seen[1].at - wire.seen[0].at < 1.5


def is_left(seconds: float | None, all_of_them: float, begin: float, rounding: float) -> bool:
    """Returns whether so many seconds were left at some moment since `begin`, however long ago that was."""
    return seconds is not None and all_of_them - (time.time() - begin) - rounding <= seconds <= all_of_them


@each_openai_like
@pytest.mark.parametrize(
    ("after", "words"),
    [("30", "in 30 seconds"), ("900", "in 15 minutes"), ("86400", "in 24 hours"), ("date", "in [0-9]+ seconds")],
)
async def test_a_long_retry_after_is_reported_instead_of_kept(kind: str, after: str, words: str) -> None:
    begin = time.time()
    value = formatdate(begin + 60, usegmt=True) if after == "date" else after
    _, error, wire = await fault_then_answer(kind, SPEECHES[kind].refusal(429, headers={"Retry-After": value}))
    assert error.kind == "quota" and has_words(error, words)
    if after == "date":  # it has whole seconds
        assert is_left(error.retry_after, 60, begin, 1.0)
    else:
        assert error.retry_after == float(after)
    assert len(wire.seen) == 2


async def test_the_time_at_which_openrouter_accepts_requests_again_is_waited_for() -> None:
    begin = time.time()
    reset = f'"metadata": {{"headers": {{"X-RateLimit-Reset": "{int((begin + 45) * 1000)}"}}}}'
    busy = Reply(429, body=b'{"error": {"message": "Rate limit exceeded", "code": 429, %s}}' % reset.encode())
    _, error, wire = await fault_then_answer("compatible", busy)
    assert error.kind == "quota" and is_left(error.retry_after, 45, begin, 0.001) and len(wire.seen) == 2


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-5", "1e999", ""])
async def test_a_retry_after_that_makes_no_sense_is_as_none(value: str) -> None:
    busy = SPEECHES["openai"].refusal(429, headers={"Retry-After": value})
    _, error, _ = await fault_then_answer("openai", *[busy] * 3)
    assert error.retry_after == DEFAULT_REST_SECONDS and has_words(error, "Ask again in a while")


async def test_without_a_key_a_server_that_wants_one_is_reported() -> None:
    async with wire_for("compatible", SPEECHES["compatible"].wrong_key()) as wire:
        backend = make("compatible", wire.url, key="")
        await backend.open()
        _, error = await fail(backend)
        await backend.close()
    assert error.kind == "key" and has_words(error, "wants an API key")


def _said(provider: str, status: int, message: str, **details: str) -> tuple[str, Reply]:
    return provider, SPEECHES[provider].refusal(status, message, **details)  # type: ignore[arg-type]


LATER = '{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}'
SAID: dict[str, tuple[tuple[str, Reply], str, str]] = {
    "Google asks for patience": (
        ("google", Reply(429, body=b'[{"error": {"code": 429, "details": [%s]}}]' % LATER.encode())),
        "quota",
        "in 34 seconds",
    ),
    "OpenAI: no credit": (
        _said("openai", 429, "You exceeded your current quota.", kind="insufficient_quota", code="insufficient_quota"),
        "quota",
        "no credit left",
    ),
    "OpenRouter: no credit": (_said("compatible", 402, "Insufficient credits"), "quota", "no credit left"),
    "Anthropic: no credit": (
        _said("anthropic", 400, "Your credit balance is too low to access the Anthropic API."),
        "quota",
        "no credit left",
    ),
    "OpenRouter: no model": (_said("compatible", 400, "tiny is not a valid model ID"), "model", "does not know"),
    "vLLM: no model": (("compatible", Vllm().refusal(404, "The model `tiny` does not exist.")), "model", "not know"),
    "FastAPI: no key": (("compatible", Vllm().detail(401, "Unauthorized")), "key", "refuses the API key"),
    "LM Studio: nothing loaded": (
        _said("compatible", 400, "No models loaded. Please load a model in the developer page.", param="model"),
        "model",
        "[Ll]oad",
    ),
    "LM Studio: no such address": (
        ("compatible", whole(200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"})),
        "setup",
        "/v1",
    ),
    "OpenAI: flagged": (
        _said("openai", 400, "Your prompt was flagged by our safety system."),
        "content",
        "content rules",
    ),
    "Azure: filtered": (
        _said(
            "compatible", 400, "The prompt triggered Azure OpenAI's content management policy.", code="content_filter"
        ),
        "content",
        "content rules",
    ),
    "Ollama: too large": (
        _said("ollama", 500, "model requires more system memory (9.0 GiB) than is available (1.0 GiB)"),
        "model",
        "not enough memory",
    ),
}
"""What single servers say: the provider and its reply, the kind, words of the sentence."""


@pytest.mark.parametrize("what", SAID)
async def test_what_a_server_says_is_understood_and_not_asked_twice(what: str) -> None:
    (kind, reply), fault, words = SAID[what]
    _, error, wire = await fault_then_answer(kind, reply)
    assert error.kind == fault and has_words(error, words) and len(wire.seen) == 2


@pytest.mark.parametrize("kind", ["openai", "google", "compatible", "ollama"])
async def test_what_is_refused_in_every_way_is_reported_and_spoils_nothing(kind: str) -> None:
    refuse = [True]
    server = RuleServer(Row(SPEECHES[kind], (Rule(lambda b: refuse[0], "Bad Request"),)))
    request = replace(REQUEST, tools=(CLOCK,))
    async with opened(kind, wire=server) as (_, backend):
        _, error = await fail(backend, request)
        assert error.kind == "request" and "does not accept the request" in str(error)
        assert len(server.seen) <= 9
        refuse[0] = False
        assert await say(backend, request) == TEXT
    assert server.seen[-1].body == server.seen[0].body, "a refusal that was about something else has taught nothing"


LONG = ChatRequest(
    (
        ChatMessage("system", "Be short."),
        *(ChatMessage("user" if n % 2 == 0 else "assistant", f"Turn {n} of the conversation.") for n in range(8)),
        ChatMessage("user", "Where is it?"),
    )
)


@cases(
    "kind, status, message",
    ("openai", 400, "This model's maximum context length is 128 tokens."),
    ("compatible", 400, "the request exceeds the available context size, try increasing it"),
    ("anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ("google", 400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
    ("compatible", 413, "Request too long"),
)
async def test_a_conversation_that_is_too_long_is_asked_shorter(kind: str, status: int, message: str) -> None:
    too_long = SPEECHES[kind].refusal(status, message)
    async with opened(kind, too_long, too_long, SPEECHES[kind].answer()) as (wire, backend):
        before = backend.traits.history_words
        assert await say(backend, LONG) == TEXT
        assert backend.traits.history_words < before, "the next requests are to fit at once"
    sizes = [len(seen.body["messages"]) for seen in wire.seen]
    assert sizes[0] > sizes[1] > sizes[2] >= 2
    for seen in wire.seen:
        first, *rest = seen.body["messages"]
        assert first["content"] == "Be short." and rest[0]["role"] == "user" and rest[-1]["content"] == "Where is it?"


async def test_a_conversation_that_stays_too_long_is_a_sentence() -> None:
    wire = RuleServer(Row(SPEECHES["openai"], (Rule(lambda b: True, "This model's maximum context length is 128."),)))
    async with opened("openai", wire=wire) as (_, backend):
        _, error = await fail(backend, LONG)
    assert error.kind == "request" and "can read at once" in str(error) and len(wire.seen) < 6
