"""The tool protocol: a name, a description and a schema for the model, and a call that returns text.

Also defines the calls and results as they appear in a conversation with a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args


class ToolError(Exception):
    """Raised if a tool fails. `str(error)` is a message for the model and the log."""


Effect = Literal["reads", "sends", "changes"]
"""What a call of a tool may do, from the mildest to the strictest.

- `reads`: it only reads on this machine, and nothing that it is given leaves the machine.
- `sends`: it may send what it is given to somebody else.
- `changes`: it may change something.
"""
EFFECTS: tuple[Effect, ...] = get_args(Effect)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for the model. `parameters` is the JSON schema of an object.

    - `effect`: a tool that does more than read is only called for a complete turn, and with the user's consent.
    - `always`: the user allows every call of it, as long as the model is given no text from outside.
    - `outside`: its results are text from outside, which others may have written.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = "reads"
    always: bool = False
    outside: bool = False

    @property
    def acts(self) -> bool:
        """Whether a call may do more than read."""
        return self.effect != "reads"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. `text` is for the model, at most 4,000 characters; `seconds` is the call's duration."""

    name: str
    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model.

    - `id`: links the result to the call.
    - `arguments`: unvalidated JSON from the model.
    - `opaque`: the call's other fields, as a JSON object or empty. They are sent back to the server unchanged: Gemini
      refuses a call without its thought signature.
    """

    id: str
    name: str
    arguments: str
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallMessage:
    """A request message: the assistant's tool calls, and any text and `OpaqueFields` that came with them."""

    calls: tuple[ToolCall, ...]
    content: str = ""
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """A request message: the result of the tool call `id`."""

    id: str
    name: str
    text: str


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
