"""A pool of loaded models, so that the next conversation doesn't have to load them again.

A consumer such as a conversation or a microphone test acquires a model from the pool, or loads it if the pool has none,
and releases it afterwards. Use is exclusive: a concurrent consumer loads another instance. A released model must not
retain any data from the conversation. Models are dropped after `KEEP_SECONDS` without use, and when the app exits. The
pool is disabled unless the app's entry point enables it (`ModelPool.keeping`).
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
from app.platform.supervision import Resource

KEEP_SECONDS = 600.0
"""How long an idle model is kept, in seconds."""
MOST_IDLE = 2
"""The maximum number of idle models per kind; two, so that switching between two models is fast."""
SHARE_OF_MEMORY = 0.4
"""The maximum share of the machine's memory for idle models and the one being loaded; the same as in `selection`."""

ON_CARD = frozenset({"engine"})
"""The kinds of models that are in the memory of the graphics card."""

_T = TypeVar("_T", bound=Resource)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelKey:
    """The identity of a loaded model: the arguments it was loaded with, and the sizes and timestamps of its files."""

    kind: str
    parts: tuple[Hashable, ...]
    stamps: tuple[tuple[Path, tuple[tuple[str, int, int], ...]], ...]

    @property
    def bytes(self) -> int:
        """The size of the model's files, which is about what it takes of the machine's memory."""
        return 0 if self.kind in ON_CARD else sum(size for _, files in self.stamps for _, size, _ in files)


def model_key(kind: str, *parts: Hashable) -> ModelKey:
    """Returns the key for a model with its current files.

    `parts`: the arguments the model is loaded with; any Path among them is a model file or folder.
    """
    return ModelKey(kind, parts, tuple((part, _stamp(part)) for part in parts if isinstance(part, Path)))


def _stamp(place: Path) -> tuple[tuple[str, int, int], ...]:
    """Returns name, size and modification time of a file or of each file in a folder; empty if it doesn't exist."""
    try:
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        return tuple((file.name, (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files)
    except OSError:
        return ()


@dataclass(eq=False, slots=True)
class _Idle:
    """An idle model; compared by identity."""

    key: ModelKey
    model: Resource
    since: float


class ModelPool:
    """A thread-safe pool of models.

    `clock`: a monotonic clock, in seconds. `memory`: the machine's memory in bytes; 0 if unknown, None to detect it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, memory: int | None = None) -> None:
        self._clock = clock
        self._memory = memory_bytes() if memory is None else memory
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []  # in the order of release
        self._keeps = False
        self._timer: threading.Timer | None = None

    @property
    def keeps(self) -> bool:
        """Whether the pool is enabled."""
        return self._keeps

    @contextmanager
    def keeping(self) -> Iterator[ModelPool]:
        """Enables the pool during the `with` block; at its end, all idle models are closed."""
        with self._lock:
            self._keeps = True
        try:
            yield self
        finally:
            with self._lock:
                self._keeps = False
            self._drop(lambda idle: True)

    def acquire(self, key: ModelKey) -> Any:
        """Returns an idle model for the caller's exclusive use, or None if the caller must load it.

        Drops models that no longer work or whose files were replaced and, if None is returned, enough idle models to
        make room for a new one.
        """
        while (idle := self._take(key)) is not None:
            if idle.model.alive():
                return idle.model
            _close(idle)
        self._drop(lambda idle: (idle.key.kind, idle.key.parts) == (key.kind, key.parts))
        while (surplus := self._surplus(key)) is not None:
            self._drop([surplus].__contains__)
        return None

    def _take(self, key: ModelKey) -> _Idle | None:
        with self._lock:
            idle = next((idle for idle in reversed(self._idle) if idle.key == key), None)
            if idle is not None:
                self._idle.remove(idle)
            return idle

    def _surplus(self, key: ModelKey) -> _Idle | None:
        """Returns the idle model to drop next to make room for that of `key`, or None if there is enough room."""
        with self._lock:
            unused = sum(idle.key.bytes for idle in self._idle)
            if not self._memory or not self._idle or unused + key.bytes <= self._memory * SHARE_OF_MEMORY:
                return None
            return next((idle for idle in self._idle if idle.key.kind == key.kind), self._idle[0])

    def release(self, key: ModelKey, model: Resource) -> None:
        """Releases a model that was loaded for `key`, so that others can acquire it. Closes one that is broken."""
        idle = _Idle(key, model, self._clock())
        works = model.alive()
        with self._lock:
            kept = works and self._keeps
            if kept:
                self._idle.append(idle)
            spare = [other for other in self._idle if other.key.kind == key.kind][:-MOST_IDLE]
        if not kept:
            _close(idle)
        self._drop(spare.__contains__)

    @contextmanager
    def borrow(self, kind: str, load: Callable[..., _T], *parts: Hashable) -> Iterator[_T]:
        """Yields an idle model from the pool, or a new one from `load(*parts)`; releases it afterwards."""
        key = model_key(kind, *parts)
        model: _T = self.acquire(key) or load(*parts)
        try:
            yield model
        finally:
            self.release(key, model)

    def tidy(self) -> None:
        """Drops models that have been idle for `KEEP_SECONDS`. Called by a timer."""
        now = self._clock()
        self._drop(lambda idle: now - idle.since >= KEEP_SECONDS)

    def holds(self, kind: str) -> bool:
        """Returns whether there is an idle model of a kind."""
        with self._lock:
            return any(idle.key.kind == kind for idle in self._idle)

    def drop(self, kind: str) -> None:
        """Drops the idle models of a kind."""
        self._drop(lambda idle: idle.key.kind == kind)

    def forget(self, folder: Path) -> None:
        """Drops the idle models loaded from `folder`, which is about to be deleted."""
        self._drop(lambda idle: any(place.is_relative_to(folder) for place, _ in idle.key.stamps))

    def _drop(self, is_dropped: Callable[[_Idle], bool]) -> None:
        with self._lock:
            gone = [idle for idle in self._idle if is_dropped(idle)]
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
        idle.model.close()
    except Exception:
        _log.exception("a model of kind %s could not be closed", idle.key.kind)


def _return_memory() -> None:
    """Returns freed memory to the operating system.

    glibc retains memory that is allocated by one thread and freed by another. After switching 20 times between two
    speech recognisers, this amounted to 1.2 GB.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL("libc.so.6").malloc_trim(0)


MODELS = ModelPool()
"""The process-wide pool."""
