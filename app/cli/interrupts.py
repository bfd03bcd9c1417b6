"""Clean ends of the commands that run until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Iterator
from typing import Any

_DEFAULTS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


@contextlib.contextmanager
def until_interrupted() -> Iterator[asyncio.Event]:
    """Yields an event that is set by the first SIGINT or SIGTERM; a second signal has its default effect."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop(*_: Any) -> None:
        for name, default in _DEFAULTS.items():
            signal.signal(name, default)
        loop.call_soon_threadsafe(stopped.set)

    before = {name: signal.signal(name, stop) for name in _DEFAULTS}
    try:
        yield stopped
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


async def unless(stopped: asyncio.Event, work: Awaitable[object]) -> bool:
    """Awaits `work`, but cancels it if `stopped` is set; returns whether it finished. Propagates its exceptions."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        await working
        return True
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
