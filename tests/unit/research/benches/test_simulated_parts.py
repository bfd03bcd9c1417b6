"""Back-ends in simulated time: each word comes when a model of the measured speed would have written it."""

from __future__ import annotations

import asyncio

import pytest

from app.backend.base import ChatMessage, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.models.selection import Speed
from app.research.benches.timed_parts import SimulatedBackend
from app.session.clock import run_simulated

pytestmark = pytest.mark.slow

SPOKEN = ("Mars", " is", " the", " r", "ed", " planet", ".", " ", "One of eight.")


def test_words_come_at_the_measured_speed_however_the_model_cuts_them() -> None:
    backend = SimulatedBackend(ScriptedBackend(lambda request: ScriptedAnswer(SPOKEN)), Speed(1.0, 4.0))

    async def run() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with backend.stream(ChatRequest((ChatMessage("user", "Which planet is red?"),))) as items:
            told = [(str(item), loop.time() - began) async for item in items]
        await backend.close()
        return told

    told = run_simulated(run())
    assert tuple(text for text, _ in told) == SPOKEN
    assert [at for _, at in told] == pytest.approx([1.0, 1.25, 1.5, 1.75, 1.75, 2.0, 2.0, 2.0, 2.75])
