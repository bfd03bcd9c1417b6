"""The user's list of MCP servers: a file in the usual format of MCP clients, parsed leniently, edited entry by entry.

The format is `{"mcpServers": {name: {"command", "args", "env"} | {"url", "headers"}}}`. What the user lets a server's
tools do is this app's own part of an entry: `"kame": {"effect", "tools": {tool: effect}, "always": [tool]}`. Anything
else in the file is preserved when it is rewritten. Messages contain only names and the file's path, never environment
or header values.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import urllib.parse
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from app.platform.files import APP_FOLDER, make_private, write_json
from app.tools.base import EFFECTS, Effect, ToolError
from app.tools.mcp_tool import McpServer
from app.untrusted.files import read_json_file
from app.untrusted.limits import TOOL_SERVERS, Refused
from app.untrusted.proxies import may_have_key

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
"""Headers that the HTTP client sets itself."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An entry in the list. The `repr` omits fields that may contain secrets.

    - `kept`: the entry's name in the file; empty for a new entry
    - `variables`: the names in `env`, or in `headers` for a URL; read-only
    - `effect`: what its tools may do; `effects`: what single tools may do, where the user has said so
    - `always`: the tools whose calls are always allowed
    - `off`: whether the entry is `disabled`; read-only
    - `trouble`: a user-facing message that says why the entry can't be used; empty if it can
    """

    name: str
    kind: Kind = "program"
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    kept: str = ""
    variables: tuple[str, ...] = ()
    effect: Effect = "changes"
    effects: tuple[tuple[str, Effect], ...] = ()
    always: tuple[str, ...] = ()
    off: bool = False
    trouble: str = ""


def wrong_entry(entries: Sequence[ServerEntry], others: Sequence[str] = ()) -> tuple[int, str] | None:
    """Returns the index of the first entry that can't be saved, and a user-facing message with the reason.

    Returns None if all entries can be saved. `others`: the names of other entries, which must not be reused.
    """
    names = [entry.name for entry in entries]
    for place, entry in enumerate(entries):
        if fault := _mistake_in(entry, [*others, *names[:place]]):
            return place, fault
    return None


def _mistake_in(entry: ServerEntry, before: Sequence[str]) -> str:
    """Returns a message about what the user must correct in an entry, or "". `before`: the names already taken."""
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
    """Returns an error message if a command includes arguments, otherwise "". The message contains no arguments."""
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
    """Returns the entry for a JSON object in the file; ignores fields of the wrong type."""
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
        *_rules_of(raw),
        raw.get("disabled") is True,
        trouble,
    )


OWN_KEY = "kame"
"""The part of an entry that only this app reads."""


def _rules_of(raw: Mapping[str, Any]) -> tuple[Effect, tuple[tuple[str, Effect], ...], tuple[str, ...]]:
    """Returns `effect`, `effects` and `always` of an entry's JSON object: the strictest wherever it says nothing."""
    own = raw.get(OWN_KEY)
    own = own if isinstance(own, dict) else {}
    tools, always = own.get("tools"), own.get("always")
    effects = ((tool, _effect(said)) for tool, said in tools.items()) if isinstance(tools, dict) else ()
    allowed = (tool for tool in always if isinstance(tool, str)) if isinstance(always, list) else ()
    return _effect(own.get("effect")), tuple(effects), tuple(allowed)


def _effect(said: Any) -> Effect:
    return next((effect for effect in EFFECTS if effect == said), "changes")


def fault_of(entry: Any) -> str:
    """Returns a clause about the first error in an entry's JSON object, or "". The clause contains no values."""
    if not isinstance(entry, dict):
        return "is no object"
    command, url, env = (entry.get(key, kind()) for key, kind in (("command", str), ("url", str), ("env", dict)))
    if not isinstance(command, str) or not isinstance(url, str) or bool(command.strip()) == bool(url.strip()):
        return "needs either a “command” or a “url”"
    if entry.get("type") == "sse" or entry.get("transport") == "sse":
        return "speaks SSE, which is out of use: give the address of its streamable HTTP, which often ends in /mcp"
    if url and not url.lower().startswith(("http://", "https://")):
        return "has a “url” that is not http or https"
    if url and entry.get("headers") and not may_have_key(url):
        return "has “headers”, which would go unencrypted to another network: write https:// in its “url”"
    if url and not _are_headers(entry.get("headers", {})):
        return "has “headers” that are no texts which can be sent"
    if not isinstance(entry.get("args", []), list) or not all(isinstance(arg, str) for arg in entry.get("args", [])):
        return "has “args” that are no list of texts"
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        return "has an “env” whose values are no texts"
    return ""


def server_from(name: str, entry: Mapping[str, Any]) -> McpServer:
    """Returns the server for an entry's JSON object, which must be valid."""
    effect, effects, always = _rules_of(entry)
    return McpServer(
        name,
        entry.get("command", ""),
        tuple(entry.get("args", ())),
        entry.get("env", {}),
        entry.get("url", ""),
        entry.get("headers", {}) if entry.get("url") else {},
        effect,
        dict(effects),
        frozenset(always),
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
    """Returns an entry's JSON object with the changes applied; the same object if nothing but the name has changed.

    Another program or address is not allowed what the one before was always allowed.
    """
    old = entry_of(entry.kept or entry.name, raw)
    same = isinstance(raw, dict) and bool(raw) and _connection(old) == _connection(entry)
    entry = entry if same or not entry.kept else replace(entry, always=())
    if same and _rules(old) == _rules(entry):
        return raw
    merged = dict(raw) if isinstance(raw, dict) else {}
    merged.pop(OWN_KEY, None)
    rules = {
        "effect": entry.effect if entry.effect != "changes" else None,
        "tools": dict(entry.effects),
        "always": list(entry.always),
    }
    if rules := {key: value for key, value in rules.items() if value}:
        merged[OWN_KEY] = rules
    if same:
        return merged
    for key in ("command", "args", "url"):
        merged.pop(key, None)
    for key in ("type", "transport"):  # drops values for the other kind of server
        stale = ("http", "streamable-http", "streamable_http", "sse") if entry.kind == "program" else ("stdio", "sse")
        if merged.get(key) in stale:
            del merged[key]
    if entry.kind == "address":
        return {"url": entry.url.strip(), **merged}
    return {"command": entry.command.strip(), "args": list(entry.args), **merged}


def _rules(entry: ServerEntry) -> tuple[Any, ...]:
    return entry.effect, entry.effects, entry.always


def _connection(entry: ServerEntry) -> tuple[Any, ...]:
    if entry.kind == "program":
        return entry.kind, entry.command.strip(), entry.args
    return entry.kind, entry.url.strip()


NOT_LISTED = "is not in the list of servers: add it there, or switch it off"
_LIST = "The list of MCP servers"


@dataclass(frozen=True, slots=True)
class ServerList:
    """The contents of the file. If it can't be read, `trouble` is a user-facing message with the reason."""

    entries: tuple[ServerEntry, ...] = ()
    trouble: str = ""

    @property
    def usable(self) -> tuple[str, ...]:
        """The names of the usable entries, in the file's order."""
        return tuple(entry.name for entry in self.entries if not (entry.off or entry.trouble))

    @property
    def notice(self) -> str:
        """A user-facing message about the file or about entries in it that can't be used, or empty."""
        wrong = [entry.trouble for entry in self.entries if entry.trouble and not entry.off]
        return self.trouble or (f"In the list of MCP servers: {' '.join(wrong)}" if wrong else "")


def named_servers(path: Path, names: Collection[str]) -> list[McpServer]:
    """Returns the servers with these names, in the file's order. For those that can't be used, `trouble` is set.

    Never raises for invalid contents.
    """
    document, trouble = _read(path)
    entries = _entries_of(document)
    if trouble:
        return [McpServer(name, trouble=f"is not used: {trouble[0]}. {trouble[1]}".rstrip(".")) for name in names]
    ordered = [*(name for name in entries if name in names), *(name for name in names if name not in entries)]
    return [_named(name, entries.get(name), path) for name in ordered]


def _named(name: str, entry: Any, path: Path) -> McpServer:
    if entry is None:
        return McpServer(name, trouble=NOT_LISTED)
    if fault := fault_of(entry):
        return McpServer(name, trouble=f"{fault}. It is not used: put its entry in {path} right")
    if entry.get("disabled") is True:
        return McpServer(name, trouble="is disabled in the list of servers: enable it there, or switch it off here")
    return server_from(name, entry)


def read_list(path: Path) -> ServerList:
    """Returns all entries, including unusable ones. Never raises for invalid contents."""
    document, trouble = _read(path)
    notice = f"{trouble[0]}: none is used, and it can't be changed here. {trouble[1]}" if trouble else ""
    return ServerList(tuple(entry_of(name, raw) for name, raw in _entries_of(document).items()), notice)


def change_list(path: Path, changed: Sequence[ServerEntry], removed: Sequence[str] = ()) -> None:
    """Saves new and changed entries and deletes those named in `removed`, leaving all others as they are on disk.

    The file is written atomically. Raises ToolError, in which case the file is unchanged.
    """
    document, trouble = _read(path)
    if trouble:
        raise ToolError(f"{trouble[0]}, so nothing was saved. {trouble[1]}")
    if wrong := wrong_entry(changed):
        raise ToolError(wrong[1])
    to_change = {entry.kept: entry for entry in changed if entry.kept}
    result: list[tuple[str, Any]] = []
    for name, raw in _entries_of(document).items():
        if name in to_change:
            entry = to_change.pop(name)
            result.append((entry.name, merge(raw, entry)))
        elif name not in removed:
            result.append((name, raw))
    result += [(entry.name, merge({}, entry)) for entry in changed if not entry.kept or entry.kept in to_change]
    counts = Counter(name for name, _ in result)
    if twice := next((name for name, count in counts.items() if count > 1), ""):
        raise ToolError(f"There already is a server called “{twice}” in {path}. Nothing was saved: give another name.")
    _write(path, {**document, "mcpServers": dict(result)})


def allow_always(path: Path, server: str, tool: str) -> None:
    """Saves that calls of a server's tool are always allowed. Raises ToolError, in which case the file is unchanged."""
    entry = next((one for one in read_list(path).entries if one.name == server), None)
    if entry is not None and tool not in entry.always:
        change_list(path, [replace(entry, always=(*entry.always, tool))])


def server_of(path: Path, entry: ServerEntry) -> McpServer:
    """Returns the server for an entry that may be unsaved; reads `env` or `headers` from the file. Raises ToolError."""
    if wrong := wrong_entry([entry]):
        raise ToolError(wrong[1])
    document, _ = _read(path)
    raw = merge(_entries_of(document).get(entry.kept, {}) if entry.kept else {}, entry)
    if fault := fault_of(raw):
        raise ToolError(f"“{entry.name}” {fault}. Put its entry in {path} right.")
    return server_from(entry.name, raw)


def _entries_of(document: Mapping[str, Any]) -> dict[str, Any]:
    return document.get("mcpServers", {})


def _read(path: Path) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """Returns the file's JSON object; on failure an empty one, and a pair of messages: the error and its remedy."""
    try:
        read: dict[str, Any] = read_json_file(path, TOOL_SERVERS)
        if APP_FOLDER in path.parts:
            make_private(path)  # users write it by hand, and keys into it
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        return {}, (f"{_LIST} cannot be read ({error.strerror})", f"It is {path}.")
    except Refused as error:
        return {}, (f"{_LIST} cannot be read, since {error}", f"Put {path} right.")
    if not isinstance(read.get("mcpServers", {}), dict):
        return {}, (f'{_LIST} does not hold {{"mcpServers": {{…}}}}', f"Put {path} right.")
    return read, None


def _write(path: Path, document: Mapping[str, Any]) -> None:
    try:
        write_json(path, document)
    except OSError as error:
        raise ToolError(
            f"{_LIST} could not be saved ({error.strerror or type(error).__name__}); it is as it was before. See "
            f"that {path.parent} can be written to and has room, then save again."
        ) from None
