"""The user's list of MCP servers: a file of the usual layout, read forgivingly and changed entry by entry.

The layout is `{"mcpServers": {name: {"command", "args", "env"} | {"url"}}}`. Whatever else stands in the file is kept
when it is written. No sentence from here tells a value of it; a name and the file's path at most.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.platform.atomic_files import write_json
from app.tools.base import ToolError
from app.tools.mcp_server import McpServer

Kind = Literal["program", "address"]

_LIST = "The list of MCP servers"


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An entry of the list; what may hold a secret is not in its `repr`.

    `kept`: the name that it has in the file, empty for a new one. The rest is never written. `variables`: the names in
    its `env`. `off`: it is `disabled`. `trouble`: why it can't be used, in a sentence, empty when it can.
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


@dataclass(frozen=True, slots=True)
class ServerList:
    """What the file holds. `trouble`: why it can't be read or written, empty when it can."""

    entries: tuple[ServerEntry, ...] = ()
    trouble: str = ""

    @property
    def usable(self) -> tuple[str, ...]:
        """The names of those that a talk can use, in their order."""
        return tuple(entry.name for entry in self.entries if not (entry.off or entry.trouble))


def load_servers(path: Path) -> tuple[list[McpServer], str]:
    """The servers that can be had, and a sentence on what is wrong with the file ("" for nothing).

    A missing file is an empty one; an entry with `"disabled": true` is passed over. Never raises for what is in the
    file.
    """
    document, trouble = _read(path)
    if trouble:
        return [], f"{trouble[0]}: none is used. {trouble[1]}"
    servers, wrong = [], []
    for name, entry in _entries_of(document).items():
        if isinstance(entry, dict) and entry.get("disabled") is True:
            continue
        fault = _fault(entry)
        if fault:
            wrong.append(f"“{name}” {fault}")
        else:
            servers.append(_server(name, entry))
    if wrong:
        return servers, f"In the list of MCP servers {'; '.join(wrong)}: left out. Put {path} right."
    return servers, ""


def read_list(path: Path) -> ServerList:
    """All entries, also those that can't be used. Never raises for what is in the file."""
    document, trouble = _read(path)
    told = f"{trouble[0]}: none is used, and it can't be changed here. {trouble[1]}" if trouble else ""
    return ServerList(tuple(_entry(name, raw) for name, raw in _entries_of(document).items()), told)


def change_list(path: Path, changed: Sequence[ServerEntry], removed: Sequence[str] = ()) -> None:
    """Writes new and changed entries, and takes out those `removed`, by name; the rest stays as it is on disk now.

    The file is written whole or not at all. Raises ToolError with a sentence, and leaves a file alone that it can't
    read.
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
            result.append((entry.name, _merged(raw, entry)))
        elif name not in removed:
            result.append((name, raw))
    result += [(entry.name, _merged({}, entry)) for entry in changed if not entry.kept or entry.kept in to_change]
    if twice := _first_twice(name for name, _ in result):
        raise ToolError(f"There already is a server called “{twice}” in {path}. Nothing was saved: give another name.")
    _write(path, {**document, "mcpServers": dict(result)})


def wrong_entry(entries: Sequence[ServerEntry], others: Sequence[str] = ()) -> tuple[int, str] | None:
    """The place of the first entry that can't be saved beside `others`, by name, and why, in a sentence."""
    names = [entry.name for entry in entries]
    for place, entry in enumerate(entries):
        if fault := _mistake(entry, [*others, *names[:place]]):
            return place, fault
    return None


def server_of(path: Path, entry: ServerEntry) -> McpServer:
    """The server of an entry that may not be saved yet, with the `env` that the file has for it. Raises ToolError."""
    if wrong := wrong_entry([entry]):
        raise ToolError(wrong[1])
    document, _ = _read(path)
    raw = _merged(_entries_of(document).get(entry.kept, {}) if entry.kept else {}, entry)
    if fault := _fault(raw):
        raise ToolError(f"“{entry.name}” {fault}. Put its entry in {path} right.")
    return _server(entry.name, raw)


def _mistake(entry: ServerEntry, before: Sequence[str]) -> str:
    """What the user has to put right in an entry, or ""."""
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
            return f"The command of “{name}” holds a character that no command can hold. Write it anew."
        return _whole_line(name, entry.command.strip())
    if not entry.url.strip():
        return f"“{name}” has no address yet. Say where it is, such as https://example.org/mcp."
    return (
        ""
        if _is_address(entry.url)
        else (
            f"The address of “{name}” is none that can be asked. It begins with http:// or https://, and names a host, "
            "such as https://example.org/mcp."
        )
    )


def _whole_line(name: str, command: str) -> str:
    """What is wrong with a command that is a line with arguments, or ""; says no more of it than its program."""
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
        _ = parts.port  # raises when it is no number
        whole = not any(letter.isspace() for letter in url)
        return whole and parts.scheme in ("http", "https") and bool(parts.hostname)
    return False


def _merged(raw: Any, entry: ServerEntry) -> dict[str, Any]:
    """A file's entry with what was changed in it; an entry that is otherwise as before stays what it was."""
    old = _entry(entry.kept or entry.name, raw)
    if isinstance(raw, dict) and raw and _connection(old) == _connection(entry):
        return raw
    merged = dict(raw) if isinstance(raw, dict) else {}
    for key in ("command", "args", "url"):
        merged.pop(key, None)
    for key in ("type", "transport"):  # what it was before, if that is something else now
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


def _entry(name: str, raw: Any) -> ServerEntry:
    """A file's entry as it can be shown; what is of the wrong type is left out."""
    fault = _fault(raw)
    trouble = f"“{name}” {fault}, so it is not used." if fault else ""
    if not isinstance(raw, dict):
        return ServerEntry(name, kept=name, trouble=trouble)
    command, url, args, env = (raw.get(key) for key in ("command", "url", "args", "env"))
    return ServerEntry(
        name,
        "address" if isinstance(url, str) and url.strip() and not command else "program",
        command if isinstance(command, str) else "",
        tuple(arg for arg in args if isinstance(arg, str)) if isinstance(args, list) else (),
        url if isinstance(url, str) else "",
        name,
        tuple(env) if isinstance(env, dict) else (),
        raw.get("disabled") is True,
        trouble,
    )


def _server(name: str, entry: Mapping[str, Any]) -> McpServer:
    return McpServer(
        name, entry.get("command", ""), tuple(entry.get("args", ())), entry.get("env", {}), entry.get("url", "")
    )


def _first_twice(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _entries_of(document: Mapping[str, Any]) -> dict[str, Any]:
    return document.get("mcpServers", {})


def _read(path: Path) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """The file's object, whose entries are an object then; or why there is none, and what to do about it."""
    try:
        read = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        return {}, (f"{_LIST} cannot be read ({error.strerror})", f"It is {path}.")
    except UnicodeDecodeError:
        return {}, (f"{_LIST} is not written in UTF-8", f"Save {path} as UTF-8.")
    except json.JSONDecodeError as error:
        return {}, (f"{_LIST} is no valid JSON (line {error.lineno}: {error.msg})", f"Put {path} right.")
    except (ValueError, RecursionError):  # a number of thousands of digits
        return {}, (f"{_LIST} is no valid JSON (nested too deeply, or too long)", f"Put {path} right.")
    if not isinstance(read, dict) or not isinstance(read.get("mcpServers", {}), dict):
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


def _fault(entry: Any) -> str:
    """What is wrong with an entry, or "". Says nothing of its values."""
    if not isinstance(entry, dict):
        return "is no object"
    command, url, env = (entry.get(key, kind()) for key, kind in (("command", str), ("url", str), ("env", dict)))
    if not isinstance(command, str) or not isinstance(url, str) or bool(command.strip()) == bool(url.strip()):
        return "needs either a “command” or a “url”"
    if entry.get("type") == "sse" or entry.get("transport") == "sse":
        return "speaks SSE, which is out of use: only stdio and streamable HTTP are spoken here"
    if url and not url.lower().startswith(("http://", "https://")):
        return "has a “url” that is not http or https"
    if entry.get("headers"):
        return "asks for headers, which cannot be sent"
    if not isinstance(entry.get("args", []), list) or not all(isinstance(arg, str) for arg in entry.get("args", [])):
        return "has “args” that are no list of texts"
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        return "has an “env” whose values are no texts"
    return ""
