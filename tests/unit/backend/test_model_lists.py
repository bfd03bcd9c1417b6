"""The lists of models of each provider, and lists that do not come."""

import json
from dataclasses import replace

import pytest

from app.backend import ollama, openai_compatible
from app.backend.base import BackendError
from app.untrusted.limits import MODEL_LIST
from tests.support.provider_protocols import Vllm
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import SPEECHES, check_sentence, each, fail, make, opened


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
    if what == "hang":  # only then: on a busy machine the others take their time too
        for module in (openai_compatible, ollama):
            monkeypatch.setattr(module, "MODEL_LIST", replace(MODEL_LIST, seconds=0.1))
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


@pytest.mark.parametrize(
    ("status", "message", "kind", "words"),
    [
        (404, "Not Found", "setup", "has no models at this address. .* often ends in /v1"),
        (405, "Method Not Allowed", "setup", "has no models at this address"),
        (200, "Unexpected endpoint or method. (GET /models)", "setup", "has no models at this address"),  # LM Studio
        (403, "no", "key", "does not let this key use its models"),
        (400, "No connected db. no_db_connection", "key", "refuses the API key"),
        (422, "no", "request", "does not accept the request for its models"),
    ],
)
async def test_no_model_is_named_before_one_is_chosen(status: int, message: str, kind: str, words: str) -> None:
    async with Wire([SPEECHES["compatible"].refusal(status, message)]) as wire:
        backend = make("compatible", wire.url, model="")
        with pytest.raises(BackendError, match=words) as raised:
            await backend.open()
        await backend.close()
    check_sentence(raised.value)
    assert raised.value.kind == kind and "“”" not in str(raised.value)


async def test_a_model_that_the_server_chose_is_named() -> None:
    speech = SPEECHES["compatible"]
    wire = Wire([speech.models("tiny"), speech.no_model()])
    async with opened("compatible", wire=wire, model="") as (_, backend):
        _, error = await fail(backend)
    assert "does not know the model “tiny”" in str(error)


async def test_models_that_a_look_alike_of_ollama_lists_by_name_alone() -> None:
    listed = {"models": [{"name": "gemma3:4b"}, {"model": "tiny", "name": "other"}, {"name": 3}, {"model": None}, {}]}
    async with Wire([Reply(body=json.dumps(listed).encode())]) as wire:
        assert await make("ollama", wire.url, model="").models() == ["gemma3:4b", "tiny"]


@pytest.mark.parametrize("status", [400, 404, 405, 501])
async def test_a_look_alike_of_ollama_that_loads_nothing_is_opened(status: int) -> None:
    refused = Reply(status, body=b'{"error": "no such call"}')
    standing = {
        **{path: refused for path in ("/api/generate", "/api/show", "/api/ps")},
        "/api/tags": SPEECHES["ollama"].models("tiny"),
    }
    async with opened("ollama", wire=Wire(standing=standing), model="tiny"):
        pass


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_look_alike_of_ollama_that_fetches_nothing_is_reported(status: int) -> None:
    async with Wire([Reply(status, body=b'{"error": "no such call"}')]) as wire:
        with pytest.raises(BackendError, match="can't download models") as raised:
            async for _ in make("ollama", wire.url).pull("gemma3"):  # type: ignore[attr-defined]
                pass
    check_sentence(raised.value)


async def test_a_server_reports_how_much_it_reads() -> None:
    for speech, size in ((SPEECHES["compatible"], {"n_ctx": 1000}), (Vllm(), {"max_model_len": 1000})):
        async with Wire([speech.models("other", "tiny", **size)]) as wire:  # type: ignore[arg-type]
            backend = make("compatible", wire.url, model="tiny")
            await backend.models()
        assert backend.traits.history_words == 400
