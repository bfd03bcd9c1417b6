"""A change to a running session that takes time: one at a time, and of several the newest holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

_log = logging.getLogger(__name__)


class LiveChange:
    """`spawn` starts a task by name; `name` says what is changed."""

    def __init__(self, spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]], name: str) -> None:
        self._spawn = spawn
        self._name = name
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def ask(
        self,
        change: Callable[[], Coroutine[Any, Any, None]],
        done: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        """Begins a change; one that is under way is given up. `refused` gets the error's sentence."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._spawn(self._do(change, done, refused), self._name)

    async def _do(
        self,
        change: Callable[[], Coroutine[Any, Any, None]],
        done: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        # One at a time: the session may be in the middle of taking the one before.
        async with self._lock:
            try:
                await change()
            except Exception as error:  # the protocol's errors carry a sentence
                _log.info("“%s” was refused: %r", self._name, error)
                refused(str(error))
            else:
                done()
