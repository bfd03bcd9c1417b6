"""Addresses as users and manuals write them, and the way there: a missing /v1, proxies, servers that load."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.backend.base import BackendError, Notice, OpaqueFields, base_address
from app.backend.ollama import OllamaBackend
from app.backend.openai_compatible import OpenAICompatibleBackend
from tests.support.provider_protocols import whole
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import REQUEST, SPEECHES, TEXT, ask, fail, opened, opening, say, standing

SPEECH = SPEECHES["compatible"]
MODELS = SPEECH.models("tiny")  # type: ignore[attr-defined]
PAGE = Reply(headers={"content-type": "text/html"}, body=b"<html><body>A server</body></html>")
ELSEWHERE = {
    "not found": whole(404, {"detail": "Not Found"}),
    "no method": whole(405, {"detail": "Method Not Allowed"}),
    "an error with status 200": whole(200, {"error": "Unexpected endpoint or method. (GET /models)"}),
    "a page": PAGE,
    "plain text": Reply(headers={"content-type": "text/plain"}, body=b"Ollama is running"),
    "another list": whole(200, {"names": ["tiny"]}),
}


@pytest.mark.parametrize("answer", ELSEWHERE)
@pytest.mark.parametrize("model", ["tiny", ""])
async def test_an_address_without_v1_is_tried_once_with_it_and_the_user_is_told(answer: str, model: str) -> None:
    at = {"/models": ELSEWHERE[answer], "/v1/models": MODELS}
    async with Wire([SPEECH.answer(), SPEECH.answer()], standing=at) as wire:
        async with opening(OpenAICompatibleBackend(base_url=wire.url, model=model, name="LM Studio")) as backend:
            items = await ask(backend)
            assert await say(backend) == TEXT
        [notice] = [item.sentence for item in items if isinstance(item, Notice)]
        assert f"LM Studio has its models at {wire.url}/v1" in notice
        assert {seen.path for seen in wire.seen} == {"/v1/chat/completions"} and len(wire.beside) == 2


async def test_the_first_error_is_told_if_v1_is_no_better() -> None:
    at = {"/models": ELSEWHERE["not found"], "/v1/models": ELSEWHERE["not found"]}
    async with Wire(standing=at) as wire:
        backend = OpenAICompatibleBackend(base_url=wire.url)
        with pytest.raises(BackendError, match="often ends in /v1"):
            await backend.models()
        assert [seen.path for seen in wire.beside] == ["/models", "/v1/models"]


@pytest.mark.parametrize("path", ["/v1", "/api", "/openai/v1"])
async def test_an_address_with_a_path_is_taken_as_it_is(path: str) -> None:
    async with Wire(standing={f"{path}/models": MODELS}) as wire:
        backend = OpenAICompatibleBackend(base_url=f"{wire.url}{path}/")
        assert await backend.models() == ["tiny"] and [seen.path for seen in wire.beside] == [f"{path}/models"]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://nas:8080/v1/chat/completions", "http://nas:8080/v1"),
        ("http://nas:8080/v1/completions/", "http://nas:8080/v1"),
        ("http://nas:8080/v1/models", "http://nas:8080/v1"),
        ("http://nas:8080/v1/responses", "http://nas:8080/v1"),
        (
            "https://a.example/openai/deployments/x/chat/completions?api-version=1",
            "https://a.example/openai/deployments/x?api-version=1",
        ),
        (" http://nas:8080/v1/ ", "http://nas:8080/v1"),
        ("http://nas:11434/api/chat", "http://nas:11434"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("http://[::]:8080/v1", "http://[::1]:8080/v1"),
        ("http://10.0.0.0:8080", "http://10.0.0.0:8080"),
        ("https://models.example/v1", "https://models.example/v1"),
        ("https://example.org/my-models", "https://example.org/my-models"),
        ("https://a.services.example/models", "https://a.services.example/models"),  # Azure's are like this
        ("", ""),
    ],
)
def test_the_address_of_an_endpoint_names_its_server(given: str, address: str) -> None:
    assert base_address(given) == address


def test_ollamas_own_interface_is_used_also_at_the_address_of_the_other_one() -> None:
    assert OllamaBackend(base_url="http://nas:11434/v1/").base_url == "http://nas:11434"


@pytest.mark.parametrize("proxy", ["socks://127.0.0.1:1080/", "socks5h://127.0.0.1:1080", "http://127.0.0.1:9"])
@pytest.mark.parametrize("kind", ["compatible", "ollama"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_server_on_this_machine_is_reached_past_any_proxy(
    host: str, kind: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a name that may lead to IPv6 first, where no server listens."""
    for name in ("all_proxy", "http_proxy", "https_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.setenv("no_proxy", "[::1]")
    async with Wire([SPEECHES[kind].answer()], standing=standing(kind)) as wire:
        url = wire.url.replace("127.0.0.1", host)
        made: Any = OllamaBackend(base_url=url, model="tiny:latest")
        if kind == "compatible":
            made = OpenAICompatibleBackend(base_url=f"{url}/v1", model="tiny")
        async with opening(made) as backend:
            assert await say(backend) == TEXT


@pytest.mark.parametrize("proxy", ["socks://127.0.0.1:1080/", "socks5h://user:s3cret@127.0.0.1:1080"])
async def test_an_unusable_proxy_on_the_way_is_named(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    for made in (
        OpenAICompatibleBackend(base_url="https://models.example/v1", model="tiny"),
        OllamaBackend(base_url="https://ollama.example", model="tiny"),
    ):
        with pytest.raises(BackendError) as raised:
            await made.models()
        sentence = str(raised.value)
        assert proxy.partition(":")[0] in sentence and "127.0.0.1:1080" in sentence and "s3cret" not in sentence
        await made.close()


async def test_a_server_that_loads_is_waited_for_when_its_models_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.backend.openai_compatible.LOAD_POLL_SECONDS", 0.02)
    loading = whole(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    async with Wire([loading, loading, MODELS]) as wire:
        assert await OpenAICompatibleBackend(base_url=f"{wire.url}/v1").models() == ["tiny"]


async def test_an_error_with_status_200_is_one() -> None:
    body = whole(200, {"error": {"message": "Model is not loaded", "type": "server_error"}})
    async with opened("compatible", body) as (_, backend):
        got, error = await fail(backend)
    assert got == "" and error.kind != "empty"


async def test_an_empty_field_of_thoughts_is_sent_back_with_the_calls() -> None:
    """DeepSeek's server refuses the results of calls without it, also if it was empty."""
    answer = SPEECH.answer()
    first = SPEECH.delta("").replace(b'"content": ""', b'"content": null, "reasoning_content": ""')
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    second = SPEECH.delta("").replace(b'"content": ""', f'"content": null, "tool_calls": [{json.dumps(call)}]'.encode())
    called = replace(answer, parts=(first, second, *SPEECH.parts((), finish="tool_calls")))
    async with opened("compatible", called) as (_, backend), backend.stream(REQUEST) as items:
        fields = [item.fields async for item in items if isinstance(item, OpaqueFields)]
    assert fields == ['{"reasoning_content": ""}']
