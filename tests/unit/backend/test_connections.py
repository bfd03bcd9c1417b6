"""Servers that can't be reached, and addresses that are not one: each is a sentence."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trustme

from app.backend import ollama, openai_compatible
from app.backend.base import BackendError
from tests.support.servers import closed_port_url
from tests.support.wire import Wire
from tests.unit.backend.adapters import SPEECHES, answered_after, check_sentence, each, fail, has_words, make


@contextmanager
def _deaf() -> Iterator[str]:
    """A port whose backlog is full: connecting to it gets no answer."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    callers = []
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        callers.append(caller)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        for sock in (*callers, listener):
            sock.close()


async def _cannot_connect(kind: str, url: str) -> BackendError:
    """Asks there, and looks that every way to it (models, open, an answer) is a sentence of the same kind."""
    backend = make(kind, url)
    try:
        with pytest.raises(BackendError) as listed:
            await backend.models()
        check_sentence(listed.value)
        if kind == "ollama":  # it is asked for its models first
            with pytest.raises(BackendError) as raised:
                await backend.open()
            error = raised.value
            check_sentence(error)
        else:
            await backend.open()
            _, error = await fail(backend)
    finally:
        await backend.close()
    assert listed.value.kind == error.kind == "network"
    return error


@each
async def test_nobody_listens(kind: str) -> None:
    assert has_words(await _cannot_connect(kind, closed_port_url()), "Start it")


@each
async def test_the_name_is_not_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(host: object, *args: object, **kwargs: object) -> None:
        assert host in (b"model.invalid", "model.invalid")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert has_words(await _cannot_connect(kind, "http://model.invalid:8080"), "can't be found")


@each
async def test_nothing_comes_back(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ollama, openai_compatible):
        monkeypatch.setattr(module, "CONNECT_SECONDS", 0.1)
    with _deaf() as url:
        assert has_words(await _cannot_connect(kind, url), "nothing came back")


@pytest.fixture(scope="module")
def unknown_authority() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


@each
async def test_a_certificate_of_nobody_we_know(kind: str, unknown_authority: ssl.SSLContext) -> None:
    async with Wire(tls=unknown_authority) as wire:
        assert has_words(await _cannot_connect(kind, wire.url), "is not safe")


@each
async def test_a_server_without_tls_behind_https(kind: str) -> None:
    async with Wire() as wire:
        assert has_words(await _cannot_connect(kind, wire.url.replace("http:", "https:")), "is not safe")


@each
async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_port_url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    await answered_after(kind, SPEECHES[kind].answer())


async def test_a_key_in_an_address_is_not_shown() -> None:
    for kind in ("compatible", "ollama"):
        url = closed_port_url().replace("http://", "http://me:sk-secret-123@")
        assert "127.0.0.1" in str(await _cannot_connect(kind, url))
