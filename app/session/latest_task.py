"""Runs the newest of several requests: starting one cancels the one before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class LatestTask:
    """One named task at a time. A new one begins when the one that it replaces has ended, so that two never overlap.

    The work must handle its own errors: what escapes from it is raised by `stop`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @property
    def running(self) -> bool:
        """Whether work is under way."""
        return self._task is not None and not self._task.done()

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Cancel what is under way, then run `work`."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(self._run(work), name=self._name)

    def cancel(self) -> None:
        """Cancel what is under way, without waiting for its end."""
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until the newest work has ended."""
        while self.running:
            assert self._task is not None
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Cancel what is under way and wait for its end. Raises what the work raised."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        async with self._lock:
            pass  # work that was cancelled earlier has ended, too
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._lock:
            await work()
