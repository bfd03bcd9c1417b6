"""A server of tools that keeps to no bounds, written without the official package: over stdio, or by `answer_to`."""

import json
import sys
from typing import Any

ODD = "a\x1b]0;title\x07b\u202ec\x00"
ITEM = {"type": "text", "text": "x"}
CONTENTS: dict[str, str] = {
    "blocks": json.dumps([ITEM] * 500_000),
    "deep": json.dumps([{**ITEM, "_meta": {"a": 0}}]).replace("0", "[" * 200 + "]" * 200),
    "long": json.dumps([{**ITEM, "text": "x" * 5_000_000}]),
    "many": json.dumps([{"type": "image", "data": "eA==", "mimeType": "image/png"}, ITEM] * 1_500),
    "odd": json.dumps([{**ITEM, "text": ODD}]),
    "half": json.dumps([{**ITEM, "text": "\ud83d\ude00\\\ud83d\ude00\\ud83d \ud83d\ud83d\ude00\ude00"}]),
    "pattern": json.dumps([ITEM]),
}
TOOLS: list[dict[str, Any]] = [
    *({"name": name, "inputSchema": {"type": "object"}} for name in CONTENTS if name != "pattern"),
    {
        "name": "pattern",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    },
    {
        "name": "error",
        "description": ODD,
        "inputSchema": {"type": "object", "properties": {ODD: {"description": ODD, "type": [3]}}},
    },
    {"name": "large", "inputSchema": {"type": "object", "description": "x" * 20_000}},
]


def answer_to(request: Any) -> str:
    """Returns the answer to a message as JSON; an empty one where there is none."""
    method, params = request["method"], request.get("params", {})
    if "id" not in request:
        return ""
    if method == "initialize":
        about = {"serverInfo": {"name": "odd", "version": "1"}, "capabilities": {"tools": {}}}
        result = json.dumps({"protocolVersion": params["protocolVersion"], **about})
    elif method == "tools/list":
        result = json.dumps({"tools": TOOLS})
    elif method == "tools/call" and params["name"] in CONTENTS:
        structured = ', "structuredContent": {"a": "' + "a" * 60 + '!"}' if params["name"] == "pattern" else ""
        result = f'{{"content": {CONTENTS[params["name"]]}{structured}}}'
    else:
        error = {"code": -32601, "message": f"no {ODD} luck " + "x" * 9_000}
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error})
    return f'{{"result": {result}, "jsonrpc": "2.0", "id": {json.dumps(request["id"])}}}'


def main() -> None:
    """Serves until its stdin ends; with --endless it answers calls with a line that never ends."""
    for line in sys.stdin:
        request = json.loads(line)
        while request["method"] == "tools/call" and sys.argv[1:] == ["--endless"]:
            sys.stdout.write("x" * 100_000)
        if answer := answer_to(request):
            print(answer, flush=True)


if __name__ == "__main__":
    main()
