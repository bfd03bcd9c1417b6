"""Tests the probes of the machine, also when something hangs or fails."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

import app.audio.devices.list_process
from app.audio.devices.listing import Device
from app.audio.io.base import DeviceError
from app.diagnostics import machine
from app.diagnostics.machine import (
    NO_PACKAGES,
    NO_SOUND,
    Card,
    Machine,
    OllamaModel,
    Sound,
    probe_card,
    probe_keys,
    probe_machine,
    probe_ollama,
    probe_sound,
)
from app.frontend.base import FrontEndError
from app.platform import nvidia
from app.platform.nvidia import Card as NvidiaCard
from app.platform.nvidia import Driver

GB = 1 << 30
L4 = NvidiaCard("L4", 22 * GB, 21 * GB)
NOBODY = "http://127.0.0.1:9"
"""No Ollama is there."""


@asynccontextmanager
async def ollama(*models: dict[str, Any], raw: bytes = b"") -> AsyncIterator[str]:
    """A server that lists these models, at the address that is given."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        assert asked.startswith(b"GET /api/tags ")
        body = raw or json.dumps({"models": models}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


def no_key(names: Sequence[str]) -> tuple[str, str]:
    return "", "none"


@pytest.mark.parametrize(
    ("driver", "found"),
    [
        (None, None),
        (
            Driver("580", (13, 0), (NvidiaCard("T4", 15 * GB, 14 * GB), L4)),
            Card("L4", 22 * GB, 21 * GB, driver="580", cuda=(13, 0)),
        ),
        (Driver(trouble="It is stuck."), Card(trouble="It is stuck.")),
        (
            Driver("470", (11, 4), (L4,)),
            Card("L4", 22 * GB, 21 * GB, nvidia.OLD_DRIVER.format("470"), driver="470", cuda=(11, 4)),
        ),
    ],
)
def test_the_driver_tells_the_card(driver: Driver | None, found: Card | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "look", lambda seconds: driver)
    monkeypatch.setattr(machine, "require_torch", lambda: None)
    assert probe_card() == found


def test_a_card_whose_packages_are_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise FrontEndError("not installed")

    monkeypatch.setattr(nvidia, "look", lambda seconds: Driver("580", (13, 0), (L4,)))
    monkeypatch.setattr(machine, "require_torch", refuse)
    card = probe_card()
    assert card is not None and card.name == "L4" and card.lacks_packages and card.trouble == NO_PACKAGES


def test_the_default_devices_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [
        Device("Webcam", "ALSA", 1, 0, 48_000, False, False, 2),
        Device("Desk microphone", "ALSA", 1, 0, 48_000, True, False, 0),
        Device("Headphones", "ALSA", 0, 2, 48_000, False, True, 1),
    ]
    monkeypatch.setattr(app.audio.devices.list_process, "list_current_devices", lambda: listed)
    assert probe_sound() == Sound(("Desk microphone", "Webcam"), ("Headphones",))

    def fail() -> list[Device]:
        raise DeviceError("No sound here.")

    monkeypatch.setattr(app.audio.devices.list_process, "list_current_devices", fail)
    assert probe_sound() == Sound(trouble="No sound here.")


def test_the_models_of_an_ollama_that_converse_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    embedder = {"name": "nomic-embed-text:latest", "size": 3 * 10**8, "details": {"family": "nomic-bert"}}
    elsewhere = {"name": "gpt-oss:120b-cloud", "size": 400, "remote_host": "https://ollama.com"}
    here = {"name": "gemma3:4b", "size": 3_300_000_000, "details": {"family": "gemma3"}}

    async def go() -> None:
        async with ollama(embedder, elsewhere, here) as url:
            found = await asyncio.to_thread(probe_ollama, url)
            assert found == (OllamaModel("gpt-oss:120b-cloud", 0), OllamaModel("gemma3:4b", 3_300_000_000))
        async with ollama() as url:
            assert await asyncio.to_thread(probe_ollama, url) == ()
        async with ollama(raw=b"<html>Something else</html>") as url:
            assert await asyncio.to_thread(probe_ollama, url) is None

    asyncio.run(go())
    assert probe_ollama("nonsense") is None and probe_ollama(NOBODY) is None


def test_the_providers_with_a_key_are_listed() -> None:
    keys = {"OPENAI_API_KEY", "GOOGLE_API_KEY"}
    assert probe_keys(lambda names: ("key" if keys & set(names) else "", "keyring")) == ("openai", "google")


def test_what_hangs_or_fails_is_told_and_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr(machine, "probe_card", lambda: None)
    release = threading.Event()

    def hang(names: Sequence[str]) -> tuple[str, str]:
        release.wait(20)
        return "", "none"

    def fail() -> Sound:
        raise RuntimeError("no sound here")

    monkeypatch.setattr(machine, "probe_sound", fail)

    async def go() -> Machine:
        try:
            return await probe_machine(NOBODY, hang)
        finally:
            release.set()

    found = asyncio.run(go())
    assert (found.card, found.ollama, found.keys, found.sound) == (None, None, None, Sound(trouble=NO_SOUND))


def test_probes_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(machine, "probe_card", lambda: release.wait(20) and None)
    monkeypatch.setattr(machine, "probe_sound", Sound)

    async def go() -> None:
        task = asyncio.create_task(probe_machine(NOBODY, no_key))
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        await asyncio.wait([task], timeout=1)
        assert task.cancelled()
        release.set()

    asyncio.run(go())
