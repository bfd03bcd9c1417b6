"""Tools of others: servers that speak the Model Context Protocol, through the official package `mcp`.

A server is a child process (stdio) or an address (streamable HTTP). Knows nothing of the model that asks. The
package's cancel scopes must be left in the task that entered them, so each connection lives in a task of its own,
which anybody may ask to end. The environment's values, the command's arguments and the secret parts of an address
(user, password, query) are written into no log and no sentence.

The package itself takes care of the child: it gets the few safe environment variables and those that the user
wrote down, is ended with its whole process group (SIGTERM, then SIGKILL) or, on Windows, with its job object, and is
started there with CREATE_NO_WINDOW, so no console pops up unless the server opens one itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import json
import logging
import os
import re
import urllib.parse
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from app.tools.base import ToolError, ToolSpec

CONNECT_SECONDS = 10.0
FAREWELL_SECONDS = 1.0
"""So long an HTTP server may take over the end of its session."""
CLOSE_SECONDS = 7.0
"""The package gives a child 2 s to end by itself, 2 s after SIGTERM and 2 s after SIGKILL."""
NAME_CHARS = 64
DESCRIPTION_CHARS = 1_000
TOOLS = 64
"""So many tools of one server are taken: each of them costs the model's context."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server that the user has added: a `command` with `args` and `env`, or a `url` (streamable HTTP).

    What may hold a secret is not in its `repr`.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    url: str = field(default="", repr=False)


class _Life:
    """One connection from its beginning to its end, in a task of its own.

    `ready` gives the package's client and the tools (the package's `Tool`) that the server offers.
    """

    def __init__(self, server: McpServer) -> None:
        self.ready: asyncio.Future[tuple[Any, list[Any]]] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # perhaps nobody asks
        self._server = server
        self._stop = asyncio.Event()
        # Not `Task.cancel`: a second one would break into the package's ending of the child, and leave it alive.
        self._scope = anyio.CancelScope()
        self.task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def over(self) -> bool:
        return self.task.done() or self._stop.is_set()

    def end(self) -> None:
        """Asks it to end in good order, or at once if it is not ready yet; the task is over a little later."""
        self._stop.set()
        if not self.ready.done():
            self.abort()

    def abort(self) -> None:
        """Has it end without a farewell; a child is still waited for, and killed."""
        self._scope.cancel()

    async def _run(self) -> None:
        try:
            with self._scope, open(os.devnull, "w", encoding="utf-8") as nowhere:
                async with _client(self._server, nowhere) as client:
                    self.ready.set_result((client, await _listed(client)))
                    await self._stop.wait()
        except Exception as error:
            self._fail(_why_not(self._server, error))
        finally:
            self._stop.set()
            self._fail(f"The MCP server “{self._server.name}” ended before it was ready.")

    def _fail(self, sentence: str) -> None:
        if not self.ready.done():
            self.ready.set_exception(ToolError(sentence))


class McpConnection:
    """A server, connected when it must be. Safe to use from any task of one loop."""

    def __init__(self, server: McpServer, *, seconds: float = CONNECT_SECONDS) -> None:
        self.server = server
        self._seconds = seconds
        self._life: _Life | None = None
        self._lives: set[_Life] = set()
        self._closed = False

    async def tools(self) -> list[Any]:
        """What the server offers (the package's `Tool`), in its own order, 64 at most. Raises ToolError."""
        _, tools = (await self._connected()).ready.result()
        return tools

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Calls `tool`, connecting first where the connection was lost; the result's text. Raises ToolError."""
        life, mcp = await self._connected(), _load()
        client, _ = life.ready.result()
        try:
            result = await client.call_tool(tool, dict(arguments))
        except mcp.MCPError as error:
            if error.code in (mcp.types.CONNECTION_CLOSED, mcp.types.INVALID_REQUEST):
                life.end()  # the latter: an HTTP server that has forgotten the session
                raise ToolError(
                    f"The MCP server “{self.server.name}” ended or broke off, and “{tool}” may have been done or not. "
                    "It is connected again at the next call."
                ) from None
            raise ToolError(_without_secrets(self.server, f"“{tool}” was refused: {error.message}")) from None
        except Exception as error:  # an answer that breaks the protocol or the tool's own schema
            raise ToolError(
                f"The MCP server “{self.server.name}” did not answer “{tool}” as it must ({type(error).__name__})."
            ) from None
        text = _result_text(result)
        if result.is_error:
            raise ToolError(_without_secrets(self.server, text or f"“{tool}” failed and does not say why."))
        return text or "Done; there is no text."

    async def close(self) -> None:
        """Ends the connection and its child; safe to call twice and from any task. Takes 8 s at the very most."""
        self._closed = True
        for life in self._lives:
            life.end()
        for seconds in (FAREWELL_SECONDS, CLOSE_SECONDS):
            if self._lives:
                await asyncio.wait({life.task for life in self._lives}, timeout=seconds)
            for life in self._lives:
                life.abort()

    async def _connected(self) -> _Life:
        """A life that is ready; a new one where the last is over."""
        await _package()
        if self._closed:
            raise ToolError(f"The connection to the MCP server “{self.server.name}” has been closed.")
        life = self._life
        if life is None or life.over:
            life = self._life = _Life(self.server)
            self._lives.add(life)
            life.task.add_done_callback(functools.partial(self._forget, life))
        await asyncio.wait({life.ready}, timeout=self._seconds)
        if not life.ready.done():
            life.end()
            raise ToolError(self._too_slow())
        life.ready.result()
        return life

    def _forget(self, life: _Life, task: asyncio.Task[None]) -> None:
        self._lives.discard(life)

    def _too_slow(self) -> str:
        return (
            f"The MCP server “{self.server.name}” was not ready within {self._seconds:g} seconds. Its tools are not "
            "there for now; see whether it starts in a terminal, or is reachable."
        )


async def offered(server: McpServer, *, seconds: float = CONNECT_SECONDS) -> list[str]:
    """The names of a server's tools. It has ended when this returns, also when that is cancelled. Raises ToolError."""
    connection = McpConnection(server, seconds=seconds)
    try:
        return [tool.name for tool in await connection.tools()]
    finally:
        closing = asyncio.create_task(connection.close())
        while not closing.done():  # however often it is cancelled meanwhile: a child must not be left alive
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({closing})


class McpTool:
    """One tool of a server, under the name the model knows it by."""

    def __init__(self, connection: McpConnection, tool: Any, name: str) -> None:
        self._connection = connection
        self._tool = tool.name
        self.spec = ToolSpec(
            name,
            (tool.description or tool.title or tool.name)[:DESCRIPTION_CHARS],
            {"type": "object", "properties": {}, **tool.input_schema},
            acts=not (tool.annotations is not None and tool.annotations.read_only_hint),
        )

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Raises ToolError."""
        return await self._connection.call(self._tool, arguments)


def tool_name(server: str, tool: str, taken: Collection[str]) -> str:
    """`SERVER__TOOL` in the characters and the length that every model takes, and none of `taken`."""
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", f"{server}__{tool}")
    name, number = plain[:NAME_CHARS], 2
    while name in taken:
        end = f"_{number}"
        name, number = plain[: NAME_CHARS - len(end)] + end, number + 1
    return name


async def _package() -> Any:
    """The package, read in a thread at first use: it takes a second or more."""
    return await asyncio.to_thread(_load) if _load.cache_info().currsize == 0 else _load()


@functools.cache
def _load() -> Any:
    # They log whole addresses and, with tracebacks, whatever a server writes; the user gets sentences instead.
    for name, level in (("mcp", logging.CRITICAL), ("client", logging.CRITICAL), ("httpx2", logging.WARNING)):
        logging.getLogger(name).setLevel(level)
    importlib.import_module("mcp.client.streamable_http")
    return importlib.import_module("mcp")


def _client(server: McpServer, errlog: Any) -> Any:
    """The package's client for `server`, not yet entered. The child's stderr goes to `errlog`."""
    mcp = _load()
    if server.command:
        parameters = mcp.StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=dict(server.env),
            encoding_error_handler="replace",
        )
        return mcp.Client(mcp.stdio_client(parameters, errlog=errlog))
    if server.url:
        return mcp.Client(server.url)
    raise ToolError(f"The MCP server “{server.name}” is not in the list of servers: add it there, or switch it off.")


async def _listed(client: Any) -> list[Any]:
    page = await client.list_tools()
    tools = list(page.tools)
    while page.next_cursor and len(tools) < TOOLS:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools[:TOOLS]


def _why_not(server: McpServer, error: BaseException) -> str:
    """Why `server` could not be had, in a sentence without the error's own text, which may hold secrets."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return str(error)
    what = f"The MCP server “{server.name}”"
    if server.url:
        return f"{what} cannot be reached at {_plain_address(server.url)} ({type(error).__name__}): see that it runs."
    if isinstance(error, FileNotFoundError):
        # A command with spaces may be a whole line, with a secret in it.
        program = f"no program “{server.command}”" if len(server.command.split()) == 1 else "no such program"
        return f"{what} cannot be started: there is {program}. Install it or put its command right."
    if isinstance(error, OSError):
        return f"{what} cannot be started ({error.strerror or type(error).__name__}): put its command right."
    return (
        f"{what} ended at once or does not speak the protocol ({type(error).__name__}): run its command in a terminal "
        "to see what it says."
    )


def _plain_address(url: str) -> str:
    """Scheme, host and port alone."""
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}"
    return "its address"


def _without_secrets(server: McpServer, text: str) -> str:
    """`text` without the values that the user gave this server alone, should it repeat them."""
    secrets = {*server.env.values()}
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(server.url)
        secrets |= {server.url, parts.query, *(value for _, value in urllib.parse.parse_qsl(parts.query))}
        for part in filter(None, (parts.username, parts.password)):
            secrets |= {part, urllib.parse.unquote(part)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "[hidden]")
    return text


def _result_text(result: Any) -> str:
    """The text in a result; what is no text is named."""
    parts = []
    for block in result.content:
        if block.type == "text":
            parts.append(block.text)
        elif block.type == "resource" and hasattr(block.resource, "text"):
            parts.append(block.resource.text)
        else:
            parts.append(f"[{block.type}, left out]")
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(parts).strip()
