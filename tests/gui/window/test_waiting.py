"""A back-end that says nothing yet: who is waited for, and how long; and whole recorded conversations."""

import asyncio
import logging
from pathlib import Path

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.latency import Stages
from app.conversation.transcript import Transcript
from app.gui.inspector.activity import Activity
from app.gui.oracle.revisions import OracleLog
from app.gui.window.main_window import MainWindow
from app.session.replay import Replay
from app.stt.scripted import ScriptedTurn
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import oracle, say, shown, transcript, until, window_and_factory
from tests.gui.pictures.timeline import long_talk
from tests.support.talks import simulate

CLAUDE, GPT = ("Anthropic", "claude"), ("OpenAI", "gpt")


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self, window: MainWindow, at: float) -> None:
        self._window = window
        self.now = 1000.0 + at  # the session began at 1000
        window.oracle.time.clock = lambda: self.now

    def pass_by(self, seconds: float) -> None:
        """Time passes; the window's timer goes off at its end if it runs."""
        self.now += seconds
        timer = self._window.oracle.wait_timer
        assert timer.interval() == 1000
        if timer.isActive():
            timer.timeout.emit()


def asked(revision: int, at: float, backend: tuple[str, str] = CLAUDE, secondary: bool = False) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, *backend, "how far is", False, secondary)


def bodies(window: MainWindow) -> list[str]:
    return [text.split("\n")[1] for text in oracle(window)]


async def test_who_is_waited_for_and_how_long_is_told_on_both_sides() -> None:
    async with window_and_factory() as (window, factory):
        clock, timer = Clock(window, 1.0), window.oracle.wait_timer
        say(window, factory, asked(1, 1.0), asked(2, 1.0, GPT, True))
        assert bodies(window) == ["…", "…"] and timer.isActive(), "nobody needs to hear of less than a second"
        clock.pass_by(1.0)
        assert bodies(window) == ["Waiting for gpt … 1 s", "Waiting for claude … 1 s"]
        clock.pass_by(1.0)
        say(window, factory, e.OracleDelta(3.0, 1, "It is"))
        assert bodies(window) == ["Waiting for gpt … 2 s", "It is"] and timer.isActive()
        clock.pass_by(18.0)
        assert bodies(window)[0] == "Waiting for gpt … 20 s"
        say(window, factory, e.OracleDelta(21.0, 2, "Far."))
        assert bodies(window) == ["Far.", "It is"] and not timer.isActive()


async def test_a_pause_of_the_session_is_not_waited_for() -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 1.0)
        say(window, factory, e.UserStarted(1.0, 1))
        clock.pass_by(60.0)  # the microphone was unplugged, and the session's time stood still
        say(window, factory, e.UserStarted(1.08, 1), asked(1, 1.08))
        clock.pass_by(2.0)
        assert bodies(window) == ["Waiting for claude … 2 s"]


@pytest.mark.parametrize("reason", ["failed", "superseded", "stopped", "complete"])
async def test_an_end_without_a_word_ends_the_waiting(reason: e.EndReason) -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 1.0)
        say(window, factory, asked(1, 1.0))
        clock.pass_by(3.0)
        assert bodies(window) == ["Waiting for claude … 3 s"]
        say(window, factory, e.OracleEnded(4.0, 1, reason, 0))
        assert bodies(window) == ["(no words)"] and not window.oracle.wait_timer.isActive()


async def test_the_end_of_the_talk_ends_it_and_the_next_talk_counts_anew() -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 50.0)
        say(window, factory, asked(1, 50.0))
        clock.pass_by(3.0)
        window.oracle.end()
        assert bodies(window) == ["(no words)"] and not window.oracle.wait_timer.isActive()
        window.oracle.begin()
        say(window, factory, asked(1, 2.0))
        clock.pass_by(1.0)
        assert bodies(window)[0] == "Waiting for claude … 1 s"


async def test_it_is_counted_in_the_sessions_time_though_events_come_late() -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 0.08)
        say(window, factory, e.UserStarted(0.08, 1))
        clock.pass_by(4.92)
        say(window, factory, e.LevelMeasured(5.0, -60.0, -90.0))
        clock.pass_by(4.08)
        say(window, factory, asked(1, 5.0))  # the window was held up for four seconds
        assert bodies(window) == ["Waiting for claude … 4 s"]


async def test_a_session_whose_sound_begins_late_makes_no_wait_longer() -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 0.0)
        say(window, factory, e.ConversationConfigured(0.0, "openai", "gpt", "", "", None, "medium", ()))
        clock.pass_by(3.0)  # the microphone gives its first frame now
        say(window, factory, e.UserStarted(0.08, 1), asked(1, 0.08))
        clock.pass_by(1.0)
        assert bodies(window) == ["Waiting for claude … 1 s"]


async def test_nothing_moves_where_nobody_looks() -> None:
    async with window_and_factory() as (window, factory):
        clock, timer = Clock(window, 1.0), window.oracle.wait_timer
        assert not timer.isActive()
        say(window, factory, asked(1, 1.0))
        window.oracle.hide()
        assert not timer.isActive()
        clock.pass_by(4.0)
        assert bodies(window) == ["…"]
        window.oracle.show()
        assert bodies(window) == ["Waiting for claude … 4 s"] and timer.isActive()
        window.close()
        assert not timer.isActive()


async def test_while_a_tool_is_at_work_it_is_the_tool_that_is_waited_for() -> None:
    async with window_and_factory() as (window, factory):
        clock, timer = Clock(window, 1.0), window.oracle.wait_timer
        say(window, factory, asked(1, 1.0))
        clock.pass_by(2.0)
        say(window, factory, e.ToolCalled(3.0, 1, "clock", "{}"))
        assert bodies(window) == ["clock …\u2028…"] and not timer.isActive()
        clock.pass_by(4.0)
        say(window, factory, e.ToolReturned(7.0, 1, "clock", True, "noon", 4.0))
        assert bodies(window) == ["clock → noon (4.0 s)\u2028…"]
        clock.pass_by(2.0)
        assert bodies(window) == ["clock → noon (4.0 s)\u2028Waiting for claude … 2 s"]


async def test_what_is_handed_over_unsaid_was_waited_for_from_its_first_request() -> None:
    async with window_and_factory() as (window, factory):
        clock = Clock(window, 1.0)
        say(window, factory, asked(1, 1.0, GPT, True))
        clock.pass_by(3.0)
        say(window, factory, e.OracleHandedOver(4.0, 1))
        clock.pass_by(1.0)
        assert bodies(window)[0] == "Waiting for gpt … 4 s"


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
    await until(lambda: not window.pump._timer.isActive())


def check(window: MainWindow, events: list[e.Event]) -> None:
    """What the panes show is what the folds say."""
    told, revisions, stages, activity = Transcript(), OracleLog(), Stages(), Activity()
    for event in events:
        told.apply(event)
        revisions.apply(event)
        stages.apply(event)
        activity.apply(event)
    texts = [turn.text for turn in told.turns]
    cards = [
        text.split("\n", 1)[1]
        for text, card in zip(transcript(window), window.transcript.view.cards, strict=True)
        if card.style != "divider"
    ]
    assert len(cards) == len(texts) and texts
    assert all(text in card for text, card in zip(texts, cards, strict=True))
    shown_cards = oracle(window)
    assert len(shown_cards) == len(revisions.revisions)
    for revision, card in zip(revisions.revisions, shown_cards, strict=True):
        assert card.startswith(f"{revision.number}   ") and revision.text in card
    assert len(window.inspector.stages.answers) == len(stages.answers)
    for mine, theirs in (
        (window.inspector.activity.turns, activity.turns),
        (window.inspector.activity.bars, activity.bars),
        (window.inspector.activity.swaps, activity.swaps),
    ):
        assert len(mine) == len(theirs)


@pytest.mark.parametrize("batch", [1, 40, 100_000])
async def test_a_recorded_talk_is_shown_whole(batch: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    events = await asyncio.to_thread(recorded, tmp_path / "talk")
    factory, history = FakeFactory(), FakeHistory()
    async with shown(factory, history=history) as window:
        *before, last = events
        assert isinstance(last, e.SessionEnded) and len(before) > 300
        await played(window, factory, before, batch)
        check(window, before)
        assert history.logs[window.talks.key][0].events == before
        await played(window, factory, [last], 1)
        await until(lambda: window.manager.phase == "stopped")
        assert not any(revision.waiting for revision in window.oracle.log.revisions)
        assert not window.oracle.wait_timer.isActive()
        assert history.logs[window.talks.key][0].ended
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []


async def test_a_long_dense_talk_is_shown_whole(caplog: pytest.LogCaptureFixture) -> None:
    events = sorted(long_talk(3.0), key=lambda event: event.at)
    async with window_and_factory() as (window, factory):
        window.resize(1400, 900)
        await played(window, factory, events, 60)
        check(window, events)
        window.devices.stop_button.click()
        await until(lambda: window.manager.phase == "stopped")
        assert "live" not in [card.style for card in window.oracle.view.cards]
        check(window, events)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []
