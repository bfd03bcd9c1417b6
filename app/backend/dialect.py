"""OpenAI's protocol as a model takes it: which parameters it is sent, and what a refusal teaches.

Servers differ in what they take (`max_tokens` or `max_completion_tokens`, a temperature, a system message, how hard to
think). The user is not to see that: what was refused is left out, and remembered. Pure; knows no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from app.backend.base import AskedTools, ChatRequest, Message, ToolAnswer, tool_schemas
from app.conversation.prompt import ChatMessage

MERGED = "merged"
_REASONING = re.compile(r"(^|/)(o[1-9]|gpt-[5-9])")
_THINKS_LITTLE = {"openai": ("none", "minimal", "low"), "google": ("none", "low")}
"""Words for the least thought, best first: a listener waits while a model thinks, and pays for it."""


class Dialect:
    """What one model of one server takes. `provider`: a key of `PROVIDERS`, or empty for an unknown server."""

    def __init__(self, provider: str, model: str, extra: dict[str, Any] | None = None) -> None:
        thinks = bool(_REASONING.search(model)) if provider == "openai" else provider == "google"
        self.limit = "max_completion_tokens" if provider == "openai" else "max_tokens"
        self.temperature = not (thinks and provider == "openai")
        self.most_heat = 1.0 if provider == "anthropic" else 2.0
        self.efforts = _THINKS_LITTLE.get(provider, ()) if thinks else ()
        self.usage = True
        self.tools = True
        self.system = "system"
        self.extra = dict(extra or {})
        self.more = 1
        """Times the limit: a model that thinks aloud to itself spends tokens on it."""
        self.plain = False
        self._limits_tried = {self.limit}

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request's parameters, without the model."""
        body: dict[str, Any] = {"messages": list(self._messages(request.messages)), "stream": True}
        if self.limit:
            body[self.limit] = request.max_tokens * self.more
        if self.plain:
            return body
        if self.temperature:
            body["temperature"] = min(request.temperature, self.most_heat)
        if self.efforts:
            body["reasoning_effort"] = self.efforts[0]
        if self.usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools and self.tools:
            body["tools"] = tool_schemas(request)
        if self.extra:
            body["extra_body"] = self.extra
        return body

    def learn(self, complaint: str) -> bool:
        """Takes a refusal (the server's words and the parameter it names) into account; whether to ask again."""
        text = complaint.lower()
        if re.search(r"max_(completion_)?tokens", text) and self.limit:
            for name in ("max_completion_tokens", "max_tokens"):
                if name in text and name not in self._limits_tried:
                    break
            else:
                name = next((n for n in ("max_completion_tokens", "max_tokens") if n not in self._limits_tried), "")
            self._limits_tried.add(name)
            self.limit = name
            return True
        if "temperature" in text and self.temperature:
            self.temperature = False
        elif re.search(r"reasoning|thinking", text) and self.efforts:
            self.efforts = self.efforts[1:]
        elif re.search(r"stream_options|include_usage", text) and self.usage:
            self.usage = False
        elif re.search(r"\btools?\b|function", text) and self.tools:
            self.tools = False
        elif re.search(r"system|developer instruction|roles? must alternate", text) and self.system != MERGED:
            self.system = MERGED
        elif self.extra and any(name.lower() in text for name in self.extra):
            self.extra = {}
        elif not self.plain:
            self.plain = True  # it did not say what it minds: nothing but the words, then
            self.extra = {}
        elif self.limit:
            self.limit = ""
        elif self.system != MERGED:
            self.system = MERGED
        else:
            return False
        return True

    def allow_more(self) -> bool:
        """The limit was used up without a word: whether to ask again with a higher one."""
        if self.more > 1 or not self.limit:
            return False
        self.more = 8
        return True

    def _messages(self, messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
        orders = ""
        for message in messages:
            match message:
                case ChatMessage("system", content) if self.system == MERGED:
                    orders = content
                case ChatMessage("user", content) if orders:
                    yield {"role": "user", "content": f"{orders}\n\n{content}"}
                    orders = ""
                case ChatMessage(role, content):
                    yield {"role": role, "content": content}
                case AskedTools(calls, content):
                    yield {
                        "role": "assistant",
                        "content": content or None,
                        "tool_calls": [
                            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                            for c in calls
                        ],
                    }
                case ToolAnswer(id, _, text):
                    yield {"role": "tool", "tool_call_id": id, "content": text}


def shorter(request: ChatRequest) -> ChatRequest | None:
    """The request with the older half of the talk left out; None when there is nothing to leave out."""
    from dataclasses import replace

    first, last = request.messages[:1], request.messages[1:]
    cut = len(last) // 2
    while cut < len(last) - 1 and not (isinstance(last[cut], ChatMessage) and last[cut].role == "user"):  # type: ignore[union-attr]
        cut += 1
    return replace(request, messages=(*first, *last[cut:])) if cut else None
