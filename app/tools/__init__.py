"""Tools that a language model may call: a calculator, a clock, files by permission, servers of others (MCP).

All are off until the user asks for them by name. A leaf: knows nothing of models, talks, settings or windows.
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
from app.tools.mcp_server import McpServer, offered
from app.tools.server_list import ServerEntry, change_list, load_servers, read_list, server_of, wrong_entry
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
    "offered",
    "read_list",
    "server_of",
    "wrong_entry",
]

MCP_PREFIX = "mcp:"


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """What the user is told of a tool of the app's own: a `label`, and in `help` what it can see and do."""

    label: str
    help: str


TOOLS = MappingProxyType(
    {
        "calculator": BuiltIn("Calculator", "Works out arithmetic; sees nothing but the expression."),
        "clock": BuiltIn("Clock", "Tells the brain the date, the time and your time zone."),
        "files": BuiltIn(
            "Files",
            "Lists, reads and searches the folders you name, hidden files excepted, and changes nothing; what it "
            "reads goes to the brain you have chosen.",
        ),
    }
)


def make_toolbox(names: Collection[str], *, folders: Sequence[Path] = (), servers: Sequence[McpServer] = ()) -> Toolbox:
    """A toolbox, not yet opened, with the tools named: keys of `TOOLS`, or "mcp:NAME" for one of `servers`.

    The order is that of `TOOLS` and of `servers`, whatever that of `names`. A server that is named but not among
    `servers` becomes a sentence of `Toolbox.open`. Raises ToolError for a name that is neither.
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
    wanted = {name.removeprefix(MCP_PREFIX) for name in names if name.startswith(MCP_PREFIX)}
    chosen = [server for server in servers if server.name in wanted]
    missing = sorted(wanted - {server.name for server in chosen})
    return Toolbox(tools, servers=[*chosen, *map(McpServer, missing)])
