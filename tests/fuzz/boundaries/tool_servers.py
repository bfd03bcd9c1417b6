"""What an MCP server sends over HTTP: its list of tools, and the results of calls."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from app.tools.base import ToolError
from app.tools.mcp_connection import McpConnection
from app.tools.mcp_tool import McpServer
from app.untrusted.text import harmless
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import changed_bytes, framed, json_bytes, unframed
from tests.fuzz.server import Delivered, serving

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_LOOK = {"name": "look", "description": "Looks.", "inputSchema": _SCHEMA, "annotations": {"readOnlyHint": True}}
_TOOLS = {"tools": [_LOOK]}
_RESULTS = [
    {"content": [{"type": "text", "text": "found"}], "isError": False},
    {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}], "structuredContent": {"a": [1]}},
    {"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": "read"}}], "isError": True},
]
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
_WHAT = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["initialize", "tools/list", "tools/call", "tools/call"]),
        "as": st.sampled_from(["result", "result", "result", "error", "whole"]),
        "events": st.booleans(),
        "status": st.sampled_from([200] * 12 + [202, 307, 400, 401, 404, 500]),
    }
)


async def _server(data: bytes, folder: Path) -> str:
    """Connects a server, lists its tools and calls one; one of its answers is not what it should be."""
    head, changed = unframed(data)

    def answer(path: str, body: bytes) -> Delivered:
        asked: dict[str, Any] = json.loads(body or b"{}")
        method, number = asked.get("method", ""), json.dumps(asked.get("id")).encode()
        if "id" not in asked:
            return Delivered(b"", 202 if body else 405)
        results = {"initialize": _HELLO, "tools/list": _TOOLS, "tools/call": _RESULTS[0]}
        if method not in results:
            return _framed(b'{"jsonrpc": "2.0", "id": %b, "error": {"code": -32601, "message": "no"}}' % number, False)
        if method != head["method"]:
            result = json.dumps(results[method]).encode()
            return _framed(b'{"jsonrpc": "2.0", "id": %b, "result": %b}' % (number, result), False)
        if head["as"] == "whole":
            return Delivered(changed, int(head["status"]), {"Content-Type": "application/json"})
        wrapped = b'{"jsonrpc": "2.0", "id": %b, "%b": %b}' % (number, str(head["as"]).encode(), changed)
        given = _framed(wrapped, bool(head["events"]))
        given.status = int(head["status"])
        return given

    async with serving(answer) as address:
        connection = McpConnection(McpServer("s", url=f"{address}/mcp"), seconds=3.0)
        try:
            for tool in await connection.tools():
                assert str(tool) == harmless(str(tool))
            told = await connection.call("look", {"a": "x"})
            assert told == harmless(told) and len(told) < 10_000
        except ToolError as error:
            return f"{str(error).rstrip('.')}."  # a tool's own words about its failure are for the model
        finally:
            await connection.close()
    return ""


def _framed(message: bytes, events: bool) -> Delivered:
    if events:
        return Delivered(b"event: message\ndata: " + message + b"\n\n", headers={"Content-Type": "text/event-stream"})
    return Delivered(message, headers={"Content-Type": "application/json"})


_ERROR = {"code": -32000, "message": "no", "data": {"a": 1}}
_ANY = json_bytes([*_RESULTS, _TOOLS, _HELLO, _ERROR]) | changed_bytes([json.dumps(_RESULTS[0]).encode()])
BOUNDARIES = (Boundary("tool-server", framed(_WHAT, _ANY), _server),)
