"""The form of a request: which parameters a model accepts, and what to try after its server has refused one.

OpenAI-compatible servers differ in what they accept (`max_tokens` or `max_completion_tokens`, a temperature, a system
message, a reasoning effort). `RequestForm` says what is sent, `forms_after` what else to try after a refusal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.backend.base import ChatRequest, Message
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolCallMessage, ToolMessage

MORE_ROOM = 8
"""The factor for the token limit of a model that thinks before it answers."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""Reasoning efforts in order of preference, since reasoning costs time and money."""
_REASONING = re.compile(r"(^|/)(o[1-9]|gpt-[5-9])")
_LEAST_EFFORTS = {"openai": EFFORTS[:3], "google": ("none", "low")}
_LISTED = re.compile(r"(?:supported values|must be one of|expected one of|allowed values)(.{0,300})", re.I)
_UNKNOWN = re.compile(r"unsupported.parameter|unrecognized|unknown|extra.(forbidden|inputs)", re.I)
"""Matches the errors about a parameter that isn't accepted with any value."""
OUT_OF_ROOM = re.compile(r"max_tokens or model output limit was reached|could not finish the message", re.I)
"""Matches the errors about a token limit that was used up by thinking."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """What a model's requests consist of.

    - `limits`: names of the parameter for the token limit; the first is sent, none if empty
    - `room`: factor for the token limit
    - `efforts`: values that keep the model's thinking short; the first is sent, none if empty
    - `temperature`, `tools`, `tool_choice`, `usage` (`stream_options`), `system` (messages), `opaque` (fields of tool
      calls), `extra` (parameters): whether they are sent
    - `plain`: only the messages and the token limit are sent
    """

    limits: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    room: int = 1
    efforts: tuple[str, ...] = ()
    temperature: bool = True
    tools: bool = True
    tool_choice: bool = True
    usage: bool = True
    system: bool = True
    opaque: bool = True
    extra: bool = True
    plain: bool = False

    def room_for(self, request: ChatRequest) -> int:
        """Returns the token limit of a request. One of a single token is used only to process the prompt."""
        return request.max_tokens * self.room if request.max_tokens > 1 else request.max_tokens

    def with_more_room(self) -> RequestForm | None:
        """Returns the form with a higher token limit; None if it is already raised or there is none."""
        return replace(self, room=MORE_ROOM) if self.room == 1 and self.limits else None


def first_form(provider: str, model: str) -> RequestForm:
    """Returns the form to try first. `provider`: a key of `PROVIDERS`, or empty."""
    reasons = bool(_REASONING.search(model)) if provider == "openai" else provider == "google"
    limits = RequestForm().limits
    return RequestForm(
        limits=limits[::-1] if provider == "openai" else limits,
        efforts=_LEAST_EFFORTS.get(provider, ()) if reasons else (),
        temperature=not (reasons and provider == "openai"),
    )


def stated_form(form: RequestForm, parameters: object) -> RequestForm:
    """Returns `form` adapted to the `parameters` that a model supports according to the list of models (OpenRouter).

    Tools are sent even if they are not listed, since the user must be told that the model can't use them.
    """
    if not isinstance(parameters, list) or not parameters:
        return form
    limits = tuple(name for name in form.limits if name in parameters) or form.limits
    return replace(form, limits=limits, temperature=form.temperature and "temperature" in parameters)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's refusal of a request. `param`: the parameter that it is about, if stated; `text`: its message."""

    text: str
    param: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The supported values that the server lists."""
        listed = _LISTED.search(self.text)
        return tuple(re.findall(r"['\"`‘“]([\w-]+)['\"`’”]", listed[1])) if listed else ()


_SUBJECTS: tuple[tuple[str, str], ...] = (
    ("opaque", r"reasoning_(content|details)|extra_content"),
    ("limits", r"max_(completion_)?tokens"),
    ("temperature", r"temperature"),
    ("efforts", r"reasoning|thinking|\bthink\b"),
    ("usage", r"stream_options|include_usage"),
    ("tool_choice", r"tool_choice"),
    ("tools", r"\btools?\b|function"),
    ("system", r"system|developer instruction|roles? must alternate"),
)
"""The fields of `RequestForm` that a refusal may be about, and how servers name them."""


def forms_after(form: RequestForm, refusal: Refusal, extra: Iterable[str] = ()) -> Iterator[RequestForm]:
    """Yields the forms that may be accepted after this refusal of `form`, the likeliest first.

    `extra`: names of the additional parameters.
    """
    text = refusal.text.lower()
    if OUT_OF_ROOM.search(text):
        if more := form.with_more_room():
            yield more
        return
    if "signature" in text:
        return  # Gemini: the tool call lacks its signature. No other form would be accepted.
    if "reasoning_effort" in text and re.search(r"\btools?\b", text) and form.tools:
        yield replace(form, efforts=("none",))  # OpenAI: tools work if the model doesn't think
    known = False
    for named in (refusal.param.lower(), text):
        for name, pattern in _SUBJECTS:
            if re.search(pattern, named) and (without := _without(form, name, refusal)):
                known = True
                yield without
        if known:
            break
    if form.extra and any(name.lower() in text for name in extra):
        known = True
        yield replace(form, extra=False)
    if known:
        return
    if not form.plain:  # the server didn't name the parameter, so send only the messages
        yield replace(form, plain=True)
    if form.limits:
        yield replace(form, limits=())
    if form.system:
        yield replace(form, system=False)


def _without(form: RequestForm, name: str, refusal: Refusal) -> RequestForm | None:
    """Returns `form` without what a server refused in the field `name`; None if it isn't sent anyway."""
    value = getattr(form, name)
    rest = value[1:] if isinstance(value, tuple) else False
    if name == "efforts":
        listed = tuple(effort for effort in EFFORTS if effort in refusal.values)
        if listed and listed != value:
            return replace(form, efforts=listed)
        rest = () if _UNKNOWN.search(refusal.text) else rest
    without: dict[str, Any] = {name: rest}
    return replace(form, **without) if value else None


def request_body(
    form: RequestForm, request: ChatRequest, extra: dict[str, Any], most_temperature: float = 2.0
) -> dict[str, Any]:
    """Returns the body of a request to an OpenAI-compatible server, without the model's name."""
    body: dict[str, Any] = {"messages": list(_messages(form, request.messages)), "stream": True}
    if form.limits:
        body[form.limits[0]] = form.room_for(request)
    if form.plain:
        return body
    if form.temperature:
        body["temperature"] = min(request.temperature, most_temperature)
    if form.efforts:
        body["reasoning_effort"] = form.efforts[0]
    if form.usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools and form.tools and (request.may_call or form.tool_choice):
        body["tools"] = tool_schemas(request)
        if not request.may_call:
            body["tool_choice"] = "none"
    if extra and form.extra:
        body["extra_body"] = extra
    return body


def _messages(form: RequestForm, messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    instructions = ""
    for message in messages:
        match message:
            case ChatMessage("system", content) if not form.system:
                instructions = content
            case ChatMessage("user", content) if instructions:
                yield {"role": "user", "content": f"{instructions}\n\n{content}"}
                instructions = ""
            case ChatMessage(role, content):
                yield {"role": role, "content": content}
            case ToolCallMessage(calls, content, opaque):
                yield {
                    **_opaque_fields(form, opaque),
                    "role": "assistant",
                    "content": content or None,
                    "tool_calls": [
                        {
                            **_opaque_fields(form, c.opaque),
                            "id": c.id,
                            "type": "function",
                            "function": {"name": c.name, "arguments": c.arguments},
                        }
                        for c in calls
                    ],
                }
            case ToolMessage(id, _, text):
                yield {"role": "tool", "tool_call_id": id, "content": text}


def _opaque_fields(form: RequestForm, fields: str) -> dict[str, Any]:
    return json.loads(fields) if fields and form.opaque else {}


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
