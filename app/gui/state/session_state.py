"""The state of the session that the window shows, written here alone: views read it and follow `changed`."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.gui.state.session_manager import SessionManager
from app.gui.state.talk_state import Phase, TalkState
from app.settings.declarations import Settings


class SessionState(QObject):
    """`talk` is what happens in the session right now, `progress` how far its start has come, in words.

    The talk button, typed turns, silence and hands-free mode are passed on to the session.
    """

    changing = Signal()
    """The session starts, runs or ends in a moment: what it has said so far belongs to the state before."""
    phase_changed = Signal(str)
    changed = Signal()

    def __init__(self, user: SessionManager, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.talk = TalkState(phase="stopped", duplex=settings.duplex)
        self.progress = ""
        self.manager = user
        """The manager of the session that is shown."""
        user.phase_changed.connect(self.set_phase)
        user.progressed.connect(self.show_progress)
        user.deaf_changed.connect(self._set_testing)

    def apply(self, event: e.Event) -> None:
        """Take in one event of the session; `changed` is left to the end of the batch."""
        self.talk.apply(event)

    # -- commands

    def press(self) -> None:
        """The talk button went down."""
        self.talk.held, self.talk.tapped = True, False
        if self.manager.session is not None:
            self.manager.session.press()
        self.changed.emit()

    def release(self) -> None:
        """The talk button went up."""
        self.talk.held = False
        if self.manager.session is not None:
            self.manager.session.release()
        self.changed.emit()

    def write(self, text: str) -> None:
        """The user has typed a turn."""
        if self.manager.session is not None:
            self.manager.session.write(text)

    def allow(self, always: bool) -> None:
        """The user has allowed the tool calls that wait, `always` or this time."""
        if self.manager.session is not None:
            self.manager.session.allow(always=always)

    def deny(self) -> None:
        """The user has refused the tool calls that wait."""
        if self.manager.session is not None:
            self.manager.session.deny()

    def silence(self) -> None:
        """The user wants to hear no more of the answer."""
        self.manager.silence()

    def set_duplex(self, duplex: bool) -> None:
        """Let the voice alone open and close turns, or the talk button."""
        self.talk.duplex = duplex
        self.manager.want(duplex=duplex)
        self.changed.emit()

    def set_toggles(self, toggles: bool) -> None:
        """Whether the talk button is pressed once to talk and once to end."""
        self.talk.toggles = toggles
        self.changed.emit()

    def set_asking(self, asking: bool) -> None:
        """Whether a question is being asked aloud for the user."""
        self.talk.asking = asking
        self.changed.emit()

    def show_progress(self, words: str) -> None:
        """The start of a session has come this far."""
        self.progress = words
        self.changed.emit()

    def look_for_devices(self, words: str) -> None:
        """A session of the user's is about to start, once devices are listed."""
        self.talk.phase = "loading"
        self.show_progress(words)

    def set_phase(self, phase: Phase) -> None:
        """The session is being built, runs, or is over."""
        self.changing.emit()
        self.talk.phase = phase
        if phase == "loading":
            self.progress = ""
        elif phase == "running":
            self.talk.begin()
        if phase != "running":
            self.talk.muted = False  # nothing is heard anyway
        self.phase_changed.emit(phase)
        self.changed.emit()

    def _set_testing(self, testing: bool) -> None:
        self.talk.testing = testing
        self.changed.emit()
