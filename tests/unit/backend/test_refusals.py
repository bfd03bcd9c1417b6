"""How each adapter treats refusals: which are tried again, which sentence they get, and that the next request works."""

import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from tests.support.provider_protocols import Vllm, page
from tests.support.wire import Reply
from tests.unit.backend.adapters import (
    SPEECHES,
    answered_after,
    each,
    each_openai_like,
    fail,
    fault_then_answer,
    has_words,
    make,
    wire_for,
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
