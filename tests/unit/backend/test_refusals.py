"""How each adapter treats refusals, and what servers refuse in a request is left out from then on."""

import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from app.backend.base import ChatRequest
from app.conversation.prompt import ChatMessage
from tests.support.provider_protocols import Vllm, page, whole
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    CLOCK,
    REQUEST,
    SPEECHES,
    TEXT,
    answered_after,
    answers_to,
    each,
    each_openai_like,
    fail,
    fault_then_answer,
    has_words,
    make,
    opened,
    say,
    wire_for,
    words_in,
)

Make = Callable[[str], Reply]


def _status(status: int, **how: object) -> Make:
    return lambda kind: SPEECHES[kind].refusal(status, f"This is {status}.", **how)  # type: ignore[arg-type]


REFUSALS: dict[str, tuple[Make, str, str]] = {
    "401": (lambda kind: SPEECHES[kind].wrong_key(), "key", "refuses the API key|does not let this app in"),
    "403": (_status(403), "key", "does not let this"),
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
async def test_a_refusal_that_stays_is_told_at_once(kind: str, what: str) -> None:
    reply, fault, words = REFUSALS[what]
    got, error, wire = await fault_then_answer(kind, reply(kind))
    assert (got, error.kind) == ("", fault)
    assert has_words(error, words)
    assert len(wire.seen) == 2


TRANSIENT: dict[str, tuple[Make, str, str]] = {
    "408": (_status(408), "timeout", "did not answer in time"),
    "429": (_status(429), "quota", "takes no more requests just now|has too much to do"),
    "500": (_status(500), "server", r"internal error \(status 500\)"),
    "502 page": (lambda kind: page(502), "server", r"internal error \(status 502\)"),
    "503": (_status(503), "server", "overloaded just now|too much to do"),
    "504": (_status(504), "timeout", "did not answer in time"),
    "529": (_status(529), "server", "overloaded just now|too much to do"),
}
"""What may pass: it is asked thrice in all."""


@each
@pytest.mark.parametrize("what", TRANSIENT)
async def test_a_fault_that_may_pass_is_tried_thrice_and_told(kind: str, what: str) -> None:
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


@each_openai_like
@pytest.mark.parametrize(
    ("after", "words"),
    [("30", "in 30 seconds"), ("900", "in 15 minutes"), ("86400", "in 24 hours"), ("date", "in [56]. seconds")],
)
async def test_a_long_retry_after_is_told_instead_of_kept(kind: str, after: str, words: str) -> None:
    value = formatdate(time.time() + 60, usegmt=True) if after == "date" else after
    _, error, wire = await fault_then_answer(kind, SPEECHES[kind].refusal(429, headers={"Retry-After": value}))
    assert error.kind == "quota" and has_words(error, words)
    assert error.retry_after == pytest.approx(60 if after == "date" else float(after), abs=5)
    assert len(wire.seen) == 2


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-5", "1e999", ""])
async def test_a_retry_after_that_makes_no_sense_is_as_none(value: str) -> None:
    busy = SPEECHES["openai"].refusal(429, headers={"Retry-After": value})
    _, error, _ = await fault_then_answer("openai", *[busy] * 3)
    assert error.retry_after == 0 and has_words(error, "Ask again in a while")


async def test_googles_own_way_to_ask_for_patience() -> None:
    body = b'[{"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": '
    body += b'[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}}]'
    _, error, _ = await fault_then_answer("google", Reply(429, body=body))
    assert error.retry_after == 34 and has_words(error, "in 34 seconds")


@pytest.mark.parametrize("kind", ["openai", "anthropic", "compatible"])
async def test_no_money_is_not_asked_twice(kind: str) -> None:
    reply = SPEECHES[kind].refusal(429, "You have insufficient quota.", code="insufficient_quota")
    _, error, _ = await fault_then_answer(kind, reply)
    assert error.kind == "quota" and has_words(error, "no credit left")
    for status, words in ((402, "Insufficient credits"), (400, "Your credit balance is too low to access the API.")):
        _, error, wire = await fault_then_answer(kind, SPEECHES[kind].refusal(status, words))
        assert error.kind == "quota" and has_words(error, "no credit left") and len(wire.seen) == 2


async def test_an_unknown_model_as_a_bad_request_is_about_the_model() -> None:
    """OpenRouter's and others' way."""
    bad = SPEECHES["compatible"].refusal(400, "tiny is not a valid model ID")
    _, error, wire = await fault_then_answer("compatible", bad)
    assert error.kind == "model" and len(wire.seen) == 2


async def test_a_plain_detail_and_a_top_level_error_are_understood() -> None:
    vllm = Vllm()
    _, error, _ = await fault_then_answer("compatible", vllm.refusal(404, "The model `tiny` does not exist."))
    assert error.kind == "model"
    _, error, _ = await fault_then_answer("compatible", vllm.detail(401, "Unauthorized"))
    assert error.kind == "key"


async def test_without_a_key_a_server_that_wants_one_is_told_so() -> None:
    async with wire_for("compatible", SPEECHES["compatible"].wrong_key()) as wire:
        backend = make("compatible", wire.url, key="")
        await backend.open()
        _, error = await fail(backend)
        await backend.close()
    assert error.kind == "key" and has_words(error, "wants an API key")


@each_openai_like
async def test_a_question_against_the_content_rules(kind: str) -> None:
    rules = SPEECHES[kind].refusal(400, "Your request was flagged by our content management policy.")
    _, error, wire = await fault_then_answer(kind, rules)
    assert error.kind == "content" and len(wire.seen) == 2


async def test_too_little_memory_for_a_model() -> None:
    full = SPEECHES["ollama"].refusal(500, "model requires more system memory (9.0 GiB) than is available (1.0 GiB)")
    _, error, wire = await fault_then_answer("ollama", full)
    assert error.kind == "model" and has_words(error, "not enough memory") and len(wire.seen) == 2


def _unsupported(kind: str, name: str, **how: Any) -> Reply:
    return SPEECHES[kind].refusal(400, f"Unsupported parameter: '{name}' is not supported with this model.", **how)


def _without_tokens_limit(body: dict[str, Any]) -> bool:
    return "max_completion_tokens" in body and "max_tokens" not in body


REFUSED: dict[str, tuple[str, Reply, Callable[[dict[str, Any]], bool]]] = {
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


@pytest.mark.parametrize("what", REFUSED)
async def test_what_a_server_refuses_is_left_out_and_remembered(what: str) -> None:
    kind, refusal, as_wanted = REFUSED[what]
    answer = SPEECHES[kind].answer()
    request = replace(REQUEST, tools=(CLOCK,))
    items, bodies = await answers_to(kind, refusal, answer, answer, request=request, times=2)
    assert words_in(items) == TEXT
    assert not as_wanted(bodies[0])
    assert as_wanted(bodies[1]) and bodies[2] == bodies[1]
    assert ("tools" in bodies[1]) == (what != "tools"), "only what was refused is left out"


class _Picky(Wire):
    """Refuses the first parameter that it does not accept, and answers when none is left."""

    def __init__(self, kind: str, rules: list[tuple[Callable[[dict[str, Any]], bool], Reply]]) -> None:
        super().__init__()
        self._kind, self._rules = kind, rules

    def reply(self, body: Any) -> Reply:
        for refuses, refusal in self._rules:
            if refuses(body):
                return refusal
        return SPEECHES[self._kind].answer()


async def test_several_refusals_are_learned_one_after_the_other() -> None:
    speech = SPEECHES["openai"]
    rules = [
        (lambda b: "max_completion_tokens" in b, _unsupported("openai", "max_completion_tokens")),
        (lambda b: "temperature" in b, _unsupported("openai", "temperature")),
        (lambda b: b.get("reasoning_effort") in ("none", "minimal", "low"), _unsupported("openai", "reasoning_effort")),
        (lambda b: "stream_options" in b, _unsupported("openai", "stream_options")),
        (lambda b: "tools" in b, _unsupported("openai", "tools")),
        (lambda b: b["messages"][0]["role"] == "system", speech.refusal(400, "no system message, please")),
    ]
    wire = _Picky("openai", rules)  # type: ignore[arg-type]
    request = replace(REQUEST, tools=(CLOCK,))
    items, bodies = await answers_to("openai", wire=wire, request=request, times=2, model="gpt-5-mini")
    assert words_in(items) == TEXT
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
    items, bodies = await answers_to("compatible", wire=wire, request=replace(REQUEST, tools=(CLOCK,)), times=2)
    assert words_in(items) == TEXT and len(bodies) <= 5 and bodies[-1] == bodies[-2]
    assert set(bodies[-1]) == {"model", "messages", "stream"}


@pytest.mark.parametrize("kind", ["openai", "google", "compatible", "ollama"])
async def test_what_is_refused_in_every_way_is_told_and_spoils_nothing(kind: str) -> None:
    refuse = [True]
    wire = _Picky(kind, [(lambda b: refuse[0], SPEECHES[kind].refusal(400, "Bad Request"))])
    wire._standing = wire_for(kind)._standing
    request = replace(REQUEST, tools=(CLOCK,))
    async with opened(kind, wire=wire) as (_, backend):
        _, error = await fail(backend, request)
        assert error.kind == "request" and "does not accept the request" in str(error)
        assert len(wire.seen) <= 9
        refuse[0] = False
        assert await say(backend, request) == TEXT
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
    rules = [
        (lambda b: "think" in b, speech.refusal(400, '"tiny:latest" does not support thinking')),
        (lambda b: bool(b.get("tools")), speech.refusal(400, "tiny:latest does not support tools")),
    ]
    wire = _Picky("ollama", rules)  # type: ignore[arg-type]
    standing = speech.standing("tiny:latest", capabilities=("completion", "thinking", "tools"))  # type: ignore[union-attr]
    wire._standing = standing
    items, bodies = await answers_to("ollama", wire=wire, request=replace(REQUEST, tools=(CLOCK,)), times=2)
    assert words_in(items) == TEXT and len(bodies) == 4
    assert "think" not in bodies[-1] and not bodies[-1].get("tools")


LONG = ChatRequest(
    (
        ChatMessage("system", "Be short."),
        *(ChatMessage("user" if n % 2 == 0 else "assistant", f"Turn {n} of the conversation.") for n in range(8)),
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
    async with opened(kind, too_long, too_long, SPEECHES[kind].answer()) as (wire, backend):
        before = backend.traits.history_words
        assert await say(backend, LONG) == TEXT
        assert backend.traits.history_words < before, "the next requests are to fit at once"
    sizes = [len(seen.body["messages"]) for seen in wire.seen]
    assert sizes[0] > sizes[1] > sizes[2] >= 2
    for seen in wire.seen:
        first, *rest = seen.body["messages"]
        assert first["content"] == "Be short." and rest[0]["role"] == "user" and rest[-1]["content"] == "Where is it?"


async def test_a_talk_that_stays_too_long_is_a_sentence() -> None:
    too_long = SPEECHES["openai"].refusal(400, "maximum context length", code="context_length_exceeded")
    wire = _Picky("openai", [(lambda b: True, too_long)])
    async with opened("openai", wire=wire) as (_, backend):
        _, error = await fail(backend, LONG)
    assert error.kind == "request" and "can read at once" in str(error) and len(wire.seen) < 6
