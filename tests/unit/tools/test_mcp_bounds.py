"""Servers of tools that send too much, or send this app elsewhere: a sentence, and the app goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.services.tool_server_service import ToolServerService
from app.session.errors import UserError
from app.tools import McpServer, Toolbox
from app.tools.server_list import ServerEntry
from tests.support.odd_mcp_peer import answer_to
from tests.support.wire import Reply, Wire

PEER = str(Path(__file__).parents[2] / "support" / "odd_mcp_peer.py")
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
async def _opened(way: str) -> AsyncIterator[Toolbox]:
    async def opened(server: McpServer) -> AsyncIterator[Toolbox]:
        box = Toolbox([], servers=[server])
        try:
            assert await box.open() == LEFT_OUT
            yield box
        finally:
            await box.close()

    if way.startswith("stdio"):
        async for box in opened(McpServer("odd", sys.executable, (PEER, *way.split()[1:]))):
            yield box
        return
    async with _Web(streamed=way == "events") as web:
        async for box in opened(McpServer("odd", url=f"{web.url}/mcp")):
            yield box


@pytest.mark.parametrize("way", ["stdio", "http", "events"])
async def test_a_result_beyond_the_bounds_is_a_sentence_and_the_next_call_works(way: str) -> None:
    async with _opened(way) as box:
        for tool, why in (("blocks", "longer than 4 MB"), ("deep", "deeper than 48 levels"), ("long", "than 4 MB")):
            if way == "events" and tool == "blocks":
                why = "more than 12,000 values"
            result = await box.call(f"odd__{tool}", "{}")
            assert not result.ok and result.text.startswith("What the MCP server “odd” sends is not taken: ")
            assert why in result.text and result.text.endswith(f"“{tool}” may have been done or not.")
            assert (await box.call("odd__odd", "{}")).text == "abc"


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_what_a_server_says_is_harmless_and_short(way: str) -> None:
    async with _opened(way) as box:
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
    async with _opened("stdio") as box:
        assert (await box.call("odd__pattern", "{}")).text == "x"  # to check it would take for ever


async def test_half_a_character_of_a_child_is_no_reason_to_wait_for_the_deadline() -> None:
    async with _opened("stdio") as box:
        assert (await box.call("odd__half", "{}")).text == "\U0001f600\\\U0001f600\\ud83d \ufffd\U0001f600\ufffd"


async def test_a_child_whose_line_never_ends_is_ended() -> None:
    async with _opened("stdio --endless") as box:
        result = await box.call("odd__odd", "{}")
        assert "a line of it is longer than 4 MB" in result.text


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(404), "answers at {url}, but not at the path of this address (404)"),
        (Reply(405), "or it speaks only SSE, which is out of use"),
        (Reply(401), "refuses this app (401): it wants a key. Put it into the “headers”"),
        (Reply(503), "answers at {url}, but with an error of its own (503)"),
        (Reply(body=b"<html>"), "does not speak the protocol"),
        (Reply(307, {"Location": "http://other.test:81/mcp?key=k"}), "to another server (http://other.test:81), which"),
        (Reply(301, {"Location": "/there"}), "has moved to another path of {url} (301)"),
        (Reply(headers={"content-type": "application/json"}, body=b"x" * 5_000_000), "is longer than 4 MB"),
    ],
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
        server = McpServer("odd", url=f"{web.url}/mcp", headers=headers)
        box = Toolbox([], servers=[server])
        assert await box.open() == LEFT_OUT
        assert (await box.call("odd__odd", "{}")).ok
        await box.close()
        assert all(_has(seen.headers, headers) for seen in web.seen) and web.seen
    assert "sesame" not in caplog.text + repr(server) and "dwarfs" not in caplog.text + repr(server)


def _has(sent: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    lower = {name.lower(): value for name, value in sent.items()}
    return all(lower.get(name.lower()) == value for name, value in headers.items())
