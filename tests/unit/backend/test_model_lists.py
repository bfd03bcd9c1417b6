"""The lists of models of each provider, and lists that do not come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.backend import ollama, openai_compatible
from app.backend.base import BackendError
from app.untrusted.limits import MODEL_LIST
from tests.support.provider_protocols import Vllm
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import SPEECHES, check_sentence, each, make


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


async def test_a_server_tells_how_much_it_reads() -> None:
    for speech, size in ((SPEECHES["compatible"], {"n_ctx": 1000}), (Vllm(), {"max_model_len": 1000})):
        async with Wire([speech.models("other", "tiny", **size)]) as wire:  # type: ignore[arg-type]
            backend = make("compatible", wire.url, model="tiny")
            await backend.models()
        assert backend.traits.history_words == 400
