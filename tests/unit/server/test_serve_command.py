"""The command `serve`: its key and certificate, what it prints, and how it ends."""

import asyncio
import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from app.audio.io.pushed import PushedSource, SendingSink
from app.cli import serve_command
from app.cli.interrupts import until_interrupted
from app.cli.output import OutputLost, Terminal
from app.cli.parser import main
from app.cli.serve_command import KEY_VARIABLE, server_key, server_tls
from app.diagnostics.redaction import redactor
from app.session.control import UserError
from app.session.session import Session
from tests.support.served import scripted_session


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
