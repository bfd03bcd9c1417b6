"""Connections to MCP servers, and their tools.

The cancel scopes of the package `mcp` must be left in the task that entered them, so each connection lives in a task of
its own, which any other task may ask to end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from typing import Any

import anyio

from app.tools.base import ToolError, ToolSpec
from app.tools.mcp_bounds import Exchange
from app.tools.mcp_client import explain, load_package, make_client
from app.tools.mcp_server import McpServer, without_secrets
from app.tools.mcp_tool import OfferedTool, offers_of, result_text, shown
from app.untrusted.limits import TOOL_TEXT_CHARS
from app.untrusted.text import one_line

CONNECT_SECONDS = 10.0
END_SECONDS = 1.0
"""How long an HTTP server may take to end its session."""
CLOSE_SECONDS = 7.0
"""The package gives a child 2 s to end by itself, 2 s after SIGTERM and 2 s after SIGKILL."""
MESSAGE_CHARS = 300
"""The most of a server's message on what has failed."""
TOOLS = 64
"""The most tools of one server that are used: each of them takes space in the model's context."""
PAGES = 64
"""The most pages on which a server lists them."""


class _Session:
    """One connection from its start to its end, in a task of its own.

    `ready` gives the package's client, the server's tools, and a clause on each that can't be used.
    """

    def __init__(self, server: McpServer) -> None:
        self.ready: asyncio.Future[tuple[Any, list[OfferedTool], list[str]]] = (
            asyncio.get_running_loop().create_future()
        )
        self.ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # it may never be awaited
        self.exchange = Exchange(on_refused=self.end)
        self._server = server
        self._stop = asyncio.Event()
        # Not `Task.cancel`: a second one would interrupt the package while it ends the child, and leave that alive.
        self._scope = anyio.CancelScope()
        self.task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def over(self) -> bool:
        return self.task.done() or self._stop.is_set()

    def end(self) -> None:
        """Requests an orderly end, or an immediate one if it is not ready yet. Returns before the task is done."""
        self._stop.set()
        if not self.ready.done():
            self.abort()

    def abort(self) -> None:
        """Requests an immediate end; the task still waits for a child process, and kills it."""
        self._scope.cancel()

    async def _run(self) -> None:
        try:
            with self._scope, open(os.devnull, "w", encoding="utf-8") as null:
                async with make_client(self._server, null, self.exchange) as client:
                    offered = await asyncio.to_thread(offers_of, await _list_tools(client))
                    self.ready.set_result((client, *offered))
                    await self._stop.wait()
        except Exception as error:
            self._fail(explain(self._server, error, self.exchange))
        finally:
            self._stop.set()
            refused = self.exchange.refusal
            self._fail(
                explain(self._server, refused, self.exchange)
                if refused
                else f"The MCP server “{self._server.name}” ended before it was ready."
            )

    def _fail(self, sentence: str) -> None:
        if not self.ready.done():
            self.ready.set_exception(ToolError(sentence))


class McpConnection:
    """A server that is connected when it is used, again after a failure. For use by any task of one loop."""

    def __init__(self, server: McpServer, *, seconds: float = CONNECT_SECONDS) -> None:
        self.server = server
        self._seconds = seconds
        self._current: _Session | None = None
        self._open: set[_Session] = set()
        self._closed = False

    async def tools(self) -> tuple[list[OfferedTool], list[str]]:
        """Returns the server's tools in its own order, 64 at most, and a clause on each that can't be used.

        Raises ToolError.
        """
        _, tools, left_out = (await self._connect()).ready.result()
        return tools, left_out

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Calls `tool`, connecting first if necessary, and returns the text of the result. Raises ToolError."""
        session, mcp = await self._connect(), await load_package()
        client, *_ = session.ready.result()
        request = mcp.types.CallToolRequest(
            params=mcp.types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        tool = shown(tool)
        try:
            # Not `call_tool`: it checks results by the server's own schema, whose patterns can take for ever.
            result = await client.session.send_request(request, mcp.types.CallToolResult)
        except mcp.MCPError as error:
            if session.exchange.refusal is not None:
                raise ToolError(
                    f"{explain(self.server, error, session.exchange)} “{tool}” may have been done or not."
                ) from None
            if error.code in (mcp.types.CONNECTION_CLOSED, mcp.types.INVALID_REQUEST):
                session.end()  # the second: an HTTP server that has forgotten the session
                raise ToolError(
                    f"The MCP server “{self.server.name}” ended or broke off, and “{tool}” may have been done or not. "
                    "It is connected again at the next call."
                ) from None
            message = one_line(error.message, MESSAGE_CHARS).rstrip(". ") or "the server does not say why"
            raise ToolError(without_secrets(self.server, f"“{tool}” was refused: {message}.")) from None
        except Exception as error:  # an answer that violates the protocol
            raise ToolError(
                f"The MCP server “{self.server.name}” did not answer “{tool}” as it must ({type(error).__name__})."
            ) from None
        text = result_text(result)
        if result.is_error:
            text = text[: 2 * TOOL_TEXT_CHARS]
            raise ToolError(without_secrets(self.server, text or f"“{tool}” failed and does not say why."))
        return text or "Done; there is no text."

    async def close(self) -> None:
        """Ends the connection and its child; safe to call twice and from any task. Takes 8 s at most."""
        self._closed = True
        for one in self._open:
            one.end()
        for seconds in (END_SECONDS, CLOSE_SECONDS):
            if self._open:
                await asyncio.wait({one.task for one in self._open}, timeout=seconds)
            for one in self._open:
                one.abort()

    async def _connect(self) -> _Session:
        """Returns a connection that is ready; a new one if the last is over."""
        await load_package()
        if self._closed:
            raise ToolError(f"The connection to the MCP server “{self.server.name}” has been closed.")
        session = self._current
        if session is None or session.over:
            session = self._current = _Session(self.server)
            self._open.add(session)
            session.task.add_done_callback(lambda _: self._open.discard(session))
        await asyncio.wait({session.ready}, timeout=self._seconds)
        if not session.ready.done():
            session.end()
            raise ToolError(
                f"The MCP server “{self.server.name}” was not ready within {self._seconds:g} seconds. Its tools are "
                "not there for now; see whether it starts in a terminal, or is reachable."
            )
        session.ready.result()
        return session


async def offered(server: McpServer, *, seconds: float = CONNECT_SECONDS) -> list[str]:
    """Returns the names of a server's tools. The server has ended then, also after a cancellation. Raises ToolError."""
    connection = McpConnection(server, seconds=seconds)
    try:
        return [tool.shown for tool in (await connection.tools())[0]]
    finally:
        closing = asyncio.create_task(connection.close())
        while not closing.done():  # however often it is cancelled: no child may be left alive
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({closing})


class McpTool:
    """One tool of a server, by the name that the model calls it by."""

    def __init__(self, connection: McpConnection, tool: OfferedTool, name: str) -> None:
        self._connection = connection
        self._tool = tool.name
        self.spec = ToolSpec(name, tool.description, tool.parameters, acts=tool.acts)

    async def call(self, arguments: Mapping[str, Any]) -> str:
        return await self._connection.call(self._tool, arguments)


async def _list_tools(client: Any) -> list[Any]:
    page = await client.list_tools()
    tools = list(page.tools)
    for _ in range(PAGES):
        if not page.next_cursor or len(tools) >= TOOLS:
            break
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools[:TOOLS]
