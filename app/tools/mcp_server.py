"""A Model Context Protocol (MCP) server as the user has added it.

The values of its environment and headers, the arguments of its command and the secret parts of its address (user,
password, query) appear in no log and no sentence.
"""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server: a `command` with `args` and `env` (stdio), or a `url` with `headers` (streamable HTTP).

    `trouble`: a clause on why it can't be used; empty if it can. Its `repr` leaves out what may hold a secret.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    trouble: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """The scheme, host and port of its address."""
        with contextlib.suppress(ValueError):
            parts = urllib.parse.urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.scheme}://{parts.hostname}{port}"
        return "its address"


def without_secrets(server: McpServer, text: str) -> str:
    """Returns a server's text without the secret values that the user gave it, should it repeat them."""
    secrets = {*server.env.values()}
    for value in server.headers.values():
        secrets |= {value, *value.split()}  # Bearer TOKEN
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(server.url)
        secrets |= {server.url, parts.query, *(value for _, value in urllib.parse.parse_qsl(parts.query))}
        for part in filter(None, (parts.username, parts.password)):
            secrets |= {part, urllib.parse.unquote(part)}
    for secret in sorted(secrets - {"Bearer", "Basic"}, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "[hidden]")
    return text
