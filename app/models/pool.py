"""Loaded models that stay for the next talk, so that it need not load them again.

A user of a model (a talk, a test of the microphone) acquires it from the pool, or loads it where the pool has none, and
releases it to the pool afterwards. Nobody else has it meanwhile: a second user at the same time loads one of their own.
What is kept must hold nothing of the talk that it served. The pool lets go what has not been used for `KEEP_SECONDS`
and, when the app ends, everything. It keeps nothing unless the app's entry point says so (`ModelPool.keeping`).
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.platform.hardware import memory_bytes

KEEP_SECONDS = 600.0
"""How long a model that nobody uses is kept."""
MOST_IDLE = 2
"""Of a kind, so many unused ones are kept: who goes back and forth between two models waits for neither."""
SHARE_OF_MEMORY = 0.4
"""Of the machine's memory that unused models and the one that is loaded beside them may take together; see
`app.models.selection`."""

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What a model was loaded from: `parts` name it, `stamps` are the sizes and times of the files among them."""

    kind: str
    parts: tuple[Hashable, ...]
    stamps: tuple[tuple[Path, tuple[tuple[str, int, int], ...]], ...]

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(size for _, files in self.stamps for _, size, _ in files)


def model_key(kind: str, *parts: Hashable) -> ModelKey:
    """Return the key of a model as it would be loaded now. `parts`: all that it is loaded with; a Path is its file or
    folder.
    """
    return ModelKey(kind, parts, tuple((part, _stamp(part)) for part in parts if isinstance(part, Path)))


def _stamp(place: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of change of a file, or of each file of a folder; nothing for what is not there."""
    try:
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        return tuple((file.name, (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files)
    except OSError:
        return ()


@dataclass(eq=False, slots=True)
class _Idle:
    key: ModelKey
    model: Any
    since: float
    alive: Callable[[Any], bool]
    close: Callable[[Any], None]


class ModelPool:
    """Safe between threads. `clock` gives seconds; `memory` is the machine's, in bytes (0: unknown)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, memory: int | None = None) -> None:
        self._clock = clock
        self._memory = memory_bytes() if memory is None else memory
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []  # the one that was released last at the end
        self._keeps = False
        self._timer: threading.Timer | None = None

    @contextmanager
    def keeping(self) -> Iterator[ModelPool]:
        """Keep released models within the `with`, and close all at its end."""
        with self._lock:
            self._keeps = True
        try:
            yield self
        finally:
            with self._lock:
                self._keeps = False
            self._drop(lambda idle: True)

    def acquire(self, key: ModelKey) -> Any:
        """Return an unused model for the caller alone; None: the caller loads it.

        Models that have died, or whose files were replaced, go. So do unused ones that leave no room for a new one.
        """
        while (idle := self._take(key)) is not None:
            if idle.alive(idle.model):
                return idle.model
            _close(idle)
        self._drop(lambda idle: (idle.key.kind, idle.key.parts) == (key.kind, key.parts))
        while self._memory and (least := self._least_wanted(key)):
            self._drop(lambda idle, least=least: id(idle) == least)
        return None

    def _take(self, key: ModelKey) -> _Idle | None:
        with self._lock:
            idle = next((idle for idle in reversed(self._idle) if idle.key == key), None)
            if idle is not None:
                self._idle.remove(idle)
            return idle

    def _least_wanted(self, key: ModelKey) -> int:
        """The id of the unused model to go next where the one of `key` has no room beside all; 0 if it has."""
        with self._lock:
            unused = sum(idle.key.bytes for idle in self._idle)
            if not self._idle or unused + key.bytes <= self._memory * SHARE_OF_MEMORY:
                return 0
            return id(next((idle for idle in self._idle if idle.key.kind == key.kind), self._idle[0]))

    def release(
        self,
        key: ModelKey,
        model: _T,
        *,
        alive: Callable[[_T], bool] = lambda model: True,
        close: Callable[[_T], None] = lambda model: None,
    ) -> None:
        """Take back a model that was loaded for `key`. `alive` tells whether it can be used again; `close` ends it."""
        idle = _Idle(key, model, self._clock(), alive, close)
        works = alive(model)
        with self._lock:
            kept = works and self._keeps
            if kept:
                self._idle.append(idle)
            spare = [id(other) for other in self._idle if other.key.kind == key.kind][:-MOST_IDLE]
        if not kept:
            _close(idle)
        self._drop(lambda other: id(other) in spare)

    @contextmanager
    def lend(
        self,
        kind: str,
        load: Callable[..., _T],
        *parts: Hashable,
        alive: Callable[[_T], bool] = lambda model: True,
        close: Callable[[_T], None] = lambda model: None,
    ) -> Iterator[_T]:
        """Have the model that `load(*parts)` makes within the `with`: an unused one, or a new one."""
        key = model_key(kind, *parts)
        model: _T | None = self.acquire(key)
        if model is None:
            model = load(*parts)
        try:
            yield model
        finally:
            if model is not None:
                self.release(key, model, alive=alive, close=close)

    def tidy(self) -> None:
        """Let go what has not been used for `KEEP_SECONDS`. A timer calls it when that is due."""
        now = self._clock()
        self._drop(lambda idle: now - idle.since >= KEEP_SECONDS)

    def drop(self, kind: str) -> None:
        """Let go the unused models of a kind."""
        self._drop(lambda idle: idle.key.kind == kind)

    def forget(self, folder: Path) -> None:
        """Let go what is unused and was loaded from files in `folder`, which are about to be removed."""
        self._drop(lambda idle: any(place.is_relative_to(folder) for place, _ in idle.key.stamps))

    def _drop(self, goes: Callable[[_Idle], bool]) -> None:
        with self._lock:
            gone = [idle for idle in self._idle if goes(idle)]
            self._idle = [idle for idle in self._idle if idle not in gone]
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._idle:
                due = self._idle[0].since + KEEP_SECONDS - self._clock()
                self._timer = threading.Timer(max(0.0, due), self.tidy)
                self._timer.daemon = True
                self._timer.start()
        if gone:
            while gone:
                _close(gone.pop())
            _return_memory()


def _close(idle: _Idle) -> None:
    try:
        idle.close(idle.model)
    except Exception:
        _log.exception("a model of kind %s could not be closed", idle.key.kind)


def _return_memory() -> None:
    """Give back to the system what is free. The C library of Linux keeps what one thread has taken and another freed:
    after 20 changes between two recognisers that was 1.2 GB.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL("libc.so.6").malloc_trim(0)


MODELS = ModelPool()
"""Of this process."""
