"""A session that emits given events, and a thread that paces them like the frame loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from app.conversation.events import Event
from app.conversation.frame import FRAME_SECONDS

FRAME_WORK_MS = 8.0
"""How long the thread computes in each frame, as the real frame loop does."""


class ReplaySession:
    """Implements `SessionControl` by ignoring all commands."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("press", "release", "write", "silence", "apply"):
            return lambda *_, **__: None
        raise AttributeError(name)

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        self._listeners.append(listener)

    def emit(self, events: Iterable[Event]) -> None:
        """Passes the events to all listeners."""
        for event in events:
            for listener in self._listeners:
                listener(event)

    async def stop(self) -> None:
        pass


class FrameThread(threading.Thread):
    """Wakes every 80 ms, computes a little, and passes the frame's events to `deliver`."""

    def __init__(self, events: Sequence[Event], seconds: float, deliver: Callable[[list[Event]], object]) -> None:
        super().__init__(name="frames", daemon=True)
        self.late_ms: list[float] = []
        self._events, self._seconds, self._deliver = events, seconds, deliver

    def run(self) -> None:
        """Runs for the given number of seconds."""
        start, position = time.perf_counter(), 0
        matrix = np.random.default_rng(1).random((220, 220), np.float32)
        for frame in range(1, int(self._seconds / FRAME_SECONDS)):
            due = start + frame * FRAME_SECONDS
            time.sleep(max(0.0, due - time.perf_counter()))
            self.late_ms.append((time.perf_counter() - due) * 1000)
            until = time.perf_counter() + FRAME_WORK_MS / 1000
            while time.perf_counter() < until:  # mostly native code, as the models are
                matrix @ matrix
            end = events_until(self._events, position, frame * FRAME_SECONDS)
            self._deliver(list(self._events[position:end]))
            position = end


def events_until(events: Sequence[Event], start: int, seconds: float) -> int:
    """The index behind the last event from `start` on whose session time is at most `seconds`."""
    while start < len(events) and events[start].at <= seconds:
        start += 1
    return start


class ManualClock:
    """A clock that is set by hand, for benches and tests."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
