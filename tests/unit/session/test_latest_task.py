"""Work that is replaced by newer work ends before the newer work begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from app.session.backend_pool import LatestTask


class Log(list[str]):
    """Makes work that notes its begin and end, and takes a while to end when it is cancelled."""

    def work(self, name: str, seconds: float = 60.0) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            self.append(f"begin {name}")
            try:
                await asyncio.sleep(seconds)
            finally:
                await asyncio.sleep(0.02)
                self.append(f"end {name}")

        return run


async def test_three_in_a_row_never_overlap() -> None:
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await asyncio.sleep(0)
    task.start(log.work("third", 0.0))
    await task.wait()
    assert log == ["begin first", "end first", "begin third", "end third"]
    assert not task.running


async def test_stopping_waits_for_all_that_was_begun() -> None:
    log, task = Log(), LatestTask("test")
    task.start(log.work("first"))
    await asyncio.sleep(0)
    task.start(log.work("second"))
    await task.stop()
    assert log == ["begin first", "end first"]


async def test_stopping_raises_what_the_work_raised() -> None:
    async def fails() -> None:
        raise ValueError("broken")

    task = LatestTask("test")
    task.start(fails)
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="broken"):
        await task.stop()
    await task.stop()  # nothing is left to be raised
