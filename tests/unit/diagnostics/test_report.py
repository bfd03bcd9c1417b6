"""The diagnostics report, which holds no key, the probes of the machine, and libraries that report nothing."""

import asyncio
import gzip
import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import app.audio.devices.list_process
from app.audio.devices.listing import Device
from app.audio.io.base import DeviceError
from app.backend.base import without_secrets
from app.conversation import events as e
from app.diagnostics import machine, report
from app.diagnostics.logs import LogEntry, start_logging
from app.diagnostics.machine import (
    NO_PACKAGES,
    NO_SOUND,
    Card,
    Machine,
    OllamaModel,
    Sound,
    System,
    probe_card,
    probe_keys,
    probe_machine,
    probe_ollama,
    probe_sound,
    probe_system,
)
from app.diagnostics.redaction import HIDDEN, Redactor
from app.diagnostics.report import LEFT_OUT, LOG_LINES, Diagnostics, Report, TalkNotes
from app.frontend.base import FrontEndError
from app.platform import nvidia
from app.platform.nvidia import Card as NvidiaCard
from app.platform.nvidia import Driver
from app.settings.declarations import Settings
from app.untrusted.limits import MB
from tests.support.child import run_python
from tests.support.leaks import SECRET, places_with
from tests.support.raising import raising
from tests.support.servers import Act, serving, telling, without_end
from tests.support.tables import cases

CANARY = "canary/Zq7+tT=vX2~k81mWq"
"""Has no known form of a key."""
MACHINE = System("0.1.0", "3.13.1", "Linux", 8, 16 * 2**30, (("numpy", "2.2.6"), ("qasync", "0.28.0")))
SAID = "What is the highest mountain in Europe, and how high is it?"
ANSWER = "Mount Elbrus is the highest one, at five thousand metres."


def diagnostics(*arguments: Any, card: str = "", more: Any = (), **options: Any) -> str:
    return Report(*arguments, card, more).text(**options)


def talk() -> TalkNotes:
    notes = TalkNotes()
    for event in (
        e.SessionStarted(0.0, "cascade", "whisper", "Ollama", "gemma3:4b", "thinking"),
        e.UserStarted(1.0, 1),
        e.TranscriptPartial(1.5, 1, "What is", "the", 1.4),
        e.TranscriptFinal(3.0, 1, SAID, 3.0),
        e.OracleRequested(3.1, 1, 1, "Ollama", "gemma3:4b", SAID, True),
        e.AssistantStarted(3.5, 1, 1),
        e.AssistantSaid(4.0, 1, ANSWER, 1),
        e.AssistantEnded(6.0, 1, False),
        e.BackendChanged(7.0, "OpenAI", "gpt", "fallback"),
        e.Failure(8.0, "backend", f"Ollama did not answer “{SAID}” in time. Start it."),
    ):
        notes.apply(event)
    return notes


def entry(message: str, details: str = "", number: int = 1) -> LogEntry:
    return LogEntry(number, 1_700_000_000.0 + number, logging.WARNING, "app.x", message, details)


def section(text: str, title: str) -> list[str]:
    """The lines below a title."""
    body = text.partition(f"## {title}\n\n")[2].partition("\n## ")[0]
    return body.strip().splitlines()


def test_it_tells_of_the_machine_the_settings_the_talk_and_the_log() -> None:
    settings = Settings(provider="ollama", cap_dollars=2.5, microphone="Desk microphone", duplex=True)
    log = [entry(f"line {number}", number=number) for number in range(1, 301)]
    more = [("Latency", [("Response, median", "0.81 s"), ("Response, p95", "1.90 s")])]
    text = diagnostics(MACHINE, settings, talk(), log, card="RTX 4090, 24 GB", more=more, hide=Redactor())
    assert section(text, "Machine") == (
        "- KAME: 0.1.0; - Python: 3.13.1; - System: Linux; - Processor cores: 8; - Memory: 16.0 GiB; "
        "- Graphics card: RTX 4090, 24 GB"
    ).split("; ")
    assert section(text, "Packages") == ["- numpy: 2.2.6", "- qasync: 0.28.0"]
    changed = {"- provider: ollama", "- cap_dollars: 2.5", "- microphone: Desk microphone", "- duplex: True"}
    assert set(section(text, "Settings that were changed")) == changed
    assert section(text, "Talk")[:3] == [
        "- Front-end: cascade",
        "- Speech recognition: whisper",
        "- Back-end: OpenAI / gpt, fallback",
    ]
    assert section(text, "Latency") == ["- Response, median: 0.81 s", "- Response, p95: 1.90 s"]
    assert "- TranscriptFinal: 1" in section(text, "Events") and "- SessionStarted: 1" in section(text, "Events")
    assert section(text, "Failures") == [f"- 8.0 s, backend: Ollama did not answer “{LEFT_OUT}?” in time. Start it."]
    lines = section(text, "Log")
    assert len(lines) == LOG_LINES + 2 and lines[0] == lines[-1] == "```"
    assert lines[1].endswith("app.x: line 101") and lines[-2].endswith("app.x: line 300")


def test_before_any_talk_it_says_that_there_is_nothing() -> None:
    text = diagnostics(MACHINE, Settings(), TalkNotes(), [], hide=Redactor())
    for title in ("Settings that were changed", "Talk", "Events", "Failures"):
        assert section(text, title) == ["none"]
    assert section(text, "Log") == ["```", "empty", "```"]
    assert "not probed" in text


def test_what_was_said_is_there_only_on_request() -> None:
    settings = Settings(persona="A pirate called Bob, who was born in Tortuga")
    log = [
        entry(f"a tool failed for “{SAID.lower()}”"),
        entry("said", f"Traceback\nValueError: {ANSWER}\n  as the pirate called Bob who was born"),
    ]
    notes = talk()
    notes.apply(e.ConversationConfigured(9, "ollama", "", "", "You are my late grandmother Ann", None, "short"))
    notes.apply(e.ToolCalled(9, 1, "files", '{"name": "my diary of July"}'))
    notes.apply(e.SessionStarted(0.0, "cascade", "whisper", "Ollama", "gemma3:4b", "thinking"))
    log += [entry("my late grandmother was asked"), entry("no file my diary of July")]
    without = diagnostics(MACHINE, settings, notes, log, hide=Redactor())
    for words in ("mountain", "Elbrus", "metres", "pirate", "Tortuga", "grandmother", "diary", "What was said"):
        assert words not in without
    assert "a tool failed for" in without and "no file" in without and "- persona: changed" in without
    asked = diagnostics(MACHINE, settings, notes, log, with_words=True, hide=Redactor())
    assert section(asked, "What was said") == [f"- user 1: {SAID}", f"- assistant 1: {ANSWER}"]
    assert "- persona: A pirate called Bob" in asked and "my diary of July" in asked and LEFT_OUT not in asked


@pytest.mark.parametrize("with_words", [False, True])
@pytest.mark.parametrize("secret", [SECRET, CANARY])
def test_no_key_gets_into_it_from_anywhere(monkeypatch: pytest.MonkeyPatch, secret: str, with_words: bool) -> None:
    monkeypatch.setenv("KAME_KEY_SERVER_EXAMPLE", secret)
    hide = Redactor()
    settings = Settings(
        persona=f"Say {secret} often",
        compatible_url=f"http://ann:{secret}@host:8080/v1?key={secret}#{secret}",
        openai_model=secret,
        weights_mirror=f"https://{secret}@mirror/x",
        microphone=f"Mic {secret}",
        tools=f'[{{"url": "http://a:{secret}@h/v1?k={secret}"}}]',
        tool_folders=f"/srv/{secret}",
    )
    notes = talk()
    for event in (
        e.TranscriptFinal(9, 2, f"My key is {secret}", 9),
        e.Failure(9, "backend", f"It refused {secret}."),
        e.SessionStarted(0, secret, secret, secret, secret, "after"),
        e.BackendChanged(1, f"x {secret}", secret),
        e.DeviceChanged(1, "microphone", "moved", secret, "Moved."),
        e.ConversationConfigured(1, "", "", "", secret, None, "short"),
    ):
        notes.apply(event)
    log = logging.getLogger("app.somewhere")
    with start_logging(hide=hide) as kept:
        log.warning("key %s, %r, https://x:%s@host/", secret, {"api_key": secret}, secret)
        try:
            raise ValueError(f"refused {secret}")
        except ValueError:
            log.exception("it failed")
        assert kept.flush(5)
        text = diagnostics(
            MACHINE,
            settings,
            notes,
            kept.entries(),
            card=secret,
            more=[(secret, [(secret, secret)])],
            hide=hide,
            with_words=with_words,
        )
    assert not places_with(secret, texts=[text])
    assert HIDDEN in text and "ValueError" in text and "- compatible_url: http://host:8080/v1" in text
    # A key that nobody knows of stands in the log's memory only as long as it looks like none.
    assert not places_with(SECRET, texts=[diagnostics(MACHINE, settings, notes, [entry(SECRET)], hide=Redactor())])


def test_no_part_of_a_key_is_left_where_an_address_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "canary-9xQ?Zq7+81mWq"
    monkeypatch.setenv("SERVER_TOKEN", secret)
    settings = Settings(compatible_url=f"http://host/{secret}/v1")
    text = diagnostics(MACHINE, settings, TalkNotes(), [], hide=Redactor())
    assert "canary" not in text and f"- compatible_url: http://host/{HIDDEN}/v1" in text


@cases(
    "url, plain",
    ("https://ann:pass@host:80/v1?key=1#f", "https://host:80/v1"),
    ("ann:pass@host/v1?key=1", "host/v1"),
    ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
    ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ("", ""),
    ("https://ann:pa?s/s#@host/v1", "https://host/v1"),
)
def test_addresses_are_told_without_what_is_secret(url: str, plain: str) -> None:
    assert without_secrets(url) == plain


def test_the_users_folder_is_not_named(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    settings = Settings(weights_folder=str(home / "weights"), tool_folders=f"{home}\n{tmp_path}/anna")
    log = [entry(f"can't read {home}/x", f'  File "{home}/app.py", line 3')]
    text = diagnostics(MACHINE, settings, TalkNotes(), log, hide=Redactor(), home=home)
    assert str(home) not in text.replace(f"{tmp_path}/anna", "")
    assert f"- weights_folder: ~{os.sep}weights" in text and "can't read ~/x" in text and 'File "~/app.py"' in text
    assert f"- tool_folders: ~ {tmp_path}/anna" in text


def test_a_log_with_marks_of_its_own_stays_in_one_block() -> None:
    text = diagnostics(MACHINE, Settings(), TalkNotes(), [entry("````\n## Not a title")], hide=Redactor())
    assert text.rstrip().endswith("`````") and text.count("`````") == 2


async def test_it_looks_at_this_machine_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    monkeypatch.setattr(report, "probe_card", lambda: Card("A card", 24 * 10**9))
    made = Diagnostics(settings, lambda: [entry("noted")])
    made.apply(e.SessionStarted(0.0, "cascade", "whisper", "Ollama", "gemma3:4b", "thinking"))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    text = await made.text(False, [("Window", [("Scale", "1.5")])])
    ticking.cancel()
    assert ticks > 1
    assert section(text, "Window") == ["- Scale: 1.5"] and "noted" in text and "A card, 24.0 GB" in text
    machine = probe_system()
    assert dict(machine.packages)["PySide6-Essentials"] and machine.cores >= 1 and machine.memory > 2**28
    assert f"- Python: {machine.python}" in text
    kept = made.notes.snapshot()
    made.apply(e.TranscriptFinal(1, 1, "later", 1))
    assert kept.counts == {"SessionStarted": 1} and not kept.transcripts[0].turns
    assert replace(kept) == kept


GB = 1 << 30
L4 = NvidiaCard("L4", 22 * GB, 21 * GB)
NOBODY = "http://127.0.0.1:9"
"""No Ollama is there."""


def listing(*models: dict[str, Any]) -> Act:
    """Returns what a server of Ollama does that lists these models."""

    def act(request: BaseHTTPRequestHandler) -> None:
        assert request.path == "/api/tags"
        telling(json.dumps({"models": models}).encode())(request)

    return act


@cases(
    "driver, found",
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
)
def test_the_driver_tells_the_card(driver: Driver | None, found: Card | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "look", lambda seconds: driver)
    monkeypatch.setattr(machine, "require_torch", lambda: None)
    assert probe_card() == found


def test_a_card_whose_packages_are_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "look", lambda seconds: Driver("580", (13, 0), (L4,)))
    monkeypatch.setattr(machine, "require_torch", raising(FrontEndError("not installed")))
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
    monkeypatch.setattr(app.audio.devices.list_process, "list_current_devices", raising(DeviceError("No sound here.")))
    assert probe_sound() == Sound(trouble="No sound here.")


def test_the_models_of_an_ollama_that_converse_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    embedder = {"name": "nomic-embed-text:latest", "size": 3 * 10**8, "details": {"family": "nomic-bert"}}
    elsewhere = {"name": "gpt-oss:120b-cloud", "size": 400, "remote_host": "https://ollama.com"}
    here = {"name": "gemma3:4b", "size": 3_300_000_000, "details": {"family": "gemma3"}}

    with serving(listing(embedder, elsewhere, here)) as url:
        found = probe_ollama(f"{url}/")
    assert found == (OllamaModel("gpt-oss:120b-cloud", 0), OllamaModel("gemma3:4b", 3_300_000_000))
    with serving(listing()) as url:
        assert probe_ollama(url) == ()
    bomb = telling(gzip.compress(bytes(100 * MB)), Content_Encoding="gzip")
    for act in (telling(b"<html>"), bomb, without_end, telling(b'{"models": ' + b"[" * 100_000)):
        with serving(act) as url:
            assert probe_ollama(url) is None
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

    monkeypatch.setattr(machine, "probe_sound", raising(RuntimeError("no sound here")))

    async def go() -> Machine:
        try:
            return await probe_machine(NOBODY, hang)
        finally:
            release.set()

    found = asyncio.run(go())
    assert (found.card, found.ollama, found.keys, found.sound) == (None, None, None, Sound(trouble=NO_SOUND))


ROOT = Path(__file__).resolve().parents[3]
LOADED = """
import sys
import app
from app.models.locations import default_model
from app.stt.silero import SileroVoiceActivity
from app.stt.pooled import SmartTurn
from app.stt.whisper_decoder import WhisperDecoder
from app.tts.voices import make_voice
SileroVoiceActivity().load()
SmartTurn(default_model("endpointing"))
WhisperDecoder(default_model("stt"))
voice = make_voice().__enter__()
print("loaded", flush=True)
sys.stdin.read()
voice.__exit__(None, None, None)
"""
"""Speech recognition and voice, in processes of their own that end with their standard input."""
REPORTED_AFTER_SECONDS = 12.0
"""It contacts its server 9 s after its import."""


class Proxy:
    """A proxy on loopback that notes what is requested through it."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._listen, name="proxy")
        self._thread.start()

    def _listen(self) -> None:
        with self._server:
            while True:
                connection, _ = self._server.accept()
                with connection:
                    if not connection.recv(1):
                        return
                    self.asked.set()

    def close(self) -> None:
        socket.create_connection(self._server.getsockname()).close()  # who asks for nothing ends it
        self._thread.join()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    one = Proxy()
    yield one
    one.close()


def _environment(home: Path, proxy: Proxy) -> Mapping[str, str]:
    """This process's environment with an empty home and with `proxy` for all connections."""
    # On a machine that says that it is for continuous integration the library is silent by itself.
    silencing = ("ORT_", "HF_HUB_", "DO_NOT_TRACK", "XDG_", "NO_PROXY", "no_proxy", "CI")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(silencing)}
    ways = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {**kept, **dict.fromkeys(ways, proxy.address), "HOME": str(home), "LOCALAPPDATA": str(home)}


def _run(script: str, home: Path, proxy: Proxy, seconds: float) -> bool:
    """Whether a process that runs `script` contacts a server within `seconds` after loading."""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=_environment(home, proxy),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None and child.stdout is not None
    with child:
        assert child.stdout.readline().strip() == b"loaded"
        return proxy.asked.wait(seconds)


@pytest.mark.slow
def test_what_the_app_loads_reports_nothing(tmp_path: Path, proxy: Proxy) -> None:
    assert not _run(LOADED, tmp_path, proxy, REPORTED_AFTER_SECONDS)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("before", ["0", ""])
def test_reports_stay_off_whatever_the_environment_says(before: str) -> None:
    names = ["ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"]
    script = f"import os, app; print([os.environ[name] for name in {names}])"
    said = run_python("-c", script, env={**os.environ, **dict.fromkeys(names, before)}, check=True)
    assert said.stdout.strip() == "['1', '1', '1']"
