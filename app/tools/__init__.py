"""Tools that a model may call: a calculator, a clock, permitted files, and Model Context Protocol (MCP) servers.

All tools are disabled until the user enables them by name. In reading order:

- `base`: the tool protocol, a tool's description for the model, and the result of a call
- `calculator`, `clock`: arithmetic, and the date and time
- `files`: the permitted folders, and the three tools that list, read and search them
- `mcp_tool`: an MCP server added by the user, and its tools as presented to the model
- `mcp_connection`: the connection to a server, with limits on message sizes and time
- `server_list`: the user's list of servers, and the file that stores it
- `toolbox`: all tools of a session

`make_toolbox` creates a `Toolbox` from names. A back-end sends `Toolbox.specs` to its model. Each call by the model
consists of a name and JSON text; the toolbox validates it against the tool's schema, runs it with a timeout, and
returns a `ToolResult`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from app.tools.base import Tool, ToolError, ToolResult, ToolSpec
from app.tools.calculator import Calculator
from app.tools.clock import Clock
from app.tools.files import files_tools
from app.tools.mcp_connection import offered
from app.tools.mcp_tool import McpServer
from app.tools.server_list import (
    NOT_LISTED,
    ServerEntry,
    change_list,
    load_servers,
    named_servers,
    read_list,
    server_of,
    wrong_entry,
)
from app.tools.toolbox import Toolbox

__all__ = [
    "MCP_PREFIX",
    "TOOLS",
    "BuiltIn",
    "McpServer",
    "ServerEntry",
    "Tool",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "change_list",
    "load_servers",
    "make_toolbox",
    "named_servers",
    "offered",
    "read_list",
    "server_of",
    "wrong_entry",
]

MCP_PREFIX = "mcp:"


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in tool as shown to the user. `help` describes what it can access and do."""

    label: str
    help: str


TOOLS = MappingProxyType(
    {
        "calculator": BuiltIn("Calculator", "Works out arithmetic; sees nothing but the expression."),
        "clock": BuiltIn("Clock", "Tells the model the date, the time and your time zone."),
        "files": BuiltIn(
            "Files",
            "Lists, reads and searches the folders you name, hidden files excepted, and changes nothing; what it "
            "reads goes to the model you have chosen.",
        ),
    }
)


def make_toolbox(names: Collection[str], *, folders: Sequence[Path] = (), servers: Sequence[McpServer] = ()) -> Toolbox:
    """Returns an unopened toolbox with the tools in `names`: keys of `TOOLS`, or "mcp:NAME" for one of `servers`.

    The tools are in the order of `TOOLS` and `servers`. If a named server is not in `servers`, `Toolbox.open` returns a
    message about it. Raises ToolError for any other unknown name.
    """
    unknown = sorted(name for name in names if name not in TOOLS and not name.startswith(MCP_PREFIX))
    if unknown:
        raise ToolError(f"There is no tool “{unknown[0]}”: there are {', '.join(TOOLS)}, and {MCP_PREFIX}NAME.")
    tools: list[Tool] = []
    if "calculator" in names:
        tools.append(Calculator())
    if "clock" in names:
        tools.append(Clock())
    if "files" in names:
        tools += files_tools(folders)
    requested = {name.removeprefix(MCP_PREFIX) for name in names if name.startswith(MCP_PREFIX)}
    chosen = [server for server in servers if server.name in requested]
    missing = sorted(requested - {server.name for server in chosen})
    return Toolbox(tools, servers=[*chosen, *(McpServer(name, trouble=NOT_LISTED) for name in missing)])
