"""The request parameters that a model accepts, learned from its server's error messages.

OpenAI-compatible servers differ in what they accept (`max_tokens` or `max_completion_tokens`, a temperature, a system
message, a reasoning effort). A parameter that was rejected is omitted from all later requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.backend.attempts import MORE_ROOM
from app.backend.base import ChatRequest, Message, ToolCallMessage, ToolMessage
from app.conversation.prompt import ChatMessage

_REASONING = re.compile(r"(^|/)(o[1-9]|gpt-[5-9])")
_LEAST_EFFORTS = {"openai": ("none", "minimal", "low"), "google": ("none", "low")}
"""The lowest reasoning efforts, keyed by provider, in order of preference. Reasoning costs time and money."""
_LIMITS = ("max_completion_tokens", "max_tokens")


class Dialect:
    """The parameters accepted by one model on one server. `provider`: a key of `PROVIDERS`, or empty."""

    def __init__(self, provider: str, model: str, extra: dict[str, Any] | None = None) -> None:
        reasons = bool(_REASONING.search(model)) if provider == "openai" else provider == "google"
        self._limit = "max_completion_tokens" if provider == "openai" else "max_tokens"
        self._limits_tried = {self._limit}
        self._limit_factor = 1
        self._temperature = not (reasons and provider == "openai")
        self._most_temperature = 1.0 if provider == "anthropic" else 2.0
        self._efforts = _LEAST_EFFORTS.get(provider, ()) if reasons else ()
        self._usage = self._tools = self._system = self._opaque = True
        self._extra = dict(extra or {})
        self._plain = False

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Returns the request body, without the model's name."""
        body: dict[str, Any] = {"messages": list(self._messages(request.messages)), "stream": True}
        if self._limit:
            body[self._limit] = request.max_tokens * self._limit_factor
        if self._plain:
            return body
        if self._temperature:
            body["temperature"] = min(request.temperature, self._most_temperature)
        if self._efforts:
            body["reasoning_effort"] = self._efforts[0]
        if self._usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools and self._tools:
            body["tools"] = tool_schemas(request)
        if self._extra:
            body["extra_body"] = self._extra
        return body

    def learn(self, complaint: str) -> bool:
        """Drops the parameter named in a server's error message; returns False if nothing is left to drop."""
        text = complaint.lower()
        if re.search(r"reasoning_(content|details)|extra_content", text) and self._opaque:
            self._opaque = False
        elif re.search(r"max_(completion_)?tokens", text) and self._limit:
            left = [name for name in _LIMITS if name not in self._limits_tried]
            self._limit = next((name for name in left if name in text), left[0] if left else "")
            self._limits_tried.add(self._limit)
        elif "temperature" in text and self._temperature:
            self._temperature = False
        elif re.search(r"reasoning|thinking", text) and self._efforts:
            self._efforts = self._efforts[1:]
        elif re.search(r"stream_options|include_usage", text) and self._usage:
            self._usage = False
        elif re.search(r"\btools?\b|function", text) and self._tools:
            self._tools = False
        elif re.search(r"system|developer instruction|roles? must alternate", text) and self._system:
            self._system = False
        elif self._extra and any(name.lower() in text for name in self._extra):
            self._extra = {}
        elif not self._plain:
            self._plain, self._extra = True, {}  # the server didn't name the parameter, so send only the messages
        elif self._limit:
            self._limit = ""
        elif self._system:
            self._system = False
        else:
            return False
        return True

    def allow_more(self) -> bool:
        """Raises the token limit, which is possible only once; returns whether it was raised."""
        if self._limit_factor > 1 or not self._limit:
            return False
        self._limit_factor = MORE_ROOM
        return True

    def _messages(self, messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
        instructions = ""
        for message in messages:
            match message:
                case ChatMessage("system", content) if not self._system:
                    instructions = content
                case ChatMessage("user", content) if instructions:
                    yield {"role": "user", "content": f"{instructions}\n\n{content}"}
                    instructions = ""
                case ChatMessage(role, content):
                    yield {"role": role, "content": content}
                case ToolCallMessage(calls, content, opaque):
                    yield {
                        **self._opaque_fields(opaque),
                        "role": "assistant",
                        "content": content or None,
                        "tool_calls": [
                            {
                                **self._opaque_fields(c.opaque),
                                "id": c.id,
                                "type": "function",
                                "function": {"name": c.name, "arguments": c.arguments},
                            }
                            for c in calls
                        ],
                    }
                case ToolMessage(id, _, text):
                    yield {"role": "tool", "tool_call_id": id, "content": text}

    def _opaque_fields(self, fields: str) -> dict[str, Any]:
        return json.loads(fields) if fields and self._opaque else {}


def tool_schemas(request: ChatRequest) -> list[dict[str, Any]]:
    """Returns the tools of a request in the format used by both OpenAI and Ollama."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
        }
        for t in request.tools
    ]


def without_older_half(request: ChatRequest) -> ChatRequest | None:
    """Returns `request` without the older half of the conversation, or None if it can't be shortened further."""
    first, rest = request.messages[:1], request.messages[1:]
    for cut in range(len(rest) // 2, len(rest)):
        message = rest[cut]
        if cut == len(rest) - 1 or (isinstance(message, ChatMessage) and message.role == "user"):
            return replace(request, messages=(*first, *rest[cut:])) if cut else None
    return None
