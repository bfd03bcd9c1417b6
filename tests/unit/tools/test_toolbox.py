"""The toolbox: every call returns a text in time, for any arguments and any behaviour of the tool."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.tools.base import ToolError, ToolSpec
from app.tools.toolbox import TOOLS, Toolbox, make_toolbox
from tests.support.tables import cases

SCHEMA = {
    "type": "object",
    "properties": {
        "word": {"type": "string"},
        "count": {"type": "integer"},
        "size": {"type": ["number", "null"]},
        "sure": {"type": "boolean"},
        "any": {},
    },
    "required": ["word"],
    "additionalProperties": False,
}


class _Fake:
    def __init__(self, work: Callable[[Mapping[str, Any]], Awaitable[str]], name: str = "fake") -> None:
        self.spec = ToolSpec(name, "Does as the test says.", SCHEMA)
        self._work = work

    async def call(self, arguments: Mapping[str, Any]) -> str:
        return await self._work(arguments)


async def _echo(arguments: Mapping[str, Any]) -> str:
    return repr(dict(arguments))


@cases(
    "arguments, ok, says",
    ('{"word": "a", "count": 2, "size": 1.5, "sure": true, "any": [1]}', True, "'count': 2"),
    pytest.param(" " * 200 + '{"word": "a"}', True, "'word': 'a'", id="blanks"),
    ("", False, "needs “word”"),
    ('{"word": ', False, "no valid JSON"),
    ('["word"]', False, "one JSON object"),
    pytest.param("[" * 100_000, False, "longer than 64 KB", id="long"),
    pytest.param('{"word": ' + "[" * 9_000, False, "nested deeper than 24 levels", id="deep"),
    pytest.param('{"word": ' + "1" * 9_000 + "}", False, "a number that is too long", id="digits"),
    pytest.param('{"word": "a", "any": [' + "0," * 9_000 + "0]}", False, "more than 5,000 values", id="many"),
    ('{"word": NaN}', False, "is no number"),
    ('{"word": "a\\u001b[31mb\\u202ec\\ud800"}', True, "{'word': 'abc\ufffd'}"),
    ('{"word": 1}', False, "“word” of “fake” must be of type string"),
    ('{"word": "a", "count": true}', False, "must be of type integer"),
    ('{"word": "a", "size": "big"}', False, "number or null"),
    ('{"word": "a", "wrod": "b"}', False, "does not take “wrod”"),
)
async def test_arguments_as_models_write_them(arguments: str, ok: bool, says: str) -> None:
    result = await Toolbox([_Fake(_echo)]).call("fake", arguments)
    assert result.ok is ok and says in result.text and result.name == "fake"
    assert ok or result.text.endswith(".")


async def test_every_result_and_failure_of_a_tool_is_a_text(caplog: pytest.LogCaptureFixture) -> None:
    async def refuses(arguments: Mapping[str, Any]) -> str:
        raise ToolError("There is no more paper.")

    async def breaks(arguments: Mapping[str, Any]) -> str:
        raise KeyError("x")

    async def gives_up(arguments: Mapping[str, Any]) -> str:
        raise asyncio.CancelledError

    async def chatters(arguments: Mapping[str, Any]) -> str:
        return "x" * 100_000

    names = {"refuses": refuses, "breaks": breaks, "gives_up": gives_up, "chatters": chatters}
    box = Toolbox([_Fake(work, name) for name, work in names.items()])
    results = {name: await box.call(name, '{"word": "a"}') for name in [*names, "none"]}
    assert [result.ok for result in results.values()] == [False, False, False, True, False]
    assert results["refuses"].text == "There is no more paper."
    assert "failed (KeyError)" in results["breaks"].text and "breaks failed" in caplog.text
    assert "broken off" in results["gives_up"].text
    assert len(results["chatters"].text) == 4_000 and "100,000 characters" in results["chatters"].text[-60:]
    assert results["none"].text.startswith("There is no tool “none”. There are: refuses, breaks")


async def test_what_a_tool_says_is_made_harmless() -> None:
    async def says(arguments: Mapping[str, Any]) -> str:
        return "a\x1b]0;title\x07b\u202ec\ud83d\ude00\ud83d\r\n\x00end"

    async def fails(arguments: Mapping[str, Any]) -> str:
        raise ToolError("no \x1b[31mluck\x1b[0m.")

    box = Toolbox([_Fake(says, "says"), _Fake(fails, "fails")])
    assert (await box.call("says", '{"word": "a"}')).text == "abc\U0001f600\ufffd\nend"
    assert (await box.call("fails", '{"word": "a"}')).text == "no luck."


async def test_a_slow_tool_is_given_up_even_if_it_does_not_heed() -> None:
    let_go = asyncio.Event()

    async def stubborn(arguments: Mapping[str, Any]) -> str:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return "too late"

    ticks = itertools.count()
    box = Toolbox([_Fake(stubborn)], seconds=0.05, now=lambda: float(next(ticks)))
    async with asyncio.timeout(2):
        result = await box.call("fake", '{"word": "a"}')
    assert not result.ok and "longer than 0.05 seconds" in result.text and result.seconds == 1.0
    let_go.set()
    await box.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_call_can_be_cancelled_and_takes_its_tool_along() -> None:
    ended = asyncio.Event()

    async def slow(arguments: Mapping[str, Any]) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return ""

    box = Toolbox([_Fake(slow)])
    calling = asyncio.create_task(box.call("fake", '{"word": "a"}'))
    await asyncio.sleep(0.02)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await box.close()
    assert ended.is_set() and asyncio.all_tasks() == {asyncio.current_task()}


async def test_tools_come_by_name_and_always_in_the_same_order(tmp_path: Path) -> None:
    assert make_toolbox([]).specs == ()
    names = {"files", "clock", "calculator"}
    orders = [tuple(order) for order in itertools.permutations(names)]
    told = {tuple(spec.name for spec in make_toolbox(some, folders=[tmp_path]).specs) for some in [*orders, {*names}]}
    assert told == {("calculator", "clock", "list_files", "read_file", "find_in_files")}
    assert names == set(TOOLS) and all(tool.label and tool.help.endswith(".") for tool in TOOLS.values())
    with pytest.raises(ToolError, match="no tool “clocks”"):
        make_toolbox(["clocks"])
