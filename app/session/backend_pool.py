"""The brains of one conversation: opens each once, keeps the ones in use, closes what nobody needs any more.

Knows backends by their protocol, and nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from app.backend.base import Backend, BackendError
from app.session.control import ROUTER, BackendChoice

MOST_OPEN = 4
"""Besides what is in use: a brain that one goes back to is there at once, and memory is not without end."""


class BackendPool:
    """`make` makes the brain of a choice, not open yet; `first` is there already, for `choice`.

    `busy` tells whether a brain is in use: those are never closed before `close`.
    """

    def __init__(
        self,
        make: Callable[[BackendChoice], Awaitable[Backend]] | None,
        first: Backend,
        choice: BackendChoice,
        busy: Callable[[Backend], bool],
    ) -> None:
        self._make = make
        self._open: dict[BackendChoice, Backend] = {choice: first}
        self._spoilt: set[Backend] = set()
        self._busy = busy
        self._closed = False
        self._locks: dict[BackendChoice, asyncio.Lock] = {}

    async def get(self, choice: BackendChoice) -> Backend:
        """The open brain of a choice; a router is made anew each time, since its table may have changed.

        Raises BackendError; then nothing has changed.
        It may be closed again by the next `tidy`, unless it is in use by then.
        """
        async with self._locks.setdefault(choice, asyncio.Lock()):  # one that loads for long holds up no other
            backend = self._open.get(choice)
            if backend is not None and backend not in self._spoilt and choice.provider != ROUTER:
                self._open[choice] = self._open.pop(choice)  # the newest are kept longest
                return backend
            if self._make is None:
                raise BackendError("This session can't change its brain.", "setup")
            made = await self._make(choice)
            try:
                await made.open()
                if self._closed:
                    raise BackendError("The talk is over, so its brain can't be changed. Begin a new one.", "setup")
            except BaseException:
                await made.close()
                raise
            if backend is not None and self._open.get(choice) is backend:  # else it was tidied away meanwhile
                self._spoilt.add(backend)  # nobody finds it any more: it goes as soon as it is not in use
                self._open[BackendChoice(provider="", model=str(id(backend)))] = self._open.pop(choice)
            self._open[choice] = made
            return made

    def choice_of(self, backend: Backend) -> BackendChoice | None:
        """What `backend` was made for."""
        return next((choice for choice, open_one in self._open.items() if open_one is backend), None)

    def spoil(self, backend: Backend) -> None:
        """`backend` has failed: the next wish for it makes a new one, which may find another key or server."""
        self._spoilt.add(backend)

    async def tidy(self) -> None:
        """Closes what is spare: brains that have failed, and more than `MOST_OPEN` that nobody uses."""
        spare = [(choice, backend) for choice, backend in self._open.items() if not self._busy(backend)]
        gone = [pair for pair in spare if pair[1] in self._spoilt]
        rest = [pair for pair in spare if pair not in gone]
        gone += rest[: max(0, len(rest) - MOST_OPEN)]
        for choice, backend in gone:  # out of everybody's reach first
            del self._open[choice]
            self._spoilt.discard(backend)
        for _, backend in gone:
            with contextlib.suppress(Exception):  # one that won't close must not keep the others open
                await backend.close()

    async def close(self) -> None:
        """Closes all, and what is still being opened as soon as it is."""
        self._closed = True
        backends, self._open = list(self._open.values()), {}
        for backend in backends:
            with contextlib.suppress(Exception):  # one that won't close must not keep the others open
                await backend.close()
