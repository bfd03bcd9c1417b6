"""Passes a session's events to its transcript, its recorder and its listeners."""

from __future__ import annotations

from collections.abc import Callable

from app.conversation import events as e
from app.conversation.transcript import Transcript
from app.session.recorder import Recorder


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
        """Pass an event on; nothing follows `SessionEnded`."""
        if self._over:
            return
        self._over = isinstance(event, e.SessionEnded)
        self.transcript.apply(event)
        if self._recorder is not None:
            self._recorder.event(event)
        if not self._listeners:
            self._early.append(event)
        for listener in list(self._listeners):
            listener(event)
