"""Connections to MCP servers, and their tools, based on the official package `mcp`.

The package's cancel scopes must be exited in the task that entered them. Each connection therefore runs in its own
task, and other tasks only request its end. The package manages child processes: it passes them only a few safe
environment variables and those set by the user. To end them, it terminates the whole process group (SIGTERM, then
SIGKILL) or, on Windows, the job object; on Windows it also sets CREATE_NO_WINDOW.

The package would parse messages of any size on the event loop, so their size is checked first. Since it swallows some
of the errors that these checks raise, the connection's `Exchange` records the rejection and the last HTTP status.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import logging
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import anyio

from app.tools.base import ToolError, ToolSpec
from app.tools.mcp_tool import McpServer, OfferedTool, offers_of, result_text, shown, without_secrets
from app.untrusted.http import bounded_hooks, other_server, push_aside
from app.untrusted.limits import (
    TOOL_CHILD,
    TOOL_MESSAGE,
    TOOL_STREAM,
    TOOL_TEXT_CHARS,
    ProxyRefused,
    Refused,
    refusal_in,
)
from app.untrusted.line_scanner import LineScanner
from app.untrusted.proxies import async_transport
from app.untrusted.text import one_line


async def load_package() -> Any:
    """Returns the package `mcp`. The first import takes a second or more, so it runs on a worker thread."""
    return await asyncio.to_thread(_load) if _load.cache_info().currsize == 0 else _load()


@functools.cache
def _load() -> Any:
    # These loggers write full URLs and server output; the user gets error messages instead.
    for name, level in (("mcp", logging.CRITICAL), ("client", logging.CRITICAL), ("httpx2", logging.WARNING)):
        logging.getLogger(name).setLevel(level)
    importlib.import_module("mcp.client.streamable_http")
    stdio: Any = importlib.import_module("mcp.client.stdio")
    assert hasattr(stdio, "TextReceiveStream")
    stdio.TextReceiveStream = BoundedLines
    return importlib.import_module("mcp")


def make_client(server: McpServer, errlog: Any, exchange: Exchange) -> Any:
    """Returns the package's client for `server`, with its context not yet entered. `errlog`: for a child's stderr.

    Must be called in the task that enters the client. Raises ToolError if the server can't be used.
    """
    mcp = _load()
    EXCHANGE.set(exchange)
    if server.trouble:
        raise ToolError(f"The MCP server “{server.name}” {server.trouble}.")
    if server.command:
        parameters = mcp.StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=dict(server.env),
            encoding_error_handler="replace",
        )
        return mcp.Client(mcp.stdio_client(parameters, errlog=errlog))
    return mcp.Client(http_transport(server, mcp.client.streamable_http, exchange))


def explain(server: McpServer, error: BaseException, exchange: Exchange) -> str:
    """Returns a user-facing message that says why connecting to `server` failed.

    The message doesn't include the exception's own text, which may contain secrets.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return str(error)
    what = f"The MCP server “{server.name}”"
    if exchange.refusal is not None:
        return without_secrets(
            server, f"What the MCP server “{server.name}” sends is not accepted: {exchange.refusal}."
        )
    if server.url:
        return _explain_http(server, error, exchange)
    if isinstance(error, FileNotFoundError):
        # A command with spaces may be a whole command line that contains a secret.
        program = f"no program “{server.command}”" if len(server.command.split()) == 1 else "no such program"
        return f"{what} cannot be started: there is {program}. Install it or put its command right."
    if isinstance(error, OSError):
        return f"{what} cannot be started ({error.strerror or type(error).__name__}): put its command right."
    return (
        f"{what} ended at once or does not speak the protocol ({type(error).__name__}): run its command in a terminal "
        "to see its output."
    )


def _explain_http(server: McpServer, error: BaseException, exchange: Exchange) -> str:
    what, status = f"The MCP server “{server.name}”", exchange.status
    if isinstance(refused := refusal_in(error), ProxyRefused):
        return (
            f"{what} cannot be reached: {refused}. Take it out of this machine's proxy settings (NO_PROXY), or name an "
            "HTTP proxy there."
        )
    if not status:
        return f"{what} cannot be reached at {server.place} ({type(error).__name__}): see that it runs."
    if exchange.moved:
        if not exchange.elsewhere:
            return f"{what} has moved to another path of {server.place} ({status}): put its address right."
        place = without_secrets(server, exchange.elsewhere)
        return (
            f"{what} sends this app on to another server ({place}), which is not followed. If that is the server that "
            "you want, enter its address."
        )
    answers = f"{what} answers at {server.place}"
    if status in (401, 403):
        return (
            f"{answers}, but refuses this app ({status}): it wants a key. Put it into the “headers” of its entry in "
            "the list's file."
        )
    if status in (404, 405, 410):
        return (
            f"{answers}, but not at the path of this address ({status}), or it speaks only SSE, which is out of use: "
            "put the path right, which often is /mcp."
        )
    if status >= 500:
        return f"{answers}, but with an error of its own ({status}): try again later, or look into its log."
    return f"{answers}, but does not speak the protocol as it must ({status}): see that the address is right."


@dataclass
class Exchange:
    """The state of one connection.

    - `on_refused`: called when a message is rejected, after which nothing more is read
    - `refusal`: the first rejection, if any
    - `status`: the status code of the last response to an HTTP POST request; 0 if there was none
    - `moved`: whether that response is a redirect
    - `elsewhere`: the scheme, host and port of the redirect's target, if that is another server; otherwise empty
    """

    on_refused: Callable[[], None]
    refusal: Refused | None = None
    status: int = 0
    moved: bool = False
    elsewhere: str = ""

    def refuse(self, refusal: Refused) -> None:
        """Records a rejection if it is the first, and ends the connection."""
        self.refusal = self.refusal or refusal
        self.on_refused()


# A JSON escape: a surrogate pair, a lone surrogate (group 1), or any other.
_HALF = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)

EXCHANGE: ContextVar[Exchange] = ContextVar("exchange")
"""The connection that the current task belongs to."""


HTTP_SECONDS, STREAM_SECONDS = 30.0, 300.0
"""Timeouts of a server's answers, and of its streams, which it may hold open: those that the package uses."""


def _make_client(server: McpServer) -> Any:
    library: Any = importlib.import_module("httpx2")
    return library.AsyncClient(
        headers=dict(server.headers),
        timeout=library.Timeout(HTTP_SECONDS, read=STREAM_SECONDS),
        transport=async_transport(library, server.url),
    )


@asynccontextmanager
async def http_transport(server: McpServer, http: Any, exchange: Exchange) -> AsyncIterator[Any]:
    """Opens the package's HTTP transport with the user's headers and with limits on message sizes.

    `http`: the package's module `mcp.client.streamable_http`.
    """

    async def note(response: Any) -> None:
        if response.request.method == "POST":
            exchange.status, exchange.moved = response.status_code, response.has_redirect_location
            exchange.elsewhere = other_server(response) if exchange.moved else ""

    client = await asyncio.to_thread(_make_client, server)  # loads certificates
    hooks = bounded_hooks(TOOL_MESSAGE, TOOL_STREAM, TOOL_MESSAGE, on_refused=exchange.refuse)
    client.event_hooks = {**hooks, "response": [note, *hooks["response"]]}
    async with (
        client,
        http.streamable_http_client(server.url, http_client=client, max_sse_event_size=TOOL_MESSAGE.bytes) as streams,
    ):
        yield streams


class BoundedLines:
    """Yields a child process's output as complete lines of limited size; replaces the package's own reader.

    If a line exceeds the limits, closes the output, so that the child can't continue writing. Replaces lone surrogates,
    which the package doesn't accept, with U+FFFD.
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


CONNECT_SECONDS = 10.0
END_SECONDS = 1.0
"""How long (s) an HTTP server may take to end its session."""
CLOSE_SECONDS = 7.0
"""How long (s) closing may take: the package waits 2 s each for a child to exit, after SIGTERM and after SIGKILL."""
MESSAGE_CHARS = 300
"""The maximum length of a server's error message in characters."""
TOOLS = 64
"""The maximum number of tools per server, since each takes up space in the model's context."""
PAGES = 64
"""The maximum number of additional pages fetched from a server's tool list."""


class _Session:
    """A single connection, which runs in its own task.

    `ready` resolves to the package's client, the server's tools, and a clause for each tool that can't be used.
    """

    def __init__(self, server: McpServer) -> None:
        self.ready: asyncio.Future[tuple[Any, list[OfferedTool], list[str]]] = (
            asyncio.get_running_loop().create_future()
        )
        self.ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # it may never be awaited
        self.exchange = Exchange(on_refused=self.end)
        self._server = server
        self._stop = asyncio.Event()
        # Not `Task.cancel`: a second call would interrupt the package as it ends the child, which would keep running.
        self._scope = anyio.CancelScope()
        self.task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def over(self) -> bool:
        return self.task.done() or self._stop.is_set()

    def end(self) -> None:
        """Requests a clean shutdown, or aborts a connection that isn't ready yet. Returns before the task is done."""
        self._stop.set()
        if not self.ready.done():
            self.abort()

    def abort(self) -> None:
        """Requests an immediate shutdown. The task still waits for a child process, and kills it if necessary."""
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
    """A connection to a server, opened on first use and reopened after failures. Usable from any task of one loop."""

    def __init__(self, server: McpServer, *, seconds: float = CONNECT_SECONDS) -> None:
        self.server = server
        self._seconds = seconds
        self._current: _Session | None = None
        self._open: set[_Session] = set()
        self._closed = False

    async def tools(self) -> tuple[list[OfferedTool], list[str]]:
        """Returns up to 64 of the server's tools in the server's order, and a clause for each that can't be used.

        Connects first if necessary. Raises ToolError.
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
            # Not `call_tool`: it validates results against the server's schema, whose patterns may take forever.
            result = await client.session.send_request(request, mcp.types.CallToolResult)
        except mcp.MCPError as error:
            if session.exchange.refusal is not None:
                raise ToolError(
                    f"{explain(self.server, error, session.exchange)} “{tool}” may have been done or not."
                ) from None
            if error.code in (mcp.types.CONNECTION_CLOSED, mcp.types.INVALID_REQUEST):
                session.end()  # INVALID_REQUEST: an HTTP server that no longer knows the session
                raise ToolError(
                    f"The MCP server “{self.server.name}” ended or broke off, and “{tool}” may have been done or not. "
                    "It is connected again at the next call."
                ) from None
            message = one_line(error.message, MESSAGE_CHARS).rstrip(". ") or "the server does not say why"
            raise ToolError(without_secrets(self.server, f"“{tool}” was refused: {message}.")) from None
        except Exception as error:  # a response that violates the protocol
            raise ToolError(
                f"The MCP server “{self.server.name}” did not answer “{tool}” as it must ({type(error).__name__})."
            ) from None
        text = result_text(result)
        if result.is_error:
            text = text[: 2 * TOOL_TEXT_CHARS]
            raise ToolError(without_secrets(self.server, text or f"“{tool}” failed and does not say why."))
        return text or "Done; there is no text."

    async def close(self) -> None:
        """Ends the connection and its child process within 8 s. Idempotent; can be called from any task."""
        self._closed = True
        for one in self._open:
            one.end()
        for seconds in (END_SECONDS, CLOSE_SECONDS):
            if self._open:
                await asyncio.wait({one.task for one in self._open}, timeout=seconds)
            for one in self._open:
                one.abort()

    async def _connect(self) -> _Session:
        """Returns a connection that is ready, creating a new one if the last has ended. Raises ToolError."""
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
    """Returns the names of a server's tools. Closes the connection even if cancelled. Raises ToolError."""
    connection = McpConnection(server, seconds=seconds)
    try:
        return [tool.shown for tool in (await connection.tools())[0]]
    finally:
        closing = asyncio.create_task(connection.close())
        while not closing.done():  # even if cancelled repeatedly, since no child may be left running
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({closing})


class McpTool:
    """A server's tool as a `Tool`. `name`: the name that the model uses for it."""

    def __init__(self, connection: McpConnection, tool: OfferedTool, name: str) -> None:
        self._connection = connection
        self._tool = tool.name
        server = connection.server
        self.spec = ToolSpec(
            name,
            tool.description,
            tool.parameters,
            effect=tool.effect(server),
            always=tool.name in server.always,
            outside=True,
        )

    @property
    def place(self) -> tuple[str, str]:
        """The server's name, and the tool's name there."""
        return self._connection.server.name, self._tool

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
