"""The state of the session that the window shows, written here alone: views read it and follow `changed`."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.gui.state.session_manager import SessionManager
from app.gui.state.talk_state import Phase, TalkState
from app.settings.declarations import Settings


class SessionState(QObject):
    """`talk` is what happens in the session right now, `progress` how far its start has come, in words.

    It is the user's session of `user`, or the demo's while that one runs. The talk button, typed turns, silence
    and hands-free mode are passed on to the user's session.
    """

    changing = Signal()
    """The session starts, runs or ends in a moment: what it has said so far belongs to the state before."""
    phase_changed = Signal(str)
    changed = Signal()

    def __init__(self, user: SessionManager, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.talk = TalkState(phase="stopped", duplex=settings.duplex)
        self.progress = ""
        self._settings = settings
        self._user = user
        self._demo: SessionManager | None = None
        self._follow(user)
        user.deaf_changed.connect(self._set_testing)

    @property
    def manager(self) -> SessionManager:
        """The manager of the session that is shown."""
        return self._demo if self._demo is not None and self._demo.phase != "stopped" else self._user

    def add_demo(self, demo: SessionManager) -> None:
        """Show the demo's sessions, too."""
        self._demo = demo
        self._follow(demo)

    def apply(self, event: e.Event) -> None:
        """Take in one event of the session; `changed` is left to the end of the batch."""
        self.talk.apply(event)

    # -- commands

    def press(self) -> None:
        """The talk button went down."""
        self.talk.held, self.talk.tapped = True, False
        if self._user.session is not None:
            self._user.session.press()
        self.changed.emit()

    def release(self) -> None:
        """The talk button went up."""
        self.talk.held = False
        if self._user.session is not None:
            self._user.session.release()
        self.changed.emit()

    def write(self, text: str) -> None:
        """The user has typed a turn."""
        if self._user.session is not None:
            self._user.session.write(text)

    def silence(self) -> None:
        """The user wants to hear no more of the answer."""
        self._user.silence()

    def set_duplex(self, duplex: bool) -> None:
        """Let the voice alone open and close turns, or the talk button."""
        self.talk.duplex = duplex
        self._user.want(duplex=duplex)
        self.changed.emit()

    def set_toggles(self, toggles: bool) -> None:
        """Whether the talk button is pressed once to talk and once to end."""
        self.talk.toggles = toggles
        self.changed.emit()

    def set_asking(self, asking: bool) -> None:
        """Whether a question is being asked aloud for the user."""
        self.talk.asking = asking
        self.changed.emit()

    def begin_demo(self) -> None:
        """The demo runs: hands-free, whatever the user has set."""
        self.talk.duplex = True
        self.changed.emit()

    def end_demo(self) -> None:
        """The demo is over."""
        self.talk.duplex = self._settings.duplex
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

    def _follow(self, manager: SessionManager) -> None:
        manager.phase_changed.connect(self.set_phase)
        manager.progressed.connect(self.show_progress)

    def _set_testing(self, testing: bool) -> None:
        self.talk.testing = testing
        self.changed.emit()
