"""The tools of a session, listed for the model in a stable order and called by name with a timeout.

The text of a failed call is an error message. A tool that ignores cancellation is abandoned. A tool that may do more
than read is only called with the user's consent.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.tools.base import Tool, ToolError, ToolResult, ToolSpec
from app.tools.calculator import Calculator
from app.tools.clock import Clock
from app.tools.consent import Consent
from app.tools.files import files_tools
from app.tools.mcp_connection import McpConnection, McpTool
from app.tools.mcp_tool import McpServer, tool_name
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_ARGUMENTS, TOOL_TEXT_CHARS, Refused
from app.untrusted.text import harmless

CALL_SECONDS = 8.0
CANCEL_SECONDS = 0.2
"""How long (s) a cancelled tool may take to clean up before it is abandoned."""
CLOSE_SECONDS = 1.0

_CUT = "\n[Cut here: the whole has {:,} characters.]"
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}

_log = logging.getLogger(__name__)


class Toolbox:
    """Built-in tools and connections to MCP servers, usable from any task of one event loop.

    `seconds`: the timeout of each call. `now`: the clock for `ToolResult.seconds`. `consent`: that of the session;
    without one, no tool is called that may do more than read.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        servers: Sequence[McpServer] = (),
        seconds: float = CALL_SECONDS,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.consent = Consent()
        self._own = tuple(tools)
        self._tools: dict[str, Tool] = {tool.spec.name: tool for tool in self._own}
        self._connections = [McpConnection(server) for server in servers]
        self._opened = False
        self._seconds = seconds
        self._now = now
        self._running: set[asyncio.Task[str]] = set()

    async def open(self) -> list[str]:
        """Connects to all servers in parallel, each with a timeout of 10 s; a no-op if called again.

        Returns a message for each server or tool that can't be used and is therefore missing from the toolbox.
        """
        if self._opened:
            return []
        self._opened = True
        offers = await asyncio.gather(*(connection.tools() for connection in self._connections), return_exceptions=True)
        sentences = []
        for connection, offered in zip(self._connections, offers, strict=True):
            if isinstance(offered, ToolError):
                sentences.append(str(offered))
            elif isinstance(offered, BaseException):
                _log.error("connecting an MCP server failed: %s", type(offered).__name__)
                sentences.append(
                    f"The MCP server “{connection.server.name}” could not be had ({type(offered).__name__}): "
                    "its tools are not there."
                )
            else:
                tools, left_out = offered
                sentences += [f"Of the MCP server “{connection.server.name}” {clause}." for clause in left_out]
                for tool in tools:
                    name = tool_name(connection.server.name, tool.name, self._tools)
                    self._tools[name] = McpTool(connection, tool, name)
        return sentences

    def is_like(self, other: Toolbox) -> bool:
        """Returns whether both toolboxes have the same tools and servers."""
        mine, theirs = ([tool.spec for tool in box._own] for box in (self, other))
        return mine == theirs and [c.server for c in self._connections] == [c.server for c in other._connections]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The descriptions for the model: the built-in tools, then each server's, always in the same order."""
        return tuple(tool.spec for tool in self._tools.values())

    async def call(self, name: str, arguments: str) -> ToolResult:
        """Calls a tool. `arguments` is the model's unmodified JSON text.

        If the call fails, `ok` is False and `text` is an error message. Raises only CancelledError.
        """
        started = self._now()
        try:
            text, ok = await self._run(name, arguments), True
        except ToolError as error:
            text, ok = str(error), False
        except Exception as error:
            _log.exception("the tool %s failed", name)
            text, ok = f"The tool “{name}” failed ({type(error).__name__}). Answer without it.", False
        return ToolResult(name, ok, harmless(_shorten(text)), self._now() - started)

    def allow_always(self, name: str) -> tuple[str, str] | None:
        """Always allows the calls of a server's tool; returns the server's name and the tool's name there.

        Returns None for any other tool.
        """
        tool = self._tools.get(name)
        if not isinstance(tool, McpTool):
            return None
        tool.spec = replace(tool.spec, always=True)
        return tool.place

    async def close(self) -> None:
        """Ends all calls, connections and child processes. Idempotent; can be called from any task of the loop."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*(connection.close() for connection in self._connections), return_exceptions=True)
        if self._running:
            await asyncio.wait(set(self._running), timeout=CLOSE_SECONDS)

    async def _run(self, name: str, arguments: str) -> str:
        tool = self._tools.get(name)
        if tool is None:
            there = ", ".join(self._tools) or "none"
            raise ToolError(f"There is no tool “{name[:64]}”. There are: {there}.")
        values = _parse(tool.spec, arguments)
        if not self.consent.take(tool.spec, arguments):
            raise ToolError(f"“{name}” was not done: the user has not allowed it. Say so.")
        if tool.spec.outside:
            self.consent.note_outside()
        # A separate task, so that the timeout holds even if the tool ignores cancellation.
        task = asyncio.ensure_future(tool.call(values))
        self._running.add(task)
        task.add_done_callback(self._on_done)
        try:
            done, _ = await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            if task.cancelled():
                raise ToolError(f"The tool “{name}” was broken off. Answer without it.")
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_SECONDS)
        raise ToolError(
            f"The tool “{name}” took longer than {self._seconds:g} seconds and was given up. Answer without it."
        )

    def _on_done(self, task: asyncio.Task[str]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieves it, so that asyncio doesn't report it


def _parse(spec: ToolSpec, arguments: str) -> dict[str, Any]:
    """Parses the arguments and validates them against the schema's top level. Raises ToolError."""
    try:
        none = arguments.strip() in ("", "null")
        values: dict[str, Any] = {} if none else read_json(arguments, TOOL_ARGUMENTS)
    except Refused as error:
        raise ToolError(
            f"The arguments of “{spec.name}” are not taken: {error}. Write them again, as one JSON object."
        ) from None
    known: Mapping[str, Any] = spec.parameters.get("properties", {})
    for name in spec.parameters.get("required", ()):
        if name not in values:
            raise ToolError(f"“{spec.name}” needs “{name}”. Call it again with it.")
    for name, value in values.items():
        schema = known.get(name)
        if schema is None and spec.parameters.get("additionalProperties") is False:
            takes = ", ".join(known) or "nothing"
            raise ToolError(f"“{spec.name}” does not take “{name[:64]}”; it takes: {takes}.")
        wanted_type = schema.get("type") if isinstance(schema, dict) else None
        listed = wanted_type if isinstance(wanted_type, list) else [wanted_type]
        kinds = [kind for kind in listed if isinstance(kind, str)]
        if kinds and not any(_has_type(value, kind) for kind in kinds):
            raise ToolError(f"“{name}” of “{spec.name}” must be of type {' or '.join(kinds)}. Call it again.")
    return values


def _has_type(value: Any, kind: str) -> bool:
    """Returns whether `value` matches a JSON schema type; an unknown type matches anything."""
    if isinstance(value, bool):
        return kind == "boolean" or kind not in _TYPES
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, (object,)))


def _shorten(text: str) -> str:
    if len(text) <= TOOL_TEXT_CHARS:
        return text
    note = _CUT.format(len(text))
    return text[: TOOL_TEXT_CHARS - len(note)] + note


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
    """Returns an unopened toolbox with the tools in `names`: keys of `TOOLS`, or "mcp:NAME" for each of `servers`.

    The tools are in the order of `TOOLS` and `servers`. Raises ToolError for any other unknown name.
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
    return Toolbox(tools, servers=servers)
