"""A back-end's stream with tools: which items come, in which order, also if tools are slow or fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.backend.base import (
    ChatRequest,
    StreamItem,
    ToolCall,
    ToolCallMessage,
    ToolEnded,
    ToolMessage,
    ToolStarted,
    Usage,
)
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.backend.tool_calls import BRIDGE, MOST_ROUNDS, stream_with_tools
from app.conversation.prompt import ChatMessage
from app.session.clock import run_simulated
from app.tools.base import ToolResult, ToolSpec

ASK = ChatRequest((ChatMessage("system", "S"), ChatMessage("user", "What is it?")))
CALL = ToolCall("c1", "calculator", '{"expression": "2+2"}')


class ScriptedTools:
    """Tools that answer after so many seconds."""

    def __init__(self, seconds: float = 0.0, *, ok: bool = True) -> None:
        self.specs = (
            ToolSpec("calculator", "Works it out.", {"type": "object"}),
            ToolSpec("mail__send", "Sends a mail.", {"type": "object"}, acts=True),
        )
        self.calls: list[tuple[str, str]] = []
        self.cancelled = 0
        self._seconds, self._ok = seconds, ok

    async def call(self, name: str, arguments: str) -> ToolResult:
        self.calls.append((name, arguments))
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ToolResult(name, self._ok, "4" if self._ok else "It failed.", self._seconds)


def run(answers: list[tuple[StreamItem, ...]], tools: ScriptedTools, request: ChatRequest = ASK, *, stop: float = 0.0):
    """The items of a stream in simulated time, with their times; `stop` closes it after so many seconds."""
    script = iter(answers)
    backend = ScriptedBackend(lambda request: ScriptedAnswer(next(script), 0.1, 0.0))

    async def talk() -> list[tuple[float, StreamItem]]:
        got: list[tuple[float, StreamItem]] = []
        loop = asyncio.get_running_loop()

        async def read() -> None:
            async with stream_with_tools(backend, request, tools) as items:
                async for item in items:
                    got.append((round(loop.time(), 2), item))

        task = asyncio.create_task(read())
        await asyncio.wait([task], timeout=stop or None)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()):
            raise error
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return got

    return run_simulated(talk()), backend


def test_the_tool_is_run_and_the_answer_goes_on_with_what_it_gave() -> None:
    tools = ScriptedTools(0.5)
    got, backend = run([(CALL, Usage(50, 5)), ("It", " is four.", Usage(70, 6))], tools)
    assert [item for _, item in got] == [
        Usage(50, 5),
        ToolStarted("calculator", CALL.arguments),
        ToolEnded("calculator", True, "4", 0.5),
        "It",
        " is four.",
        Usage(70, 6),
    ]
    first, second = backend.requests
    assert [spec.name for spec in first.tools] == ["calculator", "mail__send"]
    assert second.messages == (*ASK.messages, ToolCallMessage((CALL,)), ToolMessage("c1", "calculator", "4"))
    assert backend.open_streams == 0


def test_a_slow_tool_is_bridged_with_words_once_and_only_if_nothing_was_said() -> None:
    got, _ = run([(CALL,), ("Four.",)], ScriptedTools(5.0))
    texts = [(at, item) for at, item in got if isinstance(item, str)]
    assert texts[0] == (1.3, f"{BRIDGE} ") and texts[-1][1] == "Four."
    got, _ = run([("Let me see.", CALL), ("Four.",)], ScriptedTools(5.0))
    assert "".join(item for _, item in got if isinstance(item, str)) == "Let me see. Four."


def test_a_tool_that_fails_is_told_to_the_backend_which_answers_all_the_same() -> None:
    got, backend = run([(CALL,), ("I could not work it out.",)], ScriptedTools(ok=False))
    assert ToolEnded("calculator", False, "It failed.", 0.0) in [item for _, item in got]
    assert backend.requests[1].messages[-1] == ToolMessage("c1", "calculator", "It failed.")
    assert got[-1][1] == "I could not work it out."


def test_what_changes_the_world_is_not_offered_while_the_user_still_talks() -> None:
    guess = ChatRequest(ASK.messages, final=False)
    _, backend = run([("Well.",)], ScriptedTools(), guess)
    assert [spec.name for spec in backend.requests[0].tools] == ["calculator"]


def test_a_backend_that_only_ever_asks_for_tools_is_made_to_answer() -> None:
    tools = ScriptedTools()
    got, backend = run([(CALL,)] * MOST_ROUNDS + [("Enough.",)], tools)
    assert len(tools.calls) == MOST_ROUNDS and got[-1][1] == "Enough."
    assert backend.requests[-1].tools == ()


def test_a_stream_that_is_left_takes_its_tools_along() -> None:
    tools = ScriptedTools(60.0)
    _, backend = run([(CALL,), ("Never.",)], tools, stop=3.0)
    assert tools.cancelled == 1 and backend.open_streams == 0 and len(backend.requests) == 1


async def test_without_tools_to_offer_the_stream_is_the_backends_own() -> None:
    class Passing:
        specs = ()

    backend = ScriptedBackend(lambda request: ScriptedAnswer(("Yes.",)))
    entered = []

    @asynccontextmanager
    async def stream(request: ChatRequest) -> AsyncIterator[None]:
        entered.append(request)
        yield

    backend.stream = stream  # type: ignore[method-assign,assignment]
    async with stream_with_tools(backend, ASK, Passing()):  # type: ignore[arg-type]
        assert entered == [ASK]
