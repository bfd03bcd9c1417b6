"""Real parts are killed, stopped and broken in real conversations: every turn ends, and no child or lock is left."""

import sys

import pytest

from app import main as compose
from app.research.benches.chaos import run_chaos

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="a process can't be stopped there")]


@pytest.mark.parametrize("part", ["model", "voice", "recogniser", "words", "server"])
async def test_a_turn_in_which_a_part_breaks_ends_with_an_answer_or_a_sentence(part: str) -> None:
    result = await run_chaos(compose.session, (part,), turns=2, seed=4)
    assert len(result.turns) == 2 and not [turn for turn in result.turns if turn.fault]
    left = result.after[part]
    assert left["children"] == left["locks"] == 0
