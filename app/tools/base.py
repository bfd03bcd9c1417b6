"""The tool protocol: a name, a description and a schema for the model, and a call that returns text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class ToolError(Exception):
    """Raised if a tool fails. `str(error)` is a message for the model and the log."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for the model. `parameters` is the JSON schema of an object.

    `acts`: the tool may have side effects, so it is not called until the user's turn is complete.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    acts: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. `text` is for the model, at most 4,000 characters; `seconds` is the call's duration."""

    name: str
    ok: bool
    text: str
    seconds: float


class Tool(Protocol):
    """A function that the model may call."""

    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Runs the tool and returns the text for the model. Must not block the event loop. Raises ToolError."""
        ...


def object_schema(properties: Mapping[str, Mapping[str, Any]], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Returns the JSON schema of an object that has only these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
