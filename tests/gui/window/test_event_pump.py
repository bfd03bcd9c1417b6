"""Batches: their number, the newest level only, and that no fault stops them."""

from __future__ import annotations

import asyncio
import logging

import pytest

from app.conversation import events as e
from app.gui.window.event_pump import EventPump
from tests.gui.helpers import until


async def test_events_come_in_order_in_one_batch_with_the_newest_level_last() -> None:
    seen: list[e.Event] = []
    settled: list[int] = []
    pump = EventPump(seen.append, lambda: settled.append(len(seen)), lambda _: None)
    first, second = e.UserStarted(1, 1), e.UserPaused(2, 1, 2)
    for event in (e.LevelMeasured(1, -20, -30), first, e.LevelMeasured(2, -25, -35), second):
        pump.put(event)
    assert seen == []
    await until(lambda: settled)
    assert seen == [first, second, e.LevelMeasured(2, -25, -35)]
    assert settled == [3]
    assert pump.batches == 1


async def test_an_idle_pump_does_nothing() -> None:
    pump = EventPump(lambda _: None, lambda: None, lambda _: None)
    await asyncio.sleep(0.1)
    pump.flush()
    assert pump.batches == 0


async def test_a_fault_is_reported_and_the_other_events_are_handled(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[e.Event] = []
    faults: list[str] = []

    def handle(event: e.Event) -> None:
        if isinstance(event, e.UserPaused):
            raise RuntimeError("boom")
        seen.append(event)

    def settle() -> None:
        raise ValueError("no paint")

    pump = EventPump(handle, settle, lambda error: faults.append(str(error)))
    with caplog.at_level(logging.ERROR, "app.gui.window.event_pump"):
        for event in (e.UserStarted(1, 1), e.UserPaused(2, 1, 2), e.UserResumed(3, 1)):
            pump.put(event)
        pump.flush()
        pump.put(e.UserStarted(4, 2))
        pump.flush()
    assert [type(event).__name__ for event in seen] == ["UserStarted", "UserResumed", "UserStarted"]
    assert faults == ["boom", "no paint", "no paint"]
    assert len(caplog.records) == 3


async def test_a_steady_stream_is_shown_thirty_times_a_second_at_most() -> None:
    seen: list[e.Event] = []
    pump = EventPump(seen.append, lambda: None, lambda _: None)
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(150):
        pump.put(e.UserStarted(number, number))
        await asyncio.sleep(0.002)
    await until(lambda: len(seen) == 150)
    # Qt's timers may come a millisecond early.
    assert 2 <= pump.batches <= (loop.time() - began) / 0.031 + 1
