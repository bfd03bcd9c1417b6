"""Servers of others: real ones, in good health and in bad; too much from one is a sentence, and the app goes on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.services.tool_server_service import ToolServerService
from app.session.control import UserError
from app.tools.base import ToolError
from app.tools.mcp_connection import McpConnection
from app.tools.mcp_tool import McpServer, tool_name
from app.tools.server_list import ServerEntry
from app.tools.toolbox import Toolbox
from tests.support.child import is_running
from tests.support.odd_mcp_peer import answer_to
from tests.support.servers import closed_port_url
from tests.support.tables import cases
from tests.support.wire import Reply, Wire

PEER = str(Path(__file__).parents[2] / "support" / "mcp_peer.py")
NAMES = ["add", "fail", "wait", "die", "n_me_with_spaces", "pid"]
SECRET = "sesame-open"


def _child(name: str = "peer") -> McpServer:
    return McpServer(name, sys.executable, (PEER,), {"PEER_SECRET": SECRET}, effect="reads")


def _python(code: str) -> McpServer:
    return McpServer("bad", sys.executable, ("-c", code), effect="reads")


@pytest.fixture
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, PEER, "--http"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PEER_SECRET": SECRET},
    ) as process:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        process.kill()


@asynccontextmanager
async def _opened(*servers: McpServer) -> AsyncIterator[Toolbox]:
    box = Toolbox([], servers=servers)
    try:
        assert await box.open() == []
        yield box
    finally:
        # Not in the task that opened it: the window's closing is another one.
        await asyncio.create_task(box.close())
        await box.close()
        await _nothing_left()


async def _nothing_left() -> None:
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def _said(box: Toolbox, tool: str, **arguments: Any) -> str:
    result = await box.call(f"peer__{tool}", json.dumps(arguments))
    assert result.ok, result.text
    return result.text


async def _refused(box: Toolbox, tool: str, **arguments: Any) -> str:
    result = await box.call(f"peer__{tool}", json.dumps(arguments))
    assert not result.ok, result.text
    return result.text


async def _good_and_bad(box: Toolbox) -> None:
    """What holds for every way to a server."""
    assert [spec.name for spec in box.specs] == [f"peer__{name}" for name in NAMES]
    assert box.specs[0].description == "Adds two numbers."
    assert box.specs[0].parameters["required"] == ["a", "b"]
    assert await _said(box, "add", a=1, b=2) == "1 and 2 make 3"
    assert await asyncio.gather(*(_said(box, "add", a=0, b=n) for n in range(9))) == [
        f"0 and {n} make {n}" for n in range(9)
    ]
    assert "type integer" in await _refused(box, "add", a="one", b=2)
    refused = await _refused(box, "fail")
    assert "no luck with [hidden]" in refused and SECRET not in refused
    assert "10,000" not in await _said(box, "n_me_with_spaces") and len(await _said(box, "n_me_with_spaces")) == 4_000
    box._seconds = 0.2
    began = time.perf_counter()
    assert "longer than 0.2 seconds" in await _refused(box, "wait", seconds=60)
    assert time.perf_counter() - began < 3
    box._seconds = 8.0
    assert await _said(box, "add", a=2, b=2) == "2 and 2 make 4"


@pytest.mark.slow
async def test_a_child_that_hangs_at_last(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import mcp.client.stdio as package

    monkeypatch.setattr(package, "PROCESS_TERMINATION_TIMEOUT", 0.05)
    monkeypatch.setattr(package, "FORCE_KILL_TIMEOUT", 0.05)
    async with _opened(_child()) as box:
        await _good_and_bad(box)
        pid = int(await _said(box, "pid"))
        if sys.platform != "win32":
            os.kill(pid, signal.SIGSTOP)
            box._seconds = 0.2
            began = time.perf_counter()
            for _ in range(2):
                assert "longer than" in await _refused(box, "fail", secret="x" * 300_000)  # more than a pipe holds
            assert time.perf_counter() - began < 3
    assert not is_running(pid)
    out, err = capfd.readouterr()
    assert out == "" and "not for the console" not in err


@pytest.mark.slow
async def test_loopback_until_the_server_ends(address: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with _opened(
        McpServer("peer", url=address, effect="reads"), McpServer("peer", url=address, effect="reads")
    ) as box:
        assert [spec.name for spec in box.specs] == [f"peer__{name}{n}" for n in ("", "_2") for name in NAMES]
        assert await _said(box, "pid") == await _said(box, "pid_2")
    url = address.replace("//", "//me:pass1234@") + "?key=" + SECRET
    async with _opened(McpServer("peer", url=url, effect="reads")) as box:
        await _good_and_bad(box)
        assert "ended or broke off" in await _refused(box, "die")
        assert f"cannot be reached at {address.removesuffix('/mcp')} " in await _refused(box, "add", a=1, b=2)
    assert "pass1234" not in caplog.text and SECRET not in caplog.text


@pytest.mark.slow
async def test_a_child_that_dies_is_started_again() -> None:
    async with _opened(_child()) as box:
        specs = box.specs
        first = int(await _said(box, "pid"))
        os.kill(first, signal.SIGTERM)  # between two calls
        while is_running(first):
            await asyncio.sleep(0.01)
        assert "connected again at the next call" in await _refused(box, "add", a=1, b=1)
        second = int(await _said(box, "pid"))
        assert second != first and box.specs == specs
        assert "ended or broke off" in await _refused(box, "die")
    assert not is_running(second)


async def test_servers_that_cannot_be_had_are_sentences(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    secret_url = closed_port_url().replace("//", "//me:pass1234@") + "/mcp?key=word5678"
    servers = [
        McpServer("a", "no-such-program", (), {"KEY": SECRET}),
        McpServer("b", str(tmp_path)),
        _python("import sys; print('junk', file=sys.stderr); sys.exit(3)"),
        McpServer("d", url=secret_url),
        McpServer("e", url="http://[::1/pass1234"),
        McpServer("f", "nul\0"),
    ]
    box = Toolbox([], servers=servers)
    sentences = await box.open()
    said = " ".join(sentences)
    assert len(sentences) == len(servers) and box.specs == ()
    assert "there is no program “no-such-program”" in sentences[0] and "does not speak the protocol" in sentences[2]
    assert all(sentence.startswith("The MCP server “") and sentence.endswith(".") for sentence in sentences)
    assert not any(secret in said for secret in (SECRET, "pass1234", "word5678"))
    assert await box.open() == []
    await box.close()
    await _nothing_left()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "while True: print('junk', flush=True); input()"])
async def test_a_server_that_never_answers_is_given_up_and_ended(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import mcp.client.stdio as package

    monkeypatch.setattr(package, "PROCESS_TERMINATION_TIMEOUT", 0.05)
    connection = McpConnection(_python(code), seconds=0.3)
    with pytest.raises(ToolError, match="not ready within"):
        await connection.tools()
    closing = asyncio.create_task(connection.close())  # while it is being ended already
    await asyncio.gather(closing, connection.close())
    await _nothing_left()
    with pytest.raises(ToolError, match="has been closed"):
        await connection.call("add", {})


async def test_closing_while_opening_leaves_nothing() -> None:
    box = Toolbox([], servers=[_python("input()"), McpServer("web", url=closed_port_url())])
    opening = asyncio.create_task(box.open())
    await asyncio.sleep(0.1)
    await box.close()
    assert all(sentence.endswith(".") for sentence in await opening) and box.specs == ()
    await _nothing_left()


def test_names_fit_every_model_and_secrets_are_not_in_the_repr() -> None:
    taken: list[str] = []
    for server, tool in [("a b", "c/d"), ("a.b", "c d"), ("s" * 80, "t"), ("s" * 80, "u"), ("ü", "日本")]:
        taken.append(tool_name(server, tool, taken))
    assert taken == ["a_b__c_d", "a_b__c_d_2", "s" * 64, "s" * 62 + "_2", "____"]
    server = McpServer("x", "run", ("--key", "k1"), {"KEY": "k2"}, "http://me:k3@host?key=k4")
    assert repr(server) == "McpServer(name='x', command='run')" and hash(server)


async def test_a_command_that_is_a_whole_line_is_not_repeated() -> None:
    box = Toolbox([], servers=[McpServer("line", f"no-such-program --token {SECRET}")])
    [sentence] = await box.open()
    await box.close()
    assert "there is no such program" in sentence and SECRET not in sentence


ODD_PEER = str(Path(__file__).parents[2] / "support" / "odd_mcp_peer.py")
LEFT_OUT = ["Of the MCP server “odd” the tool “large” is left out, because of its schema: it is longer than 16 KB."]


class _Web(Wire):
    """The odd server over HTTP. `streamed`: it answers by an event, whose data is on many lines."""

    def __init__(self, *, streamed: bool = False) -> None:
        super().__init__()
        self.streamed = streamed

    def reply(self, body: Any) -> Reply | None:
        if body is None:
            return Reply(405)
        answer = answer_to(body)
        if not answer:
            return Reply(202)
        if self.streamed:
            data = answer.replace("}, {", "},\ndata: {")
            return Reply(headers={"content-type": "text/event-stream"}, body=f"data: {data}\n\n".encode())
        return Reply(headers={"content-type": "application/json"}, body=answer.encode())


@asynccontextmanager
async def _odd(way: str) -> AsyncIterator[Toolbox]:
    async with _Web(streamed=way == "events") as web:
        server = McpServer("odd", url=f"{web.url}/mcp", effect="reads")
        if way.startswith("stdio"):
            server = McpServer("odd", sys.executable, (ODD_PEER, *way.split()[1:]), effect="reads")
        box = Toolbox([], servers=[server])
        try:
            assert await box.open() == LEFT_OUT
            yield box
        finally:
            await box.close()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["stdio", "http", "events"])
async def test_a_result_beyond_the_bounds_is_a_sentence_and_the_next_call_works(way: str) -> None:
    async with _odd(way) as box:
        for tool, why in (("blocks", "longer than 4 MB"), ("deep", "deeper than 48 levels"), ("long", "than 4 MB")):
            if way == "events" and tool == "blocks":
                why = "more than 12,000 values"
            result = await box.call(f"odd__{tool}", "{}")
            assert not result.ok and result.text.startswith("What the MCP server “odd” sends is not accepted: ")
            assert why in result.text and result.text.endswith(f"“{tool}” may have been done or not.")
            assert (await box.call("odd__odd", "{}")).text == "abc"


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_what_a_server_says_is_harmless_and_short(way: str) -> None:
    async with _odd(way) as box:
        specs = {spec.name: spec for spec in box.specs}
        error = specs["odd__error"]
        assert error.description == "abc" and error.parameters == {
            "type": "object",
            "properties": {"abc": {"description": "abc", "type": [3]}},
        }
        refused = await box.call("odd__error", json.dumps({"abc": 1}))
        assert not refused.ok and refused.text.startswith("“error” was refused: no abc luck xxx")
        assert len(refused.text) < 400
        many = await box.call("odd__many", "{}")
        assert many.ok and many.text.startswith("[left out: 1500 × image]\nx\nx\n")


async def test_a_results_form_is_not_checked_by_the_servers_own_patterns() -> None:
    async with _odd("stdio") as box:
        assert (await box.call("odd__pattern", "{}")).text == "x"  # to check it would take for ever


async def test_half_a_character_of_a_child_is_no_reason_to_wait_for_the_deadline() -> None:
    async with _odd("stdio") as box:
        assert (await box.call("odd__half", "{}")).text == "\U0001f600\\\U0001f600\\ud83d \ufffd\U0001f600\ufffd"


async def test_a_child_whose_line_never_ends_is_ended() -> None:
    async with _odd("stdio --endless") as box:
        result = await box.call("odd__odd", "{}")
        assert "a line of it is longer than 4 MB" in result.text


@cases(
    "reply, says",
    (Reply(404), "answers at {url}, but not at the path of this address (404)"),
    (Reply(405), "or it speaks only SSE, which is out of use"),
    (Reply(401), "refuses this app (401): it wants a key. Put it into the “headers”"),
    (Reply(503), "answers at {url}, but with an error of its own (503)"),
    (Reply(body=b"<html>"), "does not speak the protocol"),
    (Reply(307, {"Location": "http://other.test:81/mcp?key=k"}), "to another server (http://other.test:81), which"),
    (Reply(301, {"Location": "/there"}), "has moved to another path of {url} (301)"),
    (Reply(headers={"content-type": "application/json"}, body=b"x" * 5_000_000), "is longer than 4 MB"),
    ids=range(8),
)
async def test_what_is_wrong_with_an_address_is_said(reply: Reply, says: str, tmp_path: Path) -> None:
    async with Wire(standing={"/mcp": reply}) as wire:
        with pytest.raises(UserError) as raised:
            await ToolServerService(tmp_path / "none").test(ServerEntry("web", "address", url=f"{wire.url}/mcp"))
    assert says.format(url=wire.url) in str(raised.value) and "cannot be reached" not in str(raised.value)
    assert str(raised.value).endswith(".") and "key" not in str(raised.value).partition("?")[0].replace("a key", "")


async def test_headers_go_along_and_are_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    headers = {"Authorization": "Bearer sesame-open", "X-Team": "seven-dwarfs"}
    async with _Web() as web:
        server = McpServer("odd", url=f"{web.url}/mcp", headers=headers, effect="reads")
        box = Toolbox([], servers=[server])
        assert await box.open() == LEFT_OUT
        assert (await box.call("odd__odd", "{}")).ok
        await box.close()
        assert all(_has(seen.headers, headers) for seen in web.seen) and web.seen
    assert "sesame" not in caplog.text + repr(server) and "dwarfs" not in caplog.text + repr(server)


def _has(sent: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    lower = {name.lower(): value for name, value in sent.items()}
    return all(lower.get(name.lower()) == value for name, value in headers.items())
