"""A tool of an MCP server as the model is told of it: harmless and bounded, whatever the server says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_SCHEMA
from app.untrusted.refused import Refused
from app.untrusted.text import harmless, one_line

NAME_CHARS = 64
DESCRIPTION_CHARS = 1_000


@dataclass(frozen=True)
class OfferedTool:
    """A tool of a server. `name` is the server's own, for calls; the rest is as `ToolSpec` has it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    acts: bool

    @property
    def shown(self) -> str:
        """Its name in sentences."""
        return shown(self.name)


def offers_of(tools: Collection[Any]) -> tuple[list[OfferedTool], list[str]]:
    """Returns what can be offered of a server's tools (the package's `Tool`), and a clause on each that can't."""
    offers, left_out = [], []
    for tool in tools:
        try:
            parameters = _schema(tool.input_schema)
        except Refused as refusal:
            left_out.append(f"the tool “{shown(tool.name)}” is left out, because of its schema: {refusal}")
            continue
        description = harmless((tool.description or tool.title or tool.name)[:DESCRIPTION_CHARS])
        acts = not (tool.annotations is not None and tool.annotations.read_only_hint)
        offers.append(OfferedTool(tool.name, description, parameters, acts))
    return offers, left_out


def shown(name: str) -> str:
    """Returns a tool's own name as it can stand in a sentence."""
    return one_line(name, NAME_CHARS)


def tool_name(server: str, tool: str, taken: Collection[str]) -> str:
    """Returns `SERVER__TOOL` in the characters and length that every model accepts, different from all `taken`."""
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", f"{server[:NAME_CHARS]}__{tool[: 2 * NAME_CHARS]}")
    name, number = plain[:NAME_CHARS], 2
    while name in taken:
        end = f"_{number}"
        name, number = plain[: NAME_CHARS - len(end)] + end, number + 1
    return name


def result_text(result: Any) -> str:
    """Returns the text of a result, after the kinds of contents that are left out."""
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
    """Returns a schema as models and `Toolbox` can rely on it. Raises Refused."""
    schema = {"type": "object", "properties": {}, **read_json(json.dumps(raw), TOOL_SCHEMA)}
    if not isinstance(schema["properties"], dict):
        raise Refused("its properties are no object")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise Refused("what it requires is no list of names")
    return schema
