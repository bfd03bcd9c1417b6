"""The two HTTP adapters against real servers on loopback: whole answers, sentences for faults, no keys in them."""

from __future__ import annotations

import asyncio

import pytest

from app.backend import make_backend
from app.backend.base import Backend, BackendError, ChatRequest
from app.conversation.prompt import ChatMessage
from tests.support.servers import Script, closed_port_url, peer

REQUEST = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Where is it?")), max_tokens=50)
KINDS = ["openai", "ollama"]


def _make(kind: str, url: str, model: str = "tiny") -> Backend:
    base = f"{url}/v1" if kind == "openai" else url
    return make_backend(kind, model=model, base_url=base, key=lambda variable: "sk-secret-123")


async def _ask(backend: Backend) -> list[str]:
    try:
        await backend.open()
        async with backend.stream(REQUEST) as deltas:
            return [delta async for delta in deltas]
    finally:
        await backend.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_streams_in(kind: str) -> None:
    script = Script()
    with peer(script, ollama=kind == "ollama") as url:
        assert await _ask(_make(kind, url)) == ["Paris", " is", " it."]
    [body] = script.requests
    assert body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Where is it?"},
    ]
    assert body["model"] == "tiny" and body["stream"] is True
    limit = body["options"]["num_predict"] if kind == "ollama" else body["max_tokens"]
    assert limit == 50


@pytest.mark.parametrize("kind", KINDS)
async def test_without_a_model_the_servers_first_one_answers(kind: str) -> None:
    script = Script()
    script.models = ["first", "second"]
    with peer(script, ollama=kind == "ollama") as url:
        await _ask(_make(kind, url, model=""))
    assert script.requests[0]["model"] == "first"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_without_models_says_so(kind: str) -> None:
    script = Script()
    script.models = []
    with peer(script, ollama=kind == "ollama") as url, pytest.raises(BackendError, match="no model"):
        await _ask(_make(kind, url, model=""))


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_there_is_a_sentence(kind: str) -> None:
    with pytest.raises(BackendError) as raised:
        await _ask(_make(kind, closed_port_url()))
    assert "Start it" in str(raised.value) and str(raised.value).endswith(".")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_break_in_mid_answer_gives_what_came_and_a_sentence(kind: str) -> None:
    script = Script(("Paris", " is", " it."))
    script.break_after = 2
    got: list[str] = []
    with peer(script, ollama=kind == "ollama") as url:
        backend = _make(kind, url)
        await backend.open()
        with pytest.raises(BackendError, match="broke off in mid-answer"):
            async with backend.stream(REQUEST) as deltas:
                async for delta in deltas:
                    got.append(delta)
        await backend.close()
    assert got == ["Paris", " is"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_refusal_is_a_sentence_without_the_key(kind: str, status: int) -> None:
    script = Script(status=status)
    with peer(script, ollama=kind == "ollama") as url, pytest.raises(BackendError) as raised:
        await _ask(_make(kind, url))
    text = str(raised.value)
    assert text.endswith(".") and "sk-secret" not in text and "sk-secret" not in repr(raised.value.__cause__)


@pytest.mark.parametrize("kind", KINDS)
async def test_leaving_a_stream_closes_its_connection(kind: str) -> None:
    script = Script(tuple(f" word{n}" for n in range(4000)))
    script.delay = 0.005
    with peer(script, ollama=kind == "ollama") as url:
        backend = _make(kind, url)
        await backend.open()
        async with backend.stream(REQUEST) as deltas:
            assert await anext(aiter(deltas)) == " word0"
        assert await asyncio.to_thread(script.closed_early.wait, 5), "the server still sends"
        await backend.close()


async def test_a_brain_that_never_begins_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import app.backend.base as base

    monkeypatch.setattr(base, "FIRST_TOKEN_SECONDS", 0.05)
    script = Script(("", "", ""))
    script.delay = 0.2
    with peer(script) as url, pytest.raises(BackendError, match="did not begin to answer"):
        await _ask(_make("openai", url))


async def test_openai_without_a_key_and_an_address_that_is_none() -> None:
    with pytest.raises(BackendError, match="no API key"):
        await make_backend("openai").open()
    with pytest.raises(BackendError, match="no address of a server"):
        await make_backend("openai", base_url="localhost").open()


def test_an_unknown_brain_names_those_there_are() -> None:
    with pytest.raises(BackendError, match="embedded, ollama, openai"):
        make_backend("hal9000")
