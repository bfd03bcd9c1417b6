"""What a conversation has taken, who said what, and which tools were used: read back from the widgets."""

from __future__ import annotations

import pytest

from app.conversation import events as e
from app.gui.widgets.formats import dollars, tokens, wait
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import oracle, say, shown, transcript, until

CLAUDE, LOCAL = ("Anthropic", "claude"), ("Embedded", "small")


def asked(revision: int, backend: tuple[str, str], at: float = 1.0) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "tell me", False)


def counted(
    revision: int, backend: tuple[str, str], cost: float | None, exact: bool = True, **wants
) -> e.OracleCounted:
    cached = wants.get("cached", 0)
    return e.OracleCounted(
        2, revision, *backend, 1200, 45, cached, exact, cost, wants.get("first_ms", 310.0), 8.0, 400.0
    )


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0"), (0.00002, "<$0.0001"), (0.0031, "$0.0031"), (0.042, "$0.042"), (0.4249, "$0.42"), (12.3, "$12.30")],
)
def test_money_in_few_letters(amount: float, text: str) -> None:
    assert dollars(amount) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (812, "812"), (8_240, "8.2k"), (1_300_000, "1.3M")])
def test_tokens_in_few_letters(number: int, text: str) -> None:
    assert tokens(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 ms"), (0.4204, "420 ms"), (0.999, "999 ms"), (0.9996, "1.0 s"), (1.04, "1.0 s"), (12.039, "12.0 s")],
)
def test_waits_in_few_letters(seconds: float, text: str) -> None:
    assert wait(seconds) == text


async def test_requests_restarts_tokens_and_cost_are_told_for_the_talk_and_each_backend() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        label = window.status.counts
        assert label.text() == ""
        say(window, factory, asked(1, CLAUDE))
        assert label.text() == "1 request"
        say(
            window,
            factory,
            e.OracleEnded(2, 1, "superseded", 3),
            counted(1, CLAUDE, 0.003, cached=1000),
            asked(2, CLAUDE),
            counted(2, CLAUDE, 0.0051),
            asked(3, LOCAL),
            counted(3, LOCAL, None, exact=False),
        )
        assert label.text() == "3 requests, 1 cut short · 3.7k tokens · $0.0081 · more of unknown price"
        lines = label.toolTip().splitlines()
        assert lines == [
            "3 requests, of which 1 were cut short by a newer one",
            "3,600 tokens in, 135 out",
            "claude (Anthropic): 2 requests, 1 cut short, 2,400 in, 90 out, 1,000 from the cache, $0.0081",
            "small (Embedded): 1 request, 0 cut short, 1,200 in, 45 out, estimated, no price known",
        ]
        assert label.accessibleDescription() == label.toolTip()
        say(window, factory, e.BudgetChanged(3, "slow", 0.0081, 0.01))
        assert label.toolTip().splitlines()[-1] == "Spending limit: $0.0081 of $0.01; the model is asked less often"
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session)
        assert label.text() == ""


async def test_a_backend_without_a_price_is_not_free() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, asked(1, CLAUDE), counted(1, CLAUDE, None))
        assert window.status.counts.text() == "1 request · 1.2k tokens · price unknown"
        assert oracle(window)[0].endswith("\u20281,200 tokens in, 45 out · no price known")


async def test_a_card_tells_what_it_took() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, asked(1, CLAUDE), e.OracleDelta(1.42, 1, "Noon."))
        assert oracle(window)[0] == "1   claude (Anthropic) · on 2 words · first words after 420 ms · 1 word\nNoon."
        say(window, factory, counted(1, CLAUDE, 0.0031, exact=False, cached=900))
        assert oracle(window)[0] == (
            "1   claude (Anthropic) · on 2 words · first words after 310 ms · 1 word\n"
            "Noon.\u2028about 1,200 tokens in, 45 out (900 from the cache) · $0.0031"
        )


async def test_a_long_wait_is_told_in_seconds() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, asked(1, CLAUDE), e.OracleDelta(13.039, 1, "Noon."))
        assert "first words after 12.0 s · 1 word" in oracle(window)[0]
        say(window, factory, counted(1, CLAUDE, 0.0031, first_ms=11_980.0))
        assert "first words after 12.0 s · 1 word" in oracle(window)[0]


async def test_a_tool_of_a_server_is_told_with_its_server() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(
            window,
            factory,
            asked(1, CLAUDE),
            e.ToolCalled(1, 1, "adder__add", '{"a": 17, "b": 25}'),
            e.ToolReturned(1.2, 1, "adder__add", True, "42", 0.2),
            e.ToolCalled(1, 1, "files__read__all", "{}"),
            e.ToolReturned(9, 1, "files__read__all", False, "The tool “files__read__all” took too long.", 8.0),
            e.ToolCalled(1, 1, "__odd", ""),
        )
        assert oracle(window)[0].split("\n")[1].split("\u2028")[:3] == [
            "add (adder) with 17, 25 → 42 (200 ms)",
            "read__all (files) → failed: The tool “read__all (files)” took too long. (8.0 s)",
            "__odd …",
        ]


async def test_tools_are_told_as_they_work() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        view = window.oracle.view
        say(window, factory, asked(1, CLAUDE), e.ToolCalled(1.2, 1, "calculator", '{"expression": "17 * 23"}'))
        assert oracle(window)[0].split("\n")[1] == "calculator with 17 * 23 …\u2028…"
        say(window, factory, e.ToolReturned(1.3, 1, "calculator", True, "391", 0.02), e.OracleDelta(1.5, 1, "391."))
        assert oracle(window)[0].split("\n")[1] == "calculator with 17 * 23 → 391 (20 ms)\u2028391."
        say(window, factory, e.ToolCalled(2, 1, "clock", "{}"))
        say(window, factory, e.ToolReturned(3.5, 1, "clock", False, "no\nclock " * 40, 1.5))
        text = oracle(window)[0].split("\n")[1]
        assert "clock → failed: no clock no clock" in text and "… (1.5 s)" in text and len(text) < 220
        failed = next(form for piece, form in view.card_formats(0) if piece.startswith("clock"))
        assert failed.foreground().color() == view._look.bad


async def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, asked(1, CLAUDE))
        for arguments in ("[1, 2]", "{broken", '{"path": "a.txt", "lines": 3}', ""):
            say(window, factory, e.ToolCalled(1, 1, "files", arguments))
        lines = oracle(window)[0].split("\n")[1].split("\u2028")
        assert lines[:4] == ["files with [1, 2] …", "files with {broken …", "files with a.txt, 3 …", "files …"]


async def test_a_change_of_backend_divides_the_transcript_where_it_was() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, e.SessionStarted(0, "c", "w", *LOCAL, "thinking"), e.BackendChanged(0.5, *LOCAL))
        assert transcript(window) == []  # before the first word there is nothing to divide
        say(window, factory, e.TranscriptFinal(1, 1, "First.", 1), e.BackendChanged(2, *CLAUDE))
        say(window, factory, e.AssistantStarted(3, 1, 1), e.AssistantSaid(4, 1, "An answer.", 1))
        say(window, factory, e.BackendChanged(5, *LOCAL, "fallback"), e.BackendChanged(5.5, "Google", "g", "fallback"))
        say(window, factory, e.AssistantSaid(6, 1, "More.", 1), e.TranscriptFinal(7, 2, "Second.", 7))
        assert transcript(window) == [
            "You\nFirst.",
            "Now answering: claude (Anthropic)\n",
            "KAME\nAn answer. More.",
            "small (Embedded) takes over again\n",
            "g (Google) takes over\n",
            "You\nSecond.",
        ]
        view = window.transcript.view
        assert [card.style for card in view.cards].count("divider") == 3
