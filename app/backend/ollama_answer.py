"""One answer from Ollama: the request in a form that the model accepts, and its retries."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from app.backend.attempts import MORE_ROOM, AnswerAttempts, Finish
from app.backend.base import (
    BackendError,
    ChatRequest,
    Message,
    StreamItem,
    ToolCall,
    ToolCallMessage,
    ToolMessage,
    Usage,
    token_count,
)
from app.backend.dialect import tool_schemas
from app.backend.faults import is_reset
from app.backend.ollama_faults import OllamaServer, explain, status_of
from app.backend.thinking_tags import ThinkingTagFilter
from app.conversation.prompt import ChatMessage
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_ARGUMENTS, TOOL_CALLS
from app.untrusted.refused import Refused

KEEP_ALIVE = "30m"
"""How long the model stays loaded after a request, while the conversation goes on."""
_TRANSIENT = {408, 429, 500, 502, 503, 504, 529}


@dataclass(slots=True)
class Abilities:
    """What a model can do, as far as it is known; a refusal corrects it."""

    thinks: bool = True
    uses_tools: bool = True


class OllamaAnswer(AnswerAttempts):
    """The attempts at one answer, by the package's `client`."""

    def __init__(self, request: ChatRequest, server: OllamaServer, client: Any, abilities: Abilities) -> None:
        super().__init__(request, f"“{server.model}” in Ollama")
        self._server, self._client, self._abilities = server, client, abilities
        self._limit_factor = 1

    async def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        request, thoughts, calls = self.request, ThinkingTagFilter(), 0
        options: dict[str, Any] = {"think": False} if self._abilities.thinks else {}
        if request.tools and self._abilities.uses_tools:
            options["tools"] = tool_schemas(request)
        stream = await self._client.chat(
            model=self._server.model,
            messages=list(_messages(request.messages)),
            stream=True,
            keep_alive=KEEP_ALIVE,
            options={"temperature": request.temperature, "num_predict": request.max_tokens * self._limit_factor},
            **options,
        )
        async with aclosing(stream):
            async for part in stream:
                for call in part.message.tool_calls or ():
                    calls += 1
                    if calls > TOOL_CALLS:
                        raise ValueError("too many tool calls")
                    arguments = json.dumps(dict(call.function.arguments), ensure_ascii=False)
                    yield ToolCall(f"call-{calls}", call.function.name, arguments)
                yield thoughts.push(part.message.content or "")
                if part.done:
                    yield thoughts.flush()
                    if part.eval_count is not None:
                        yield Usage(token_count(part.prompt_eval_count), token_count(part.eval_count))
                    yield Finish(part.done_reason or "")
                    return
        raise EOFError

    def learn(self, error: Exception) -> bool:
        text, can = str(error).lower(), self._abilities
        if status_of(error) != 400:
            return False
        if "think" in text and can.thinks:
            can.thinks = False
            return True
        if "tool" in text and can.uses_tools:
            can.uses_tools = False
            return True
        return False

    def retry_wait(self, error: Exception, usual: float) -> float | None:
        # It may be busy, restart a runner that has died, or have closed an idle connection.
        helps = "memory" not in str(error).lower() and (status_of(error) in _TRANSIENT or is_reset(error))
        return usual if helps else None

    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        return explain(error, self._server, mid_answer=mid_answer)

    def allow_more(self) -> bool:
        raised, self._limit_factor = self._limit_factor == 1, MORE_ROOM
        return raised


def _messages(messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    for message in messages:
        match message:
            case ChatMessage(role, content):
                yield {"role": role, "content": content}
            case ToolCallMessage(calls, content):
                yield {
                    "role": "assistant",
                    "content": content,
                    "tool_calls": [{"function": {"name": c.name, "arguments": _object(c.arguments)}} for c in calls],
                }
            case ToolMessage(_, name, text):
                yield {"role": "tool", "tool_name": name, "content": text}


def _object(text: str) -> dict[str, Any]:
    """Returns a JSON object; an empty one for what is not one, since Ollama accepts nothing else."""
    try:
        value: dict[str, Any] = read_json(text, TOOL_ARGUMENTS)
    except Refused:
        return {}
    return value
