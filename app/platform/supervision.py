"""Supervision of whatever can fail and be started again: child processes, loaded models, back-ends, the graphics card.

- `Resource`: what a supervised resource must offer.
- `Restarts`: the policy for starting one again. It is the same for all of them.
- `acquire`: acquires one on a thread, so that a cancelled caller doesn't leak it.
- `Card`: the arbiter of the graphics card.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

LONGEST_PAUSE = 60.0
"""The maximum delay (s) between two starts of a resource that keeps failing."""
_ROUNDING = 1e-6
"""A delay below this (s) counts as zero: a timer may be early by a rounding error."""
CARD_SECONDS = 90.0
"""How long to wait for the graphics card. Loading 16 GB for another session may take that long."""

_T = TypeVar("_T")


class Resource(Protocol):
    """Something that is loaded or started, may fail, and must be closed."""

    def alive(self) -> bool:
        """Returns whether it still works. If not, its owner closes it and acquires another one."""
        ...

    def close(self) -> None:
        """Frees it."""
        ...


class Restarts:
    """Decides when a resource that has failed may be started again.

    It may be started again immediately once. As long as it keeps failing, each further start has to wait longer, up to
    `LONGEST_PAUSE`. `now`: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._pause = 0.0
        self._not_before = float("-inf")

    def attempt(self) -> float:
        """Returns 0.0 if the resource may be started now, which counts as a start; otherwise the seconds to wait."""
        now = self._now()
        if self._not_before - now > _ROUNDING:
            return self._not_before - now
        self._not_before = now + self._pause
        self._pause = min(2 * self._pause + 1, LONGEST_PAUSE)
        return 0.0

    def worked(self) -> None:
        """Forgets the failures so far, since the resource has worked."""
        self._pause, self._not_before = min(1.0, LONGEST_PAUSE), float("-inf")


async def acquire(
    load: Callable[[], _T], release: Callable[[_T], object], cancel: Callable[[], object] | None = None
) -> _T:
    """Returns the result of `load`, which runs on a thread.

    If the caller is cancelled, `cancel` is called on another thread, `load` runs to its end, and its result is passed
    to `release` on a thread.
    """
    loop = asyncio.get_running_loop()
    loading = loop.run_in_executor(None, load)  # not a task, since nobody should wait for it at the end
    try:
        return await asyncio.shield(loading)
    except asyncio.CancelledError:

        def release_when_loaded(done: asyncio.Future[_T]) -> None:
            if not done.cancelled() and done.exception() is None:
                loop.run_in_executor(None, release, done.result())

        loading.add_done_callback(release_when_loaded)
        if cancel is not None:
            loop.run_in_executor(None, cancel)
        raise


class CardBusyError(Exception):
    """The graphics card wasn't free in time. `str(error)` is a user-facing message."""


class Card(Protocol):
    """The arbiter of the graphics card. Both methods raise CardBusyError if the card isn't free in time."""

    def hold(self, label: str, seconds: float = CARD_SECONDS) -> AbstractContextManager[None]:
        """Reserves the card for the models of the front-end `label`, until the context exits."""
        ...

    def work(self, label: str, seconds: float = CARD_SECONDS) -> AbstractContextManager[None]:
        """Excludes other loads, captures and measurements. A capture fails if another thread allocates memory."""
        ...


class LocalCard:
    """A `Card` that is shared by the threads of this process."""

    def __init__(self) -> None:
        self._held = threading.Lock()
        self._works = threading.Lock()

    def hold(self, label: str, seconds: float = CARD_SECONDS) -> AbstractContextManager[None]:
        sentence = (
            f"The graphics card is still held by the previous conversation, so {label} can't be loaded. Start a new "
            "conversation in a minute; if the card is not free by then, restart the app."
        )
        return _taken(self._held, seconds, sentence)

    def work(self, label: str, seconds: float = CARD_SECONDS) -> AbstractContextManager[None]:
        sentence = (
            f"Another model is still being loaded on the graphics card, so {label} can't be loaded there. Start a new "
            "conversation in a minute; if the card is not free by then, restart the app."
        )
        return _taken(self._works, seconds, sentence)


@contextmanager
def _taken(lock: threading.Lock, seconds: float, sentence: str) -> Iterator[None]:
    if not lock.acquire(timeout=seconds):
        raise CardBusyError(sentence)
    try:
        yield
    finally:
        lock.release()


CARD: Card = LocalCard()
"""This machine's graphics card."""
