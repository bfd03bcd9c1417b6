"""Passes a session's events to the window in one batch every 33 ms.

The window thus repaints at most thirty times a second, however fast events come. Of a batch's level measurements only
the newest is passed on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Qt, Slot

from app.conversation.events import Event, LevelMeasured
from app.gui.design.motion import timer

BATCH_MS = 33

_log = logging.getLogger(__name__)


class EventPump(QObject):
    """Passes each event to `handle`, then calls `settle` once per batch.

    Exceptions of either are logged and passed to `fault`, and the next event follows.
    """

    def __init__(
        self,
        handle: Callable[[Event], None],
        settle: Callable[[], None],
        fault: Callable[[Exception], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._handle = handle
        self._settle = settle
        self._fault = fault
        self._waiting: list[Event] = []
        self._level: LevelMeasured | None = None
        self.batches = 0
        self._timer = timer(self, BATCH_MS, self.flush)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)

    def put(self, event: Event) -> None:
        """Queues an event for the next batch."""
        if isinstance(event, LevelMeasured):
            # An older level's clipping and lateness must not be lost.
            if self._level is not None:
                late = max(event.late_ms, self._level.late_ms)
                event = replace(event, clipped=event.clipped or self._level.clipped, late_ms=late)
            self._level = event
        else:
            self._waiting.append(event)
        # The timer runs only while something waits, so an idle window does not wake up.
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def flush(self) -> None:
        """Handles the waiting events now."""
        self._timer.stop()
        batch, self._waiting = self._waiting, []
        if self._level is not None:
            batch.append(self._level)
            self._level = None
        if not batch:
            return
        self.batches += 1
        for event in batch:
            self._guarded(partial(self._handle, event))
        self._guarded(self._settle)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            _log.exception("the window could not show an event")
            try:
                self._fault(error)
            except Exception:
                _log.exception("the window could not show its own fault")
