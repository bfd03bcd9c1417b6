"""An MCP server added by the user, and its tools as presented to the model: sanitized and limited in size.

The values of a server's environment and headers, the arguments of its command and the secret parts of its URL (user,
password, query) never appear in logs or messages.
"""

from __future__ import annotations

import contextlib
import json
import re
import urllib.parse
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.tools.base import Effect
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_SCHEMA, Refused
from app.untrusted.text import harmless, one_line


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server: a `command` with `args` and `env` (stdio), or a `url` with `headers` (streamable HTTP).

    - `effect`: what its tools may do, as the user has said; `effects`: what the user has said of single tools.
    - `always`: the tools whose calls the user always allows.
    - `trouble`: a clause with the reason if the server can't be used.

    The `repr` omits fields that may contain secrets.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    effect: Effect = field(default="changes", repr=False)
    effects: Mapping[str, Effect] = field(default_factory=dict, repr=False, hash=False)
    always: frozenset[str] = field(default=frozenset(), repr=False)
    trouble: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """The scheme, host and port of the URL; a placeholder if the URL is invalid."""
        with contextlib.suppress(ValueError):
            parts = urllib.parse.urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.scheme}://{parts.hostname}{port}"
        return "its address"


def without_secrets(server: McpServer, text: str) -> str:
    """Returns `text` with the user's secret values for `server` redacted, since the server may echo them."""
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


NAME_CHARS = 64
DESCRIPTION_CHARS = 1_000


@dataclass(frozen=True)
class OfferedTool:
    """A tool offered by a server. `name`: the server's name for it; the other fields are those of `ToolSpec`.

    `warned`: the server says itself that the tool may change something.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    warned: bool = False

    def effect(self, server: McpServer) -> Effect:
        """Returns what the tool may do: what the user has said of it, or of its server.

        A server isn't believed if it calls its tools harmless, only if it warns of one.
        """
        if (own := server.effects.get(self.name)) is not None:
            return own
        return "changes" if self.warned else server.effect

    @property
    def shown(self) -> str:
        """The name as shown in messages."""
        return shown(self.name)


def offers_of(tools: Collection[Any]) -> tuple[list[OfferedTool], list[str]]:
    """Converts a server's tools (`mcp.types.Tool`); also returns a clause for each tool that can't be used."""
    offers, left_out = [], []
    for tool in tools:
        try:
            parameters = _schema(tool.input_schema)
        except Refused as refusal:
            left_out.append(f"the tool “{shown(tool.name)}” is left out, because of its schema: {refusal}")
            continue
        description = harmless((tool.description or tool.title or tool.name)[:DESCRIPTION_CHARS])
        hints = tool.annotations
        warned = hints is not None and (hints.read_only_hint is False or bool(hints.destructive_hint))
        offers.append(OfferedTool(tool.name, description, parameters, warned))
    return offers, left_out


def shown(name: str) -> str:
    """Returns a tool's name, shortened and sanitized for use in messages."""
    return one_line(name, NAME_CHARS)


def tool_name(server: str, tool: str, taken: Collection[str]) -> str:
    """Returns `SERVER__TOOL`, limited to characters and a length that all models accept, and distinct from `taken`."""
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", f"{server[:NAME_CHARS]}__{tool[: 2 * NAME_CHARS]}")
    name, number = plain[:NAME_CHARS], 2
    while name in taken:
        end = f"_{number}"
        name, number = plain[: NAME_CHARS - len(end)] + end, number + 1
    return name


def result_text(result: Any) -> str:
    """Returns the text of a result, preceded by a note with the number of omitted items of each other type."""
    texts: list[str] = []
    left_out: Counter[str] = Counter()
    for block in result.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "resource" and hasattr(block.resource, "text"):
            texts.append(block.resource.text)
        else:
            left_out[block.type] += 1
    if not result.content and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    if left_out:
        texts.insert(0, f"[left out: {', '.join(f'{count} × {kind}' for kind, count in left_out.items())}]")
    return "\n".join(texts).strip()


def _schema(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Validates and completes a tool's schema for models and `Toolbox`. Raises Refused."""
    schema = {"type": "object", "properties": {}, **read_json(json.dumps(raw), TOOL_SCHEMA)}
    if not isinstance(schema["properties"], dict):
        raise Refused("its properties are no object")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise Refused("what it requires is no list of names")
    return schema
