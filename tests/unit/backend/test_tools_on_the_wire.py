"""Tools in each provider's protocol."""

from __future__ import annotations

from dataclasses import replace

from app.backend.base import Message, ToolCall, ToolCallMessage, ToolMessage
from tests.support.provider_protocols import SSE, event
from tests.support.wire import Reply
from tests.unit.backend.adapters import CLOCK, REQUEST, SPEECHES, answers_to, each

CALLS = (("call_a", "clock", '{"zone": "Asia/Tokyo"}'), ("call_b", "clock", '{"zone": "Zürich"}'))


@each
async def test_tools_are_offered_and_called(kind: str) -> None:
    answer = SPEECHES[kind].answer((), finish="tool_calls" if kind != "ollama" else "stop", calls=CALLS)
    items, [body] = await answers_to(kind, answer, request=replace(REQUEST, tools=(CLOCK,)))
    schema = {k: v for k, v in CLOCK.parameters.items() if kind != "ollama" or k != "additionalProperties"}
    function = {"name": "clock", "description": "Tells the time.", "parameters": schema}
    [offered] = body["tools"]
    assert offered["type"] == "function"
    assert offered["function"] == function
    calls = [item for item in items if isinstance(item, ToolCall)]
    assert [(c.name, c.arguments) for c in calls] == [(name, arguments) for _, name, arguments in CALLS]
    assert len({c.id for c in calls}) == 2
    if kind != "ollama":
        assert [c.id for c in calls] == ["call_a", "call_b"]


async def test_a_call_that_repeats_its_name_or_has_no_id() -> None:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def delta(**function: str) -> bytes:
        call = {"index": 0, "function": function}
        return event({**head, "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]})

    parts = (delta(name="clock", arguments=""), delta(name="clock", arguments='{"zone": '), delta(arguments='"UTC"}'))
    items, _ = await answers_to("compatible", Reply(200, SSE, parts=parts))
    assert items == [ToolCall("call-0", "clock", '{"zone": "UTC"}')]


@each
async def test_what_tools_said_is_told_in_the_providers_form(kind: str) -> None:
    calls = (ToolCall("call_a", "clock", '{"zone": "Asia/Tokyo"}'),)
    talk: tuple[Message, ...] = (ToolCallMessage(calls, "One moment."), ToolMessage("call_a", "clock", "noon"))
    request = replace(REQUEST, messages=(*REQUEST.messages, *talk), tools=(CLOCK,))
    _, [body] = await answers_to(kind, SPEECHES[kind].answer(), request=request)
    asked, told = body["messages"][2:]
    assert asked["role"] == "assistant" and asked["content"] == "One moment."
    [call] = asked["tool_calls"]
    if kind == "ollama":
        assert call["function"] == {"name": "clock", "arguments": {"zone": "Asia/Tokyo"}}
        assert told == {"role": "tool", "tool_name": "clock", "content": "noon"}
    else:
        function = {"name": "clock", "arguments": '{"zone": "Asia/Tokyo"}'}
        assert call == {"id": "call_a", "type": "function", "function": function}
        assert told == {"role": "tool", "tool_call_id": "call_a", "content": "noon"}
