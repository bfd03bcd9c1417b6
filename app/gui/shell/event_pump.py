"""Gathers a session's events and hands them on in one batch every 33 ms.

So the window repaints at most thirty times a second, however fast the events come. Knows nothing of
what the events mean, but that of a batch's level measurements only the newest is worth showing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.conversation.events import Event, LevelMeasured

BATCH_MS = 33

_log = logging.getLogger(__name__)


class EventPump(QObject):
    """Passes each event to `handle`, then calls `settle` once per batch.

    What either raises is logged and told to `fault`, and the pump goes on with the next event.
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
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(BATCH_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.flush)

    def put(self, event: Event) -> None:
        """Takes an event; it is handled with the next batch."""
        if isinstance(event, LevelMeasured):
            # The newest level is shown, but an older one's clipped sound, or late step, must not be lost with it.
            if self._level is not None:
                late = max(event.late_ms, self._level.late_ms)
                event = replace(event, clipped=event.clipped or self._level.clipped, late_ms=late)
            self._level = event
        else:
            self._waiting.append(event)
        # The timer runs only while something waits: an idle window does not wake up.
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def flush(self) -> None:
        """Handles at once what waits."""
        self._timer.stop()
        batch, self._waiting = self._waiting, []
        if self._level is not None:
            batch.append(self._level)
            self._level = None
        if not batch:
            return
        self.batches += 1
        for event in batch:
            self._guarded(lambda event=event: self._handle(event))
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
