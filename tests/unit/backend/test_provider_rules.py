"""Each kind of provider is asked as its real server wants it, and what was learned of it is kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from app.backend.base import Backend, ChatRequest, Notice, StreamItem, Usage
from app.backend.tool_calls import MOST_ROUNDS, stream_with_tools
from app.conversation.prompt import PERSONA, build_prompt
from app.conversation.record.transcript import Turn
from app.tools.base import ToolResult
from app.tools.consent import Consent
from tests.support.provider_rules import ROWS
from tests.support.rule_server import (
    AGAIN,
    ANSWER,
    CACHED,
    CALLS,
    LONG,
    LONG_ANSWER,
    PLAIN,
    TOKENS,
    TOOL,
    Row,
    RuleServer,
    left_out,
)
from tests.unit.backend.adapters import CLOCK, ask, check_sentence, fail, make, opening, say, words_in

EARLIER = [
    Turn("user", 1, 0.0, "Hello.", open=False),
    Turn("assistant", 1, 1.0, "Hello. How are you?", open=False),
    Turn("user", 2, 2.0, "Are you there?", open=False),
    Turn("assistant", 2, 3.0, "", open=False),
]
"""A talk in which one answer has failed."""


class Clock:
    """A tool that gives the time in the places that the servers' models ask for."""

    specs = (CLOCK,)
    consent = Consent()

    async def call(self, name: str, arguments: str) -> ToolResult:
        return ToolResult(name, True, "noon" if name == "clock" and arguments in CALLS else "wrong", 0.0)


def request(question: str) -> ChatRequest:
    return ChatRequest(build_prompt(EARLIER, 3, question), max_tokens=50 if question == LONG else 160)


@asynccontextmanager
async def asked(row: Row, server: RuleServer) -> AsyncIterator[Backend]:
    async with server, opening(make(row.kind, server.url, speech=row.speech, extra=row.extra)) as backend:
        yield backend


async def answer_to(question: str, backend: Backend, row: Row) -> list[StreamItem]:
    if question in (PLAIN, LONG):
        items = await ask(backend, request(question))
        counts = [item for item in items if isinstance(item, Usage)]
        usage = Usage(*TOKENS, 0 if row.kind == "ollama" else CACHED)
        assert all(count == usage for count in counts) and len(counts) <= 2
        assert bool(counts) == ("usage" not in row.leaves_out.split())
        return items
    async with stream_with_tools(backend, request(question), Clock()) as stream:  # type: ignore[arg-type]
        return [item async for item in stream]


@pytest.mark.parametrize("question", (PLAIN, TOOL, LONG, AGAIN))
@pytest.mark.parametrize("name", ROWS)
async def test_every_provider_answers_and_is_asked_rightly_from_then_on(name: str, question: str) -> None:
    row = ROWS[name]
    offers_tools = question in (TOOL, AGAIN)
    uses_tools = offers_tools and "tools" not in row.leaves_out.split()
    needed = {TOOL: 2, AGAIN: MOST_ROUNDS + 1}.get(question, 1) if uses_tools else 1
    loses = set(row.loses.split()) - (set() if offers_tools else {"tools"})
    server, texts, more, shown = RuleServer(row), [], [], []
    async with asked(row, server) as backend:
        for _ in range(3):
            before = len(server.seen)
            items = await answer_to(question, backend, row)
            texts.append(words_in(items))
            shown += [item.sentence for item in items if isinstance(item, Notice) and "loading" not in item.sentence]
            more.append(len(server.seen) - before - needed)
    assert more[0] <= row.refusals + bool(loses) + (question == LONG)
    assert more[1] <= bool(loses), "only what the user loses is tried a second time"
    assert more[2] == 0 and len(shown) == len(loses)
    body = server.seen[-needed].body
    missing = left_out(body)
    assert missing - {"tools"} <= set(row.leaves_out.split()) and ("tools" in missing) == (not uses_tools)
    assert PERSONA in body["messages"][0]["content"] and texts[1] == texts[2]
    if question == LONG:
        assert len(texts[0]) > 30 and "".join(LONG_ANSWER).startswith(texts[1].strip())
        assert texts[1].startswith(texts[0].strip()), "once its thoughts have room, an answer may be longer"
    else:
        said = "One moment. " if question == TOOL else ""
        assert texts[0] == texts[1] == (f"{said}It is noon." if uses_tools else "".join(ANSWER))


@pytest.mark.parametrize("per_minute", [10, 15, 30, 60])
async def test_a_rate_limit_is_used_up_and_reported(per_minute: int) -> None:
    row, now = replace(ROWS["Groq gpt-oss"], per_minute=per_minute), [1000.0]
    server = RuleServer(row, clock=lambda: now[0])
    async with asked(row, server) as backend:
        for _ in range(per_minute):
            assert await say(backend, request(PLAIN)) == "".join(ANSWER)
        now[0] += 20
        _, error = await fail(backend, request(PLAIN))
        check_sentence(error)
        assert error.kind == "quota" and error.retry_after == 40 and "in 40 seconds" in str(error)
        now[0] += 40
        assert await say(backend, request(PLAIN)) == "".join(ANSWER)
    assert len(server.seen) == per_minute + 2
