"""Whole conversations through the window, as they were recorded: at the end all panes show what the conversation's own
folds say.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.record.record import Record
from app.gui.inspector.activity import Activity
from app.gui.window.main_window import MainWindow
from app.history.recordings import Replay
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import oracle, shown, transcript, until
from tests.support.scripted import ScriptedTurn
from tests.support.talks import simulate


def recorded(folder: Path) -> list[e.Event]:
    """A conversation of three questions, simulated with the app's own engine, and read back from its recording."""

    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer(f"You asked. {request.messages[-1].content.rstrip('?.')} is a fine thing to ask me.")

    script = [
        ScriptedTurn(1.0, 3.0, "What is the capital of France?"),
        ScriptedTurn(5.0, 6.5, "And what about Spain?"),
        ScriptedTurn(14.0, 16.0, "And which one is larger?"),
    ]
    assert not simulate(script, reply, seconds=26, record=folder).tasks_left
    return list(Replay(folder).events())


async def played(window: MainWindow, factory: FakeFactory, events: list[e.Event], batch: int) -> None:
    """Has the session say all events, so many at a time, with the pump's own timer in between."""
    for first in range(0, len(events), batch):
        factory.session.say(*events[first : first + batch])
        await asyncio.sleep(0)
    await until(lambda: not window.model.pending)


def check(window: MainWindow, events: list[e.Event]) -> None:
    record, activity = Record(), Activity()
    for event in events:
        activity.apply(record.apply(event))
    texts = [turn.text for turn in record.turns]
    cards = [
        text.split("\n", 1)[1]
        for text, card in zip(transcript(window), window.transcript.view.cards, strict=True)
        if card.style != "divider"
    ]
    assert len(cards) == len(texts) and texts
    assert all(text in card for text, card in zip(texts, cards, strict=True))
    shown_cards = oracle(window)
    assert len(shown_cards) == len(record.revisions.revisions)
    for revision, card in zip(reversed(record.revisions.revisions), shown_cards, strict=True):
        assert card.startswith(f"{revision.number}   ") and revision.text in card
    assert len(window.model.record.stages.answers) == len(record.stages.answers)
    for mine, theirs in (
        (window.inspector.activity.turns, activity.turns),
        (window.inspector.activity.bars, activity.bars),
        (window.inspector.activity.swaps, activity.swaps),
    ):
        assert len(mine) == len(theirs)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 40, 100_000])
async def test_a_recorded_talk_is_shown_whole(batch: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    events = await asyncio.to_thread(recorded, tmp_path / "talk")
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        *before, last = events
        assert isinstance(last, e.SessionEnded) and len(before) > 200
        await played(window, factory, before, batch)
        check(window, before)
        assert history.logs[window.talks.key][0].events == before
        await played(window, factory, [last], 1)
        await until(lambda: window.manager.phase == "stopped")
        assert not any(revision.waiting for revision in window.oracle.revisions)
        assert not window.oracle.wait_timer.isActive()
        assert history.logs[window.talks.key][0].ended
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []
