"""Replays a talk through the timeline pane on a simulated clock, and measures how long painting takes.

For benches: events come in batches as in the window, and a picture is painted every 16 ms.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.conversation.events import Event
from app.gui.timeline.pane import TimelinePane
from app.gui.timeline.view import TICK_MS


class ReplayClock:
    """A clock for the pane that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time that is set, in seconds."""
        return self.now


@dataclass(frozen=True, slots=True)
class PaintTimes:
    """Milliseconds for each picture, and for each batch of events, as a clock on the wall has them; `seconds` of the
    talk; `processor_seconds`: what both together took of a core.
    """

    pictures: np.ndarray
    batches: np.ndarray
    seconds: float
    processor_seconds: float

    @property
    def busy(self) -> float:
        """The share of one core: 0 for none, 1 for all of it."""
        return self.processor_seconds / max(1e-9, self.seconds)

    def picture_ms(self, percentile: float) -> float:
        """Milliseconds that so many per cent of the pictures took at most."""
        return float(np.percentile(self.pictures, percentile)) if len(self.pictures) else 0.0


def replay(pane: TimelinePane, clock: ReplayClock, events: Iterable[Event], batch_ms: int = 33) -> PaintTimes:
    """Runs a talk's events through a shown pane whose clock is `clock`, in batches every `batch_ms`.

    The pane's own timer is stopped: each picture is painted at once, and moving and painting are timed together.
    """
    pane.begin()
    view = pane.view
    view.timer.stop()
    start, pictures, batches, spent = clock.now, [], [], 0.0
    waiting = sorted(events, key=lambda event: event.at)
    place, picture_at, batch_at = 0, TICK_MS / 1000, batch_ms / 1000
    until = waiting[-1].at if waiting else 0.0
    while picture_at < until:
        if batch_at <= picture_at:
            clock.now = start + batch_at
            began, began_spending = time.perf_counter(), time.thread_time()
            while place < len(waiting) and waiting[place].at <= batch_at:
                pane.apply(waiting[place])
                place += 1
            pane.settle()
            batches.append((time.perf_counter() - began) * 1000)
            spent += time.thread_time() - began_spending
            batch_at += batch_ms / 1000
            view.timer.stop()
        clock.now = start + picture_at
        began, began_spending = time.perf_counter(), time.thread_time()
        view.advance()
        view.repaint()
        pictures.append((time.perf_counter() - began) * 1000)
        spent += time.thread_time() - began_spending
        picture_at += TICK_MS / 1000
    return PaintTimes(np.array(pictures), np.array(batches), until, spent)
