"""Passes a session's events to its transcript, its recorder and its listeners."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.conversation import events as e
from app.conversation.transcript import Transcript
from app.session.recorder import Recorder

_log = logging.getLogger(__name__)


class EventsOut:
    """Calls listeners in the order in which they were added; the first one also gets what happened before it."""

    def __init__(self, recorder: Recorder | None) -> None:
        self.transcript = Transcript()
        self._recorder = recorder
        self._listeners: list[Callable[[e.Event], None]] = []
        self._early: list[e.Event] = []
        self._over = False

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        """Call `listener` with every event from now on, on the event loop's thread."""
        self._listeners.append(listener)
        early, self._early = self._early, []
        for event in early:
            listener(event)

    def emit(self, event: e.Event) -> None:
        """Passes an event on; nothing follows `SessionEnded`. A listener that raises doesn't affect the others."""
        if self._over:
            return
        self._over = isinstance(event, e.SessionEnded)
        if not self._listeners:
            self._early.append(event)
        recorder = [self._recorder.event] if self._recorder is not None else []
        for listener in (self.transcript.apply, *recorder, *self._listeners):
            try:
                listener(event)
            except Exception:
                _log.exception("A listener can't handle %s", type(event).__name__)
