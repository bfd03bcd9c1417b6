"""Who may talk with a voice server, the events that it keeps, and the command `serve`: its key, certificate and end."""

import asyncio
import json
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.datastructures import Headers

from app.audio.io.pushed import PushedSource, SendingSink
from app.cli import serve_command
from app.cli.interrupts import until_interrupted
from app.cli.output import OutputLost, Terminal
from app.cli.parser import main
from app.cli.serve_command import KEY_VARIABLE, server_key, server_tls
from app.conversation import events as e
from app.diagnostics.redaction import redactor
from app.server import admission
from app.server.admission import (
    FORWARDED,
    GONE_SECONDS,
    MOST_OF_ADDRESS,
    MOST_SOCKETS,
    Door,
    Purse,
    read_request,
    refusal,
)
from app.server.served_talk import MOST_CHARS, MOST_EVENTS, EventLog
from app.session.control import UserError
from app.session.session import Session
from tests.support.served import scripted_session
from tests.support.tables import cases

LOCAL = {"Host": "127.0.0.1:8998"}


def refused(target: str, headers: Mapping[str, str], key: str = "") -> int:
    found = refusal(read_request(target, headers), headers, key)
    return found.status if found is not None else 0


@cases(
    "headers, status",
    (LOCAL, 0),
    ({"Host": "localhost:8998"}, 0),
    ({"Host": "[::1]:8998"}, 0),
    ({**LOCAL, "Origin": "http://localhost:3000"}, 0),
    ({**LOCAL, "Origin": "https://example.org"}, 403),  # a page that a browser of this machine shows
    ({**LOCAL, "Origin": "null"}, 403),
    *(({**LOCAL, name: "203.0.113.9"}, 403) for name in FORWARDED),  # a proxy in front of it
    ({"Host": "rebound.example.org:8998"}, 403),  # a name that was made to lead to loopback
    ({}, 403),
    ({"Host": "[::"}, 403),
)
def test_without_a_key_only_this_machine_may_talk(headers: dict[str, str], status: int) -> None:
    assert refused("/api/chat", headers) == status


@cases(
    "target, authorization, status",
    ("/api/chat", "Bearer the-key", 0),
    ("/api/chat?key=the-key", "", 0),
    ("/api/chat", "bearer the-key", 0),
    ("/api/chat", "Bearer another", 401),
    ("/api/chat", "Basic the-key", 401),
    ("/api/chat?key=", "", 401),
    ("/api/chat", "", 401),
    ("/api/chat?key=\udcff", "", 401),
    ("/other?key=the-key", "", 404),
    ("//[/api/chat", "", 404),
)
def test_with_a_key_who_gives_it_may_talk_from_anywhere(target: str, authorization: str, status: int) -> None:
    headers = {"Host": "den.example.org", "Origin": "https://example.org", "Authorization": authorization}
    assert refused(target, headers, "the-key") == status


def test_the_session_to_come_back_to_is_in_the_address() -> None:
    assert read_request("/api/chat?session=abc", {}).session == "abc"
    assert read_request("/api/chat?session=abc", {}).after is None
    assert read_request("/api/chat?session=abc&after=12", {}).after == 12
    for wrong in ("-1", "x", "\u0663", "1" * 40):
        assert read_request(f"/api/chat?session=abc&after={wrong}", {}).after is None


def test_a_long_key_is_compared_whole() -> None:
    key = "k" * 300
    assert refused(f"/api/chat?key={key}", LOCAL, key) == 0
    assert refused(f"/api/chat?key={key[:200]}", LOCAL, key) == 401
    assert refused(f"/api/chat?key={key}x", LOCAL, key) == 401


@pytest.mark.parametrize("name", ["Authorization", "Host", "Origin"])
def test_a_header_that_is_there_twice_is_refused(name: str) -> None:
    headers = Headers([("Host", "localhost"), ("Origin", "http://localhost"), ("Authorization", "Bearer the-key")])
    for key in ("", "the-key"):
        assert refused("/api/chat", headers, key) == 0
    headers[name] = headers[name]
    for key in ("", "the-key"):
        assert refused("/api/chat", headers, key) == 400


def filled(count: int, text: str = "word") -> EventLog:
    log = EventLog()
    for number in range(1, count + 1):
        log.add(e.OracleDelta(1.0, number, text))
    return log


def given(log: EventLog, after: int | None) -> list[int]:
    return [event.revision for event in log.since(log.before(after)) if isinstance(event, e.OracleDelta)]


def test_a_client_gets_the_newest_events_that_it_has_not_got_yet() -> None:
    log = filled(5)
    assert given(log, 0) == [1, 2, 3, 4, 5] and given(log, 3) == [4, 5]
    assert given(log, 5) == given(log, 99) == given(log, None) == []
    assert (log.before(3), log.before(99), log.before(None)) == (3, 5, 5)
    assert given(EventLog(), 0) == [] and EventLog().before(7) == 0
    log = filled(MOST_EVENTS + 100)
    assert given(log, 0) == list(range(101, MOST_EVENTS + 101)) and log.before(0) == 100
    long = filled(100, "w" * (MOST_CHARS // 10))
    assert given(long, 0) == list(range(101 - len(given(long, 0)), 101)) and 5 <= len(given(long, 0)) < 10


class Transport:
    """A connection from an address; `ended` if the server has broken it off."""

    def __init__(self, host: str) -> None:
        self._peer = (host, 50_000)
        self.ended = False

    def get_extra_info(self, name: str) -> object:
        return self._peer if name == "peername" else None

    def abort(self) -> None:
        self.ended = True


def test_an_address_has_a_few_connections_and_is_told_so() -> None:
    told, clock = list[str](), [0.0]
    door = Door(told.append, lambda: clock[0])
    mine = [Transport("192.0.2.1") for _ in range(MOST_OF_ADDRESS)]
    assert [door.enter(one) for one in mine] == [None] * MOST_OF_ADDRESS
    for _ in range(3):
        refused = door.enter(Transport("192.0.2.1"))
        assert refused is not None and refused.startswith(b"HTTP/1.1 429 ") and b"192.0.2.1 opens more" in refused
    assert len(told) == 1, "not once for each"
    door.leave(mine[0])
    assert door.refusal(("192.0.2.1", 1)) is not None, "it counts for a while, since it was not admitted"
    clock[0] += GONE_SECONDS
    assert door.enter(Transport("192.0.2.1")) is None
    door.admit(mine[1])
    door.leave(mine[1])
    assert door.enter(Transport("192.0.2.1")) is None
    assert door.enter(Transport("192.0.2.2")) is None
    many = [door.enter(Transport(f"2001:db8::{n + 1:x}")) for n in range(MOST_OF_ADDRESS + 1)]
    assert many[-1] is not None and not any(many[:-1]), "a client of IPv6 has all addresses of its network"


def test_a_flood_keeps_nobody_out_and_ends_no_conversation() -> None:
    door = Door()
    guest = Transport("192.0.2.200")
    assert door.enter(guest) is None
    door.admit(guest)
    flood = [Transport(f"192.0.2.{n // MOST_OF_ADDRESS}") for n in range(MOST_SOCKETS - 1)]
    assert not any(door.enter(one) for one in flood)
    newcomer = Transport("192.0.2.201")
    assert door.enter(newcomer) is None
    assert flood[0].ended and not any(one.ended for one in (*flood[1:], guest)), "the oldest makes room"
    door.admit(newcomer)


def test_a_server_that_is_full_of_conversations_says_so() -> None:
    door = Door()
    for n in range(MOST_SOCKETS):
        transport = Transport(f"192.0.2.{n}")
        assert door.enter(transport) is None
        door.admit(transport)
    assert b"takes no more" in (door.enter(Transport("192.0.2.250")) or b"")


async def test_wrong_keys_take_longer_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(admission.asyncio, "sleep", sleep)
    door, one, other = Door(), Transport("192.0.2.1"), Transport("192.0.2.2")
    for _ in range(6):
        await door.pause(one)
    await door.pause(other)
    assert waited[:6] == sorted(waited[:6]) and waited[5] >= 2 and waited[6] == waited[0]
    assert door.enter(one) is None
    door.admit(one)
    await door.pause(one)
    assert waited[-1] == waited[0], "a right key ends it"


def test_the_purse_is_for_all_and_for_each() -> None:
    assert Purse().left("a") is None
    purse = Purse(cap=1.0, client_cap=0.6)
    purse.spend("a", 0.5)
    assert purse.left("a") == pytest.approx(0.1) and purse.left("b") == pytest.approx(0.5)
    purse.spend("b", 0.6)
    assert purse.left("a") == purse.left("b") == 0.0 and purse.spent == pytest.approx(1.1)


def test_a_connection_that_is_asked_about_when_it_is_accepted_is_counted_once() -> None:
    door = Door()
    for _ in range(MOST_OF_ADDRESS):
        assert door.refusal(("192.0.2.1", 1)) is None
    assert door.refusal(("192.0.2.1", 1)) is not None
    assert not any(door.enter(Transport("192.0.2.1")) for _ in range(MOST_OF_ADDRESS))
    assert door.enter(Transport("192.0.2.1")) is not None


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def make(source: PushedSource, sink: SendingSink) -> Session:
        return scripted_session(source, sink)

    async def load_nothing(make: Any) -> None:
        return None

    monkeypatch.setattr(serve_command, "_maker", lambda args: make)
    monkeypatch.setattr(serve_command, "_load_once", load_nothing)


def announced(monkeypatch: pytest.MonkeyPatch, then: Any) -> None:
    """Calls `then` with the address and the key once serving has begun."""
    announce = serve_command._announce

    def told(terminal: Terminal, address: str, key: str) -> None:
        announce(terminal, address, key)
        then(address, key)

    monkeypatch.setattr(serve_command, "_announce", told)


def test_a_key_is_made_or_read_and_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_key("127.0.0.1", None) == ("", False)
    key, made = server_key("0.0.0.0", None)
    assert made and len(key) >= 24 and key not in redactor()(f"with {key}")
    (tmp_path / "key").write_text("the-key-of-this-house\n")
    assert server_key("127.0.0.1", tmp_path / "key") == ("the-key-of-this-house", False)
    assert "the-key-of-this-house" not in redactor()("a line with the-key-of-this-house in it")
    monkeypatch.setenv(KEY_VARIABLE, "a-key-of-the-environment")
    assert server_key("127.0.0.1", None) == ("a-key-of-the-environment", False)
    assert "a-key-of-the-environment" not in redactor()("with a-key-of-the-environment")


def test_a_short_key_keeps_nobody_out_beyond_this_machine(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sesame\n")
    assert server_key("127.0.0.1", tmp_path / "key") == ("sesame", False)
    with pytest.raises(UserError, match=r"too short .* it has 6 letters"):
        server_key("0.0.0.0", tmp_path / "key")


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf\n", b"\xff\xfe", b"two words", b"k" * 5_000])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_file_that_holds_no_key_opens_no_server(tmp_path: Path, content: bytes, host: str) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(UserError) as error:
        server_key(host, tmp_path / "key")
    assert str(error.value).endswith(".")
    with pytest.raises(UserError):
        server_key(host, tmp_path / "none")


def test_a_private_key_without_a_certificate_is_told(tmp_path: Path) -> None:
    assert server_tls(None, None) is None
    with pytest.raises(UserError, match="--certificate too"):
        server_tls(None, tmp_path / "key.pem")


def test_a_port_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "70000"])
    assert ended.value.code == 2 and "must be between 0 and 65535" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: None
) -> None:
    async def load(make: Any) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(serve_command, "_load_once", load)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", "--port", str(taken.getsockname()[1]), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert not document["ok"] and "Nothing can listen" in document["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_document_is_printed_when_serving_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: None, host: str
) -> None:
    announced(monkeypatch, lambda address, key: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    assert main(["serve", "--port", "0", "--host", host, "--json"]) == 0
    assert signal.getsignal(signal.SIGINT) is before
    document = json.loads(capsys.readouterr().out)  # the one and only
    assert document["ok"] and document["address"].startswith(f"ws://{host}:")
    assert document["address"].endswith("/api/chat")
    assert ("key" in document) == (host == "0.0.0.0")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_that_speech_goes_unencrypted_beyond_this_machine_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: None, host: str
) -> None:
    announced(monkeypatch, lambda address, key: signal.raise_signal(signal.SIGINT))
    assert main(["serve", "--port", "0", "--host", host]) == 0
    printed = capsys.readouterr()
    assert ("cross the network unencrypted" in printed.out + printed.err) == (host == "0.0.0.0")


def test_ctrl_c_ends_its_loading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: None
) -> None:
    async def load_for_ever(make: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(serve_command, "_load_once", load_for_ever)
    assert main(["serve", "--port", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True}


def test_it_ends_when_nobody_reads_what_it_says(monkeypatch: pytest.MonkeyPatch, scripted: None) -> None:
    said: list[str] = []

    def say(terminal: Terminal, text: str = "") -> None:
        said.append(text)
        if "client" in text:
            raise OutputLost from BrokenPipeError(32, "Broken pipe")

    tasks: list[asyncio.Task[None]] = []

    async def come(address: str) -> None:
        async with connect(address, proxy=None) as client:
            await client.wait_closed()

    monkeypatch.setattr(Terminal, "say", say)
    announced(monkeypatch, lambda address, key: tasks.append(asyncio.get_running_loop().create_task(come(address))))
    assert main(["serve", "--port", "0"]) == 141
    assert "A client has come." in said


async def test_a_second_signal_is_not_held_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with until_interrupted() as stopped:
        signal.raise_signal(signal.SIGINT)
        await asyncio.wait_for(stopped.wait(), 5)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is before
