"""Turns the states that a session publishes into the window's signals."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.control import Refusal, SessionChoice, SessionState


class SessionAdapter(QObject):
    """Holds the newest state of the session and emits what has changed since the one before.

    All signals are sent once `state` is the new one.
    """

    changed = Signal(object)
    """The new `SessionState`; sent after all other signals."""
    settled = Signal(object)
    """The `BackendChoice` in force, after a change or its refusal."""
    fell_back = Signal(object)
    """The `BackendChoice` that drives because another one has failed: the user has not chosen it."""
    taken = Signal(object)
    """A `BackendChoice` that a running session has changed to."""
    refused = Signal(object, str)
    """A `BackendChoice` that it has not changed to, and why, in a sentence for the user."""
    secondary_settled = Signal(object)
    """The `BackendChoice` of the secondary back-end in force, or None, after a change or its refusal."""
    secondary_taken = Signal(object)
    """A `BackendChoice` that has become the secondary back-end, or None."""
    secondary_refused = Signal(object, str)
    """A `BackendChoice` that has not become it, or None if its key and address are not the cause; and the sentence."""
    tools_refused = Signal(str)
    """Why the tools are not changed, in a sentence for the user."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = SessionState()

    def begin(self, choice: SessionChoice) -> None:
        """Begins with what a session of `choice` is to have, without a signal."""
        self.state = SessionState(choice, choice.backend)

    def take(self, state: SessionState) -> None:
        """Takes in a state that the session has published."""
        before, self.state = self.state, state
        if state.driver_number != before.driver_number:
            self._driver_changed(state)
        if state.secondary_number != before.secondary_number:
            self.secondary_settled.emit(state.secondary)
            self.secondary_taken.emit(state.secondary)
        for refusal in state.refused:
            if refusal not in before.refused:
                self._refused(state, refusal)
        self.changed.emit(state)

    def _refused(self, state: SessionState, refusal: Refusal) -> None:
        choice = refusal.choice if refusal.fixable else None
        match refusal.part:
            case "backend":
                self.settled.emit(state.driving)
                self.refused.emit(choice, refusal.sentence)
            case "secondary":
                self.secondary_settled.emit(state.secondary)
                self.secondary_refused.emit(choice, refusal.sentence)
            case "tools":
                self.tools_refused.emit(refusal.sentence)

    def _driver_changed(self, state: SessionState) -> None:
        if state.driving != state.wanted.backend:
            return  # the user has chosen another one, which is still being loaded
        if state.reason == "fallback":
            self.fell_back.emit(state.driving)
        else:
            self.settled.emit(state.driving)
            self.taken.emit(state.driving)
