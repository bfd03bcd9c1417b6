"""Keeps the back-ends of a session open: each is opened once, and closed when it is no longer needed.

`LatestTask` runs the newest of several requests: starting one cancels the one before it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from app.backend.base import Backend, BackendError
from app.session.control import ROUTER, BackendChoice


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


MOST_SPARE = 4
"""How many back-ends stay open besides those in use: going back to one is instant, but each takes memory."""


class BackendPool:
    """Back-ends by the choice that they were made for. `make` builds one, not open yet; None: none can be added.

    `first` is open already, for `choice`. `in_use` tells which back-ends must not be closed before `close`.
    """

    def __init__(
        self,
        make: Callable[[BackendChoice], Awaitable[Backend]] | None,
        first: Backend,
        choice: BackendChoice,
        in_use: Callable[[Backend], bool],
    ) -> None:
        self._make = make
        self._open: dict[BackendChoice, Backend] = {choice: first}
        self._spoilt: set[Backend] = set()
        self._in_use = in_use
        self._closed = False
        self._locks: dict[BackendChoice, asyncio.Lock] = {}

    async def get(self, choice: BackendChoice) -> Backend:
        """Return the open back-end of a choice. A router is built each time, since its table may have changed.

        Raises BackendError; then nothing has changed. The result may be closed by the next `close_spare` unless it is
        in use by then.
        """
        async with self._locks.setdefault(choice, asyncio.Lock()):  # a slow one does not delay the others
            backend = self._open.get(choice)
            if backend is not None and backend not in self._spoilt and choice.provider != ROUTER:
                self._open[choice] = self._open.pop(choice)  # the most recent ones are kept longest
                return backend
            if self._make is None:
                raise BackendError("This session can't change its model.", "setup")
            made = await self._make(choice)
            try:
                await made.open()
                if self._closed:
                    raise BackendError("The session is over, so its model can't be changed. Start a new one.", "setup")
            except BaseException:
                await made.close()
                raise
            if backend is not None and self._open.get(choice) is backend:  # else it was closed as spare meanwhile
                self._spoilt.add(backend)  # `get` never returns it again; it is closed once it is not in use
                self._open[BackendChoice(provider="", model=str(id(backend)))] = self._open.pop(choice)
            self._open[choice] = made
            return made

    def choice_of(self, backend: Backend) -> BackendChoice | None:
        """Return the choice that `backend` was made for."""
        return next((choice for choice, open_one in self._open.items() if open_one is backend), None)

    def spoil(self, backend: Backend) -> None:
        """Mark `backend` as failed: the next `get` of its choice builds a new one, with the key and server of then."""
        self._spoilt.add(backend)

    async def close_spare(self) -> None:
        """Close back-ends that have failed, and all but the newest `MOST_SPARE` that are not in use."""
        spare = [(choice, backend) for choice, backend in self._open.items() if not self._in_use(backend)]
        gone = [pair for pair in spare if pair[1] in self._spoilt]
        rest = [pair for pair in spare if pair not in gone]
        gone += rest[: max(0, len(rest) - MOST_SPARE)]
        for choice, backend in gone:  # before the first await, so that `get` can't return one that is closing
            del self._open[choice]
            self._spoilt.discard(backend)
        await self._close_all([backend for _, backend in gone])

    async def close(self) -> None:
        """Close all back-ends; one that is still being opened is closed as soon as it is open."""
        self._closed = True
        backends, self._open = list(self._open.values()), {}
        await self._close_all(backends)

    @staticmethod
    async def _close_all(backends: list[Backend]) -> None:
        for backend in backends:
            with contextlib.suppress(Exception):  # one that can't be closed must not keep the others open
                await backend.close()
