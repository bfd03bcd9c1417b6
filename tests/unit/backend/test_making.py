"""Back-ends that are made by name, without a key, without an address, or used before they are opened."""

from __future__ import annotations

import pytest

from app.backend import make_backend
from app.backend.base import Backend, BackendError
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
        with pytest.raises(BackendError, match="no address of a server") as raised:
            await make_backend(name, base_url="ftp://127.0.0.1:1").open()
        assert raised.value.kind == "setup"


@each
async def test_before_it_is_opened_it_says_so(kind: str) -> None:
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
