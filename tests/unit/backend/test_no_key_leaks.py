"""A server's words about a key are neither in the sentence nor anywhere behind the exception."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from app.backend import key_names, make_backend
from app.backend.base import Backend, BackendError, ChatRequest, made_for
from app.conversation.prompt import ChatMessage
from tests.support.leaks import SECRET, all_logs, places_with, quoting_peer, texts_of

REQUEST = ChatRequest((ChatMessage("user", "Where is it?"),))


async def _ask(backend: Backend) -> None:
    async with backend.stream(REQUEST) as items:
        async for _ in items:
            pass


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("do", [lambda b: b.models(), _ask], ids=["models", "stream"])
async def test_an_error_has_nothing_of_the_key_behind_it(status: int, do: Callable[[Backend], Awaitable[None]]) -> None:
    with quoting_peer(status) as (url, seen), all_logs() as logs:
        backend = make_backend("compatible", model="any", base_url=f"{url}/v1", key=lambda names: SECRET)
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


async def test_no_key_is_looked_up_for_what_is_no_address() -> None:
    asked: list[tuple[str, ...]] = []
    backend = make_backend("openai", base_url="localhost", key=lambda names: asked.append(tuple(names)) or SECRET)
    with pytest.raises(BackendError, match="no address of a server"):
        await backend.open()
    assert not asked


def test_what_a_backend_was_made_for_is_told_without_what_is_secret() -> None:
    url = "https://ann:pass@server.example/v1?key=word"
    made = make_backend("compatible", model="m", base_url=url)
    assert made_for(made) == ("compatible", "m", "https://server.example/v1")
    assert made_for(make_backend("openai", key=lambda names: SECRET)) == ("openai", "", "")
