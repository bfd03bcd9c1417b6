"""Back-ends made by name, their addresses and the way there, their lists of models, and what none says of a key."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.backend import key_names, make_backend, ollama, openai_compatible
from app.backend.base import BackendError, Notice, OpaqueFields, base_address, made_for
from app.backend.ollama import OllamaBackend
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.untrusted.limits import MODEL_LIST
from tests.support.leaks import SECRET
from tests.support.provider_protocols import Vllm, whole
from tests.support.tables import cases
from tests.support.wire import Reply, Wire
from tests.unit.backend.adapters import (
    REQUEST,
    SPEECHES,
    TEXT,
    ask,
    check_sentence,
    each,
    fail,
    make,
    opened,
    opening,
    say,
    standing,
)


async def test_without_a_key_or_an_address() -> None:
    for name in ("openai", "anthropic", "google"):
        with pytest.raises(BackendError, match="no API key") as raised:
            await make_backend(name).open()
        assert raised.value.kind == "key"
    for name in ("compatible", "ollama"):
        with pytest.raises(BackendError, match="is not a server address") as raised:
            await make_backend(name, base_url="ftp://127.0.0.1:1").open()
        assert raised.value.kind == "setup"


@each
async def test_a_request_before_opening_fails_with_a_message(kind: str) -> None:
    with pytest.raises(BackendError, match="not been opened") as raised:
        await say(make(kind, "http://127.0.0.1:9"))
    assert raised.value.kind == "setup"


def test_an_unknown_backend_names_those_there_are() -> None:
    with pytest.raises(BackendError, match="embedded, ollama, openai"):
        make_backend("hal9000")


@cases(
    "name, url, concurrent",
    ("openai", "", True),
    ("compatible", "https://example.org/v1", True),
    ("compatible", "http://127.0.0.1:8080/v1", False),
    ("compatible", "http://192.168.1.20:8080/v1", False),
    ("ollama", "", False),
)
def test_a_server_of_ones_own_is_asked_one_thing_at_a_time(name: str, url: str, concurrent: bool) -> None:
    assert make_backend(name, base_url=url, key=lambda names: "sk-a-key").traits.concurrent is concurrent


@cases(
    "provider, url, names",
    ("openai", "", ("OPENAI_API_KEY",)),
    ("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    ("openai", "https://API.openai.com/v1/", ("OPENAI_API_KEY",)),
    ("openai", "http://api.openai.com/v1", ("KAME_KEY_API_OPENAI_COM",)),
    ("openai", "https://api.openai.com.evil.example/v1", ("KAME_KEY_API_OPENAI_COM_EVIL_EXAMPLE",)),
    ("openai", "https://api.openai.com@evil.example/v1", ("KAME_KEY_EVIL_EXAMPLE",)),
    ("google", "", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    ("compatible", "http://a-b:80/v1", ("KAME_KEY_A__B_80",)),
    ("compatible", "http://a.b:80/v1", ("KAME_KEY_A_B_80",)),
    ("compatible", "", ()),
    ("embedded", "", ()),
    ("nobody", "http://x", ()),
)
def test_a_key_belongs_to_its_own_host_over_tls(provider: str, url: str, names: tuple[str, ...]) -> None:
    assert key_names(provider, url) == names


async def test_no_key_is_looked_up_for_what_is_not_an_address() -> None:
    asked: list[tuple[str, ...]] = []
    backend = make_backend("openai", base_url="localhost", key=lambda names: asked.append(tuple(names)) or SECRET)
    with pytest.raises(BackendError, match="is not a server address"):
        await backend.open()
    assert not asked


def test_what_a_backend_was_made_for_is_shown_without_secrets() -> None:
    url = "https://ann:pass@server.example/v1?key=word"
    made = make_backend("compatible", model="m", base_url=url)
    assert made_for(made) == ("compatible", "m", "https://server.example/v1")
    assert made_for(make_backend("openai", key=lambda names: SECRET)) == ("openai", "", "")


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


@cases(
    "status, message, kind, words",
    (404, "Not Found", "setup", "has no models at this address. .* often ends in /v1"),
    (405, "Method Not Allowed", "setup", "has no models at this address"),
    (200, "Unexpected endpoint or method. (GET /models)", "setup", "has no models at this address"),  # LM Studio
    (403, "no", "key", "does not let this key use its models"),
    (400, "No connected db. no_db_connection", "key", "refuses the API key"),
    (422, "no", "request", "does not accept the request for its models"),
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


@cases(
    "given, address",
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
)
def test_the_address_of_an_endpoint_names_its_server(given: str, address: str) -> None:
    assert base_address(given) == address


def test_ollamas_own_interface_is_used_also_at_the_address_of_the_other_one() -> None:
    assert OllamaBackend(base_url="http://nas:11434/v1/").base_url == "http://nas:11434"


@pytest.mark.parametrize("proxy", ["socks://127.0.0.1:1080/", "socks5h://127.0.0.1:1080", "http://127.0.0.1:9"])
@pytest.mark.parametrize("kind", ["compatible", "ollama"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_past_any_proxy(
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
