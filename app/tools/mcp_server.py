"""A Model Context Protocol (MCP) server as the user has added it, and the official package `mcp` that connects to it.

The package takes care of a child process: it gives it the few safe environment variables and those that the user set,
ends its whole process group (SIGTERM, then SIGKILL) or, on Windows, its job object, and starts it there with
CREATE_NO_WINDOW. The values of the environment, the arguments of the command and the secret parts of an address (user,
password, query) appear in no log and no sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import logging
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.tools.base import ToolError


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server: a `command` with `args` and `env` (stdio), or a `url` (streamable HTTP).

    Its `repr` leaves out what may hold a secret.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    url: str = field(default="", repr=False)


async def load_package() -> Any:
    """Returns the package `mcp`; its first import takes a second or more and runs in a thread."""
    return await asyncio.to_thread(_load) if _load.cache_info().currsize == 0 else _load()


@functools.cache
def _load() -> Any:
    # These loggers write whole addresses and the output of servers; the user gets sentences instead.
    for name, level in (("mcp", logging.CRITICAL), ("client", logging.CRITICAL), ("httpx2", logging.WARNING)):
        logging.getLogger(name).setLevel(level)
    importlib.import_module("mcp.client.streamable_http")
    return importlib.import_module("mcp")


def make_client(server: McpServer, errlog: Any) -> Any:
    """Returns the package's client for `server`, not yet entered. A child's standard error goes to `errlog`."""
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


def explain(server: McpServer, error: BaseException) -> str:
    """Returns why `server` can't be connected, without the exception's own text, which may hold secrets."""
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
        "to see its output."
    )


def _plain_address(url: str) -> str:
    """Returns the scheme, host and port of an address."""
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}"
    return "its address"


def without_secrets(server: McpServer, text: str) -> str:
    """Returns a server's text without the secret values that the user gave it, should it repeat them."""
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
