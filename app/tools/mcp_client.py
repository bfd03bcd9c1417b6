"""The official package `mcp`, which connects to MCP servers: how it is loaded, used and explained.

The package takes care of a child process: it gives it the few safe environment variables and those that the user set,
ends its whole process group (SIGTERM, then SIGKILL) or, on Windows, its job object, and starts it there with
CREATE_NO_WINDOW.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import logging
from typing import Any

from app.tools.base import ToolError
from app.tools.mcp_bounds import EXCHANGE, BoundedLines, Exchange, http_transport
from app.tools.mcp_server import McpServer, without_secrets


async def load_package() -> Any:
    """Returns the package `mcp`; its first import takes a second or more and runs in a thread."""
    return await asyncio.to_thread(_load) if _load.cache_info().currsize == 0 else _load()


@functools.cache
def _load() -> Any:
    # These loggers write whole addresses and the output of servers; the user gets sentences instead.
    for name, level in (("mcp", logging.CRITICAL), ("client", logging.CRITICAL), ("httpx2", logging.WARNING)):
        logging.getLogger(name).setLevel(level)
    importlib.import_module("mcp.client.streamable_http")
    stdio: Any = importlib.import_module("mcp.client.stdio")
    assert hasattr(stdio, "TextReceiveStream")
    stdio.TextReceiveStream = BoundedLines
    return importlib.import_module("mcp")


def make_client(server: McpServer, errlog: Any, exchange: Exchange) -> Any:
    """Returns the package's client for `server`, not yet entered. A child's standard error goes to `errlog`.

    To be called by the task that enters it.
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
    """Returns why `server` can't be connected, without the exception's own text, which may hold secrets."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolError):
        return str(error)
    what = f"The MCP server “{server.name}”"
    if exchange.refusal is not None:
        return without_secrets(server, f"What the MCP server “{server.name}” sends is not taken: {exchange.refusal}.")
    if server.url:
        return _explain_http(server, error, exchange)
    if isinstance(error, FileNotFoundError):
        # A command with spaces may be a whole line, with a secret in it.
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
