"""What the app finds out about the machine it runs on: this very one, and others by what their tools answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.audio.devices.listing import Device
from app.frontend.base import FrontEndError
from app.platform import nvidia
from app.platform.hardware import memory_bytes
from app.platform.nvidia import Card as NvidiaCard
from app.platform.nvidia import Driver
from app.services import machine_check as looked
from app.services.api_keys import key_store
from app.services.machine_check import Card, MachineInspector, find_card
from app.services.machine_views import MachineView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

GB = 1 << 30
BIG = Card("NVIDIA GeForce RTX 4090", 24 * GB, 23 * GB)
MIDDLING = Card("NVIDIA GeForce RTX 4070", 12 * GB, int(11.6 * GB))
SMALL = Card("NVIDIA GeForce GTX 1650", 4 * GB, 4 * GB)
NOBODY = "http://127.0.0.1:9"
"""No Ollama is there."""


class Keys:
    """Has a key under some names."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def find(self, names: Sequence[str]) -> tuple[str, Any]:
        return ("a key", "keyring") if set(names) & set(self._names) else ("", "none")


MICROPHONE = Device("Desk microphone", "ALSA", 1, 0, 48_000, True, False, 0)
HEADPHONES = Device("Headphones", "ALSA", 0, 2, 48_000, False, True, 1)


def made(
    card: Card | None = None,
    *,
    settings: Settings | None = None,
    keys: Any = None,
    devices: Sequence[Device] = (MICROPHONE, HEADPHONES),
    room: int = 200 * 10**9,
) -> MachineInspector:
    settings = settings or Settings(ollama_url=NOBODY)
    return MachineInspector(
        settings,
        keys or Keys(),
        list_devices=lambda: devices,
        look_for_card=lambda: card,
        room=lambda _: room,
        memory=lambda: 16 * GB,
    )


def look(machine: MachineInspector) -> MachineView:
    return asyncio.run(machine.look(lambda words, share: None))


def said(view: MachineView, topic: str) -> tuple[str, str]:
    return next((finding.state, finding.sentence) for finding in view.findings if finding.topic == topic)


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


def test_this_very_machine_is_looked_at_in_order() -> None:
    told: list[tuple[str, float]] = []
    machine = MachineInspector(Settings(), key_store())
    view = asyncio.run(machine.look(lambda words, share: told.append((words, share))))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    assert all(words.endswith("…") for words, _ in told)
    topics = ["card", "processor", "disk", "microphone", "loudspeaker", "ollama", "keys"]
    assert [finding.topic for finding in view.findings] == topics
    assert all(finding.sentence.endswith(".") for finding in view.findings)
    assert f"{round(memory_bytes() / GB)} GB of memory" in said(view, "processor")[1]
    assert [(fit.frontend, fit.precision) for fit in view.fits] == [
        ("cascade", ""),
        *((name, precision) for name in ("kame", "moshi") for precision in ("bf16", "int8", "int4")),
    ]


def test_without_a_card_the_embedded_voice_is_recommended() -> None:
    view = look(made())
    assert (view.frontend, view.precision, view.backend) == ("cascade", "", BackendChoice())
    assert view.advice == (
        "This machine has no NVIDIA card: KAME speaks with the embedded voice, on the processor. "
        "Its brain is the built-in one."
    )
    assert said(view, "card") == ("fair", "No NVIDIA card. The embedded voice needs none.")
    assert [fit.fits for fit in view.fits] == [True] + [False] * 6
    assert view.fits_of("kame")[0].sentence == "KAME needs an NVIDIA graphics card with 8 GB or more."


def test_each_card_gets_the_best_that_fits_it() -> None:
    view = look(made(BIG))
    assert (view.frontend, view.precision) == ("kame", "bf16")
    assert view.advice.startswith("24 GB card: KAME in bf16, once its weights (16 GB) are here.")
    assert view.fits_of("kame")[0].download_bytes == 16_200_000_000 and view.fits_of("cascade")[0].download_bytes == 0
    assert said(view, "card") == ("good", "NVIDIA GeForce RTX 4090, 24 GB, of which 23 GB are free.")
    view = look(made(MIDDLING))
    assert (view.frontend, view.precision) == ("kame", "int8")
    bf16, int8, _ = view.fits_of("kame")
    assert (bf16.fits, int8.fits) == (False, True)
    assert bf16.sentence == "In bf16 it takes 18 GB of the card, of which 12 GB are free."
    assert int8.sentence.startswith("Takes 11 GB of the card, and remembers ")
    view = look(made(SMALL))
    assert (view.frontend, view.precision) == ("cascade", "")
    assert view.advice.startswith("The card has too little memory free: KAME speaks with the embedded voice")


def test_memory_that_the_talk_itself_holds_counts_as_free() -> None:
    full = Card(BIG.name, BIG.total, 2 * GB)
    assert look(made(full)).frontend == "cascade"
    assert look(made(full, settings=Settings(frontend="kame", ollama_url=NOBODY))).precision == "bf16"


def test_weights_of_the_users_own_have_nothing_to_come(tmp_path: Path) -> None:
    settings = Settings(weights_folder=str(tmp_path), ollama_url=NOBODY)
    view = look(made(BIG, settings=settings))
    assert view.fits_of("kame")[0].download_bytes == 0
    assert view.advice.startswith("24 GB card: KAME in bf16. ")


@pytest.mark.parametrize(
    ("driver", "found"),
    [
        (None, None),
        (
            Driver("580", (13, 0), (NvidiaCard("T4", 15 * GB, 14 * GB), NvidiaCard("L4", 22 * GB, 21 * GB))),
            Card("L4", 22 * GB, 21 * GB),
        ),
        (Driver(trouble="It is stuck."), Card(trouble="It is stuck.")),
        (
            Driver("470", (11, 4), (NvidiaCard("L4", 22 * GB, 21 * GB),)),
            Card("L4", 22 * GB, 21 * GB, trouble=nvidia.OLD_DRIVER.format("470")),
        ),
    ],
)
def test_the_card_is_what_the_driver_tells(
    driver: Driver | None, found: Card | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvidia, "look", lambda seconds: driver)
    monkeypatch.setattr(looked, "require_torch", lambda: None)
    assert find_card() == found


def test_a_card_whose_packages_are_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise FrontEndError("not installed")

    l4 = NvidiaCard("NVIDIA L4", 22 * GB, 21 * GB)
    monkeypatch.setattr(nvidia, "look", lambda seconds: Driver("580", (13, 0), (l4,)))
    monkeypatch.setattr(looked, "require_torch", refuse)
    card = find_card()
    assert card is not None and card.name == "NVIDIA L4" and card.lacks_packages
    view = look(made(card))
    state, sentence = said(view, "card")
    assert state == "fair" and sentence.startswith("NVIDIA L4, 22 GB. It can run KAME, but what that needs is not")
    assert view.frontend == "cascade" and not view.fits_of("kame")[0].fits
    assert view.advice.startswith("KAME speaks with the embedded voice")


def test_devices_disk_and_keys_are_told() -> None:
    view = look(made(BIG, keys=Keys("OPENAI_API_KEY", "GOOGLE_API_KEY"), room=9 * 10**9))
    assert said(view, "microphone") == ("good", "Desk microphone.")
    assert said(view, "loudspeaker") == ("good", "Headphones.")
    assert said(view, "disk") == ("fair", "9 GB are free; KAME's weights take 16 GB.")
    assert view.keys == ("openai", "google") and said(view, "keys")[1] == "There is a key for OpenAI and Google."
    webcam = Device("Webcam", "ALSA", 1, 0, 48_000, False, False, 2)
    view = look(made(devices=(webcam, MICROPHONE), room=9 * 10**9))
    assert said(view, "microphone") == ("good", "Desk microphone, and 1 more.")
    assert said(view, "loudspeaker")[0] == "missing"
    assert said(view, "disk") == ("good", "9 GB are free.")  # nothing big is to come here
    assert said(look(made(room=10**9)), "disk")[0] == "missing"


def test_ollamas_models_are_offered_and_one_that_fits_recommended() -> None:
    async def go() -> None:
        embedder = {"name": "nomic-embed-text:latest", "size": 3 * 10**8, "details": {"family": "nomic-bert"}}
        elsewhere = {"name": "gpt-oss:120b-cloud", "size": 400, "remote_host": "https://ollama.com"}
        huge = {"name": "llama3.3:70b", "size": 43 * 10**9, "details": {"family": "llama"}}
        fitting = {"name": "gemma3:4b", "size": 3_300_000_000, "details": {"family": "gemma3"}}
        async with ollama(embedder, elsewhere, huge, fitting) as url:
            view = await made(settings=Settings(ollama_url=url)).look(lambda *_: None)
            assert view.ollama_models == ("gpt-oss:120b-cloud", "llama3.3:70b", "gemma3:4b")
            assert view.backend == BackendChoice("ollama", "gemma3:4b", url)
            assert said(view, "ollama") == ("good", "Ollama runs, with gpt-oss:120b-cloud, and 2 more.")
            assert view.advice.endswith("Its brain is gemma3:4b, by Ollama.")
        async with ollama() as url:
            view = await made(settings=Settings(ollama_url=url)).look(lambda *_: None)
            assert view.ollama_models == () and view.backend == BackendChoice()
            assert said(view, "ollama") == ("fair", "Ollama runs, and has no model yet.")
        async with ollama(raw=b"<html>Something else</html>") as url:
            view = await made(settings=Settings(ollama_url=url)).look(lambda *_: None)
            assert view.ollama_models is None

    asyncio.run(go())
    assert look(made(settings=Settings(ollama_url="nonsense"))).ollama_models is None


def test_what_hangs_or_fails_is_told_and_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looked, "LOOK_SECONDS", 0.1)
    release = threading.Event()

    class Hanging:
        def find(self, names: Sequence[str]) -> tuple[str, Any]:
            release.wait(20)
            return "", "none"

    def fail() -> Sequence[Device]:
        raise RuntimeError("no sound here")

    async def go() -> MachineView:
        machine = MachineInspector(
            Settings(ollama_url=NOBODY), Hanging(), list_devices=fail, look_for_card=lambda: None, memory=lambda: 0
        )
        try:
            return await machine.look(lambda *_: None)
        finally:
            release.set()

    view = asyncio.run(go())
    assert said(view, "keys") == ("fair", "The system's keyring does not answer. It may be locked.")
    assert said(view, "microphone")[0] == said(view, "loudspeaker")[0] == "missing"
    assert "could not be listed" in said(view, "microphone")[1]


def test_a_look_can_be_cancelled() -> None:
    release = threading.Event()

    def wait() -> Card | None:
        release.wait(20)
        return None

    async def go() -> None:
        machine = MachineInspector(Settings(ollama_url=NOBODY), Keys(), list_devices=lambda: (), look_for_card=wait)
        task = asyncio.create_task(machine.look(lambda *_: None))
        await asyncio.sleep(0.05)
        assert not task.done()
        task.cancel()
        await asyncio.wait([task], timeout=1)
        assert task.cancelled()
        release.set()

    asyncio.run(go())
