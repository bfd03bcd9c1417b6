"""An entry of the user's list of MCP servers: how it is shown, checked, and merged with what the file holds.

No sentence from here contains a value of an entry, only its name.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.tools.mcp_server import McpServer

Kind = Literal["program", "address"]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN_HEADERS = (
    "host",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
    "accept",
    "accept-encoding",
)
"""Headers that an HTTP client sets by itself."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An entry of the list. Its `repr` leaves out what may hold a secret.

    `kept`: its name in the file; empty for a new one. The rest is only read: `variables`: the names in its `env`, or
    in the `headers` of an address.
    `off`: it is `disabled`. `trouble`: a sentence on why it can't be used; empty if it can.
    """

    name: str
    kind: Kind = "program"
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    kept: str = ""
    variables: tuple[str, ...] = ()
    off: bool = False
    trouble: str = ""


def wrong_entry(entries: Sequence[ServerEntry], others: Sequence[str] = ()) -> tuple[int, str] | None:
    """Returns the index of the first entry that can't be saved beside the names `others`, and why, in a sentence."""
    names = [entry.name for entry in entries]
    for place, entry in enumerate(entries):
        if fault := _mistake_in(entry, [*others, *names[:place]]):
            return place, fault
    return None


def _mistake_in(entry: ServerEntry, before: Sequence[str]) -> str:
    """Returns what the user has to correct in an entry, or ""."""
    name = entry.name
    if not name:
        return "A server has no name yet. Give it one, or remove it."
    if name != entry.kept and any(letter.isspace() for letter in name):
        return f"The name “{name}” has a space in it. Write it without, such as “{'-'.join(name.split())}”."
    if name in before:
        return f"Two servers are called “{name}”. Give one of them another name."
    if entry.kind == "program":
        if not entry.command.strip():
            return f"“{name}” has no command yet. Say which program is to be started, or choose an address."
        if "\0" in entry.command or any("\0" in arg for arg in entry.args):
            return f"The command of “{name}” holds a character that no command can hold. Write it again."
        return _whole_line_in(name, entry.command.strip())
    if not entry.url.strip():
        return f"“{name}” has no address yet. Say where it is, such as https://example.org/mcp."
    if _is_address(entry.url):
        return ""
    return (
        f"The address of “{name}” is none that can be asked. It begins with http:// or https://, and names a host, "
        "such as https://example.org/mcp."
    )


def _whole_line_in(name: str, command: str) -> str:
    """Returns what is wrong with a command that is a line with arguments, or ""; names only its program."""
    first = command.split()[0]
    if first == command or shutil.which(command) or not shutil.which(first):
        return ""
    return (
        f"The command of “{name}” is a whole line, and there is no such program. Leave “{first}” as the command, and "
        "put the rest into the arguments, one on each line."
    )


def _is_address(url: str) -> bool:
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(url)
        _ = parts.port  # raises ValueError if it is not a number
        whole = not any(letter.isspace() for letter in url)
        return whole and parts.scheme in ("http", "https") and bool(parts.hostname)
    return False


def entry_of(name: str, raw: Any) -> ServerEntry:
    """Returns the entry for a file's object; fields of a wrong type are left out."""
    fault = fault_of(raw)
    trouble = f"“{name}” {fault}, so it is not used." if fault else ""
    if not isinstance(raw, dict):
        return ServerEntry(name, kept=name, trouble=trouble)
    command, url, args = (raw.get(key) for key in ("command", "url", "args"))
    kind: Kind = "address" if isinstance(url, str) and url.strip() and not command else "program"
    variables = raw.get("headers" if kind == "address" else "env")
    return ServerEntry(
        name,
        kind,
        command if isinstance(command, str) else "",
        tuple(arg for arg in args if isinstance(arg, str)) if isinstance(args, list) else (),
        url if isinstance(url, str) else "",
        name,
        tuple(variables) if isinstance(variables, dict) else (),
        raw.get("disabled") is True,
        trouble,
    )


def fault_of(entry: Any) -> str:
    """Returns what is wrong with a file's object, or ""; contains none of its values."""
    if not isinstance(entry, dict):
        return "is no object"
    command, url, env = (entry.get(key, kind()) for key, kind in (("command", str), ("url", str), ("env", dict)))
    if not isinstance(command, str) or not isinstance(url, str) or bool(command.strip()) == bool(url.strip()):
        return "needs either a “command” or a “url”"
    if entry.get("type") == "sse" or entry.get("transport") == "sse":
        return "speaks SSE, which is out of use: give the address of its streamable HTTP, which often ends in /mcp"
    if url and not url.lower().startswith(("http://", "https://")):
        return "has a “url” that is not http or https"
    if url and not _are_headers(entry.get("headers", {})):
        return "has “headers” that are no texts which can be sent"
    if not isinstance(entry.get("args", []), list) or not all(isinstance(arg, str) for arg in entry.get("args", [])):
        return "has “args” that are no list of texts"
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        return "has an “env” whose values are no texts"
    return ""


def server_from(name: str, entry: Mapping[str, Any]) -> McpServer:
    """Returns the server of a file's object without faults."""
    return McpServer(
        name,
        entry.get("command", ""),
        tuple(entry.get("args", ())),
        entry.get("env", {}),
        entry.get("url", ""),
        entry.get("headers", {}) if entry.get("url") else {},
    )


def _are_headers(headers: Any) -> bool:
    return isinstance(headers, dict) and all(
        _HEADER_NAME.fullmatch(name)
        and name.lower() not in _OWN_HEADERS
        and isinstance(value, str)
        and value.isascii()
        and value.isprintable()
        for name, value in headers.items()
    )


def merge(raw: Any, entry: ServerEntry) -> dict[str, Any]:
    """Returns a file's object with an entry's changes; the object itself if the entry connects as before."""
    old = entry_of(entry.kept or entry.name, raw)
    if isinstance(raw, dict) and raw and _connection(old) == _connection(entry):
        return raw
    merged = dict(raw) if isinstance(raw, dict) else {}
    for key in ("command", "args", "url"):
        merged.pop(key, None)
    for key in ("type", "transport"):  # of its former kind
        stale = ("http", "streamable-http", "streamable_http", "sse") if entry.kind == "program" else ("stdio", "sse")
        if merged.get(key) in stale:
            del merged[key]
    if entry.kind == "address":
        return {"url": entry.url.strip(), **merged}
    return {"command": entry.command.strip(), "args": list(entry.args), **merged}


def _connection(entry: ServerEntry) -> tuple[Any, ...]:
    if entry.kind == "program":
        return entry.kind, entry.command.strip(), entry.args
    return entry.kind, entry.url.strip()
