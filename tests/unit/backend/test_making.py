"""Back-ends made by name, and what none of them says of a key."""

from collections.abc import Awaitable, Callable

import pytest

from app.backend import key_names, make_backend
from app.backend.base import Backend, BackendError, ChatRequest, made_for
from app.conversation.prompt import ChatMessage
from tests.support.leaks import SECRET, all_logs, places_with, quoting_peer, texts_of
from tests.unit.backend.adapters import SPEECHES, TEXT, each, make, say, wire_for


@pytest.mark.parametrize("name", ["compatible", "ollama"])
async def test_made_by_name_it_answers(name: str) -> None:
    async with wire_for(name, SPEECHES[name].answer()) as wire:
        backend: Backend = make_backend(name, model=SPEECHES[name].model, base_url=wire.url + SPEECHES[name].path)
        await backend.open()
        assert await say(backend) == TEXT
        await backend.close()
    assert all("sk-" not in str(seen.headers) for seen in wire.seen)


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


@pytest.mark.parametrize(
    ("name", "url", "concurrent"),
    [
        ("openai", "", True),
        ("compatible", "https://example.org/v1", True),
        ("compatible", "http://127.0.0.1:8080/v1", False),
        ("compatible", "http://192.168.1.20:8080/v1", False),
        ("ollama", "", False),
    ],
)
def test_a_server_of_ones_own_is_asked_one_thing_at_a_time(name: str, url: str, concurrent: bool) -> None:
    assert make_backend(name, base_url=url, key=lambda names: "sk-a-key").traits.concurrent is concurrent


REQUEST = ChatRequest((ChatMessage("user", "Where is it?"),))


async def _ask(backend: Backend) -> None:
    async with backend.stream(REQUEST) as items:
        async for _ in items:
            pass


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("do", [lambda b: b.models(), _ask], ids=["models", "stream"])
async def test_an_error_has_nothing_of_the_key_behind_it(status: int, do: Callable[[Backend], Awaitable[None]]) -> None:
    with quoting_peer(status) as (url, seen), all_logs() as logs:
        backend = make_backend("compatible", model="any", base_url=f"{url}/v1", key_at_hand=lambda names: SECRET)
        await backend.open()
        with pytest.raises(BackendError) as raised:
            await do(backend)
        await backend.close()
    assert SECRET in seen
    # What a debugger's log of the HTTP library says of its own requests is not ours, but it hides keys too.
    assert not places_with(SECRET, texts=[*texts_of(raised.value), *logs, repr(backend)])


@pytest.mark.parametrize(
    ("provider", "url", "names"),
    [
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
    ],
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
