"""What a tool is: a name, a description and a schema for the model, and a call that gives text.

Knows nothing of models, of talks or of any tool in particular.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class ToolError(Exception):
    """A tool could not do it. `str(error)` is a sentence, for the model and for the user's log."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told of a tool. `parameters` is the JSON schema of an object.

    `acts`: it may change something in the world, so it is not used while a question is still being guessed.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    acts: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call. `text` is what the model gets, 4,000 characters at most; `seconds` is how long it took."""

    name: str
    ok: bool
    text: str
    seconds: float


class Tool(Protocol):
    """Something the model may call."""

    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Does it and gives the text for the model; never blocks the loop. Raises ToolError."""
        ...


def object_schema(properties: Mapping[str, Mapping[str, Any]], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
