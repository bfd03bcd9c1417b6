"""Bounds what MCP servers send before the package `mcp` parses it, over HTTP and from a child process.

The package reads messages of any size on the event loop, and swallows some of the errors that come of a bound: what was
refused, and the last status of an HTTP server, is therefore kept in the connection's `Exchange`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from app.tools.mcp_server import McpServer
from app.untrusted.http import bounded_hooks, other_server
from app.untrusted.limits import TOOL_CHILD, TOOL_MESSAGE, TOOL_STREAM
from app.untrusted.line_scanner import LineScanner
from app.untrusted.refused import Refused
from app.untrusted.workers import push_aside


@dataclass
class Exchange:
    """What is known of one connection. `on_refused` is called when a message was refused: nothing more is read then.

    `status`: that of the last answer to a message sent over HTTP. `moved`: it is a redirect. `elsewhere`: the other
    server that it leads to, by scheme, host and port.
    """

    on_refused: Callable[[], None]
    refusal: Refused | None = None
    status: int = 0
    moved: bool = False
    elsewhere: str = ""

    def refuse(self, refusal: Refused) -> None:
        """Keeps the first refusal, and lets the connection end."""
        self.refusal = self.refusal or refusal
        self.on_refused()


# An escape of JSON that is a whole pair, or half a one, or another.
_HALF = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)

EXCHANGE: ContextVar[Exchange] = ContextVar("exchange")
"""The connection whose task, or a task of whose, is running."""


@asynccontextmanager
async def http_transport(server: McpServer, http: Any, exchange: Exchange) -> AsyncIterator[Any]:
    """The package's transport over HTTP (`http` is its module), with the user's headers and within bounds."""

    async def note(response: Any) -> None:
        if response.request.method == "POST":
            exchange.status, exchange.moved = response.status_code, response.has_redirect_location
            exchange.elsewhere = other_server(response) if exchange.moved else ""

    client = await asyncio.to_thread(http.create_mcp_http_client, dict(server.headers))  # it loads certificates
    hooks = bounded_hooks(TOOL_MESSAGE, TOOL_STREAM, TOOL_MESSAGE, on_refused=exchange.refuse)
    client.event_hooks = {**hooks, "response": [note, *hooks["response"]]}
    async with (
        client,
        http.streamable_http_client(server.url, http_client=client, max_sse_event_size=TOOL_MESSAGE.bytes) as streams,
    ):
        yield streams


class BoundedLines:
    """Gives the output of a child process by whole lines within bounds, in place of the package's own reader.

    It closes the output where a line is beyond its bounds, so that the child can't go on writing. Half a surrogate
    pair, which the package doesn't take, becomes U+FFFD.
    """

    def __init__(self, output: Any, **_: object) -> None:
        self._output = output
        self._scanner = LineScanner(TOOL_CHILD, TOOL_MESSAGE)

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            async for block in self._output:
                for lines in await push_aside(self._scanner, block):
                    text = lines.decode("utf-8", "replace")
                    if "\\ud" in text or "\\uD" in text:
                        text = await asyncio.to_thread(_HALF.sub, _whole, text)
                    yield text
        except Refused as refusal:
            EXCHANGE.get().refuse(refusal)
            await self._output.aclose()


def _whole(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape[1] else escape[0]
