"""The user's list of MCP servers: a file in the usual layout, read leniently and changed entry by entry.

The layout is `{"mcpServers": {name: {"command", "args", "env"} | {"url", "headers"}}}`. Anything else in the file is
kept when it is written. No sentence from here contains a value of the file, only names and the file's path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.platform.atomic_files import write_json
from app.tools.base import ToolError
from app.tools.mcp_server import McpServer
from app.tools.server_entry import ServerEntry, entry_of, fault_of, merge, server_from, wrong_entry
from app.untrusted.files import read_json_file
from app.untrusted.limits import TOOL_SERVERS
from app.untrusted.refused import Refused

NOT_LISTED = "is not in the list of servers: add it there, or switch it off"
_LIST = "The list of MCP servers"


@dataclass(frozen=True, slots=True)
class ServerList:
    """The contents of the file. `trouble`: a sentence on why it can't be read or written; empty if it can."""

    entries: tuple[ServerEntry, ...] = ()
    trouble: str = ""

    @property
    def usable(self) -> tuple[str, ...]:
        """The names of the entries that can be used, in their order."""
        return tuple(entry.name for entry in self.entries if not (entry.off or entry.trouble))


def load_servers(path: Path) -> tuple[list[McpServer], str]:
    """Returns the usable servers, and a sentence on what is wrong with the file ("" for nothing).

    A missing file counts as empty. Entries with `"disabled": true` are left out. Never raises for the file's contents.
    """
    document, trouble = _read(path)
    if trouble:
        return [], f"{trouble[0]}: none is used. {trouble[1]}"
    servers, wrong = [], []
    for name, entry in _entries_of(document).items():
        if isinstance(entry, dict) and entry.get("disabled") is True:
            continue
        fault = fault_of(entry)
        if fault:
            wrong.append(f"“{name}” {fault}")
        else:
            servers.append(server_from(name, entry))
    if wrong:
        return servers, f"In the list of MCP servers {'; '.join(wrong)}: left out. Put {path} right."
    return servers, ""


def named_servers(path: Path, names: Collection[str]) -> list[McpServer]:
    """Returns the servers of these names, in the file's order; those that can't be used have a `trouble`.

    Never raises for the file's contents.
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
    """Returns all entries, also those that can't be used. Never raises for the file's contents."""
    document, trouble = _read(path)
    notice = f"{trouble[0]}: none is used, and it can't be changed here. {trouble[1]}" if trouble else ""
    return ServerList(tuple(entry_of(name, raw) for name, raw in _entries_of(document).items()), notice)


def change_list(path: Path, changed: Sequence[ServerEntry], removed: Sequence[str] = ()) -> None:
    """Writes new and changed entries, and removes those named `removed`; all others stay as they are on disk now.

    The file is written atomically. Raises ToolError, also for a file that can't be read, which is then not changed.
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


def server_of(path: Path, entry: ServerEntry) -> McpServer:
    """Returns the server of an entry that may not be saved yet, with its `env` from the file. Raises ToolError."""
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
    """Returns the file's object, with entries that are an object; or what is wrong with it, and what to do."""
    try:
        read: dict[str, Any] = read_json_file(path, TOOL_SERVERS)
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
