"""Handles visitors' own questions, which the tandem receives through the microphone and answers live."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.conversation import events as e
from app.demo.base import DemoQuestion
from app.demo.side import RunningTime, SideState
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionChoice, SessionFactory

MARGIN_SECONDS = 0.3
"""Audio kept before and after the speech in the recording that is fed to the cascade."""
RELEASE_MS = 300
"""Delay between releasing the button and muting the microphone, since people often let go during their last word."""


class LiveTalk(QObject):
    """Runs hands-free sessions. Because trade fairs are noisy, they are unmuted only while the talk button is held.

    `state` is the tandem's state; `time` provides the current session time.
    """

    began = Signal()
    """Emitted when a visitor presses the talk button."""
    answered = Signal(object)
    """Emits a visitor's `DemoQuestion` once its answer has ended or failed."""
    ready = Signal()
    failed = Signal(str)

    def __init__(self, factory: SessionFactory, parent: QObject) -> None:
        super().__init__(parent)
        self.manager = SessionManager(factory, self._on_event, self)
        self.manager.failed.connect(lambda sentence, _: self.failed.emit(sentence))
        self.manager.phase_changed.connect(self._phase_changed)
        self._mute = QTimer(self, singleShot=True, interval=RELEASE_MS)
        self._mute.timeout.connect(lambda: self.manager.want(muted=True))
        self._forget()

    def _forget(self) -> None:
        self.state = SideState()
        self.time = RunningTime(self.state)
        self._held = False
        self._ended: e.UserEnded | None = None

    def start(self, choice: SessionChoice) -> None:
        """Starts a muted session in the background."""
        self._forget()
        self._mute.stop()
        self.manager.start(replace(choice, muted=True))

    def stop(self) -> None:
        """Stops the session in the background."""
        self._mute.stop()
        self.manager.stop()

    def press(self) -> None:
        """Handles a press of the talk button by unmuting the session for a new question. No-op if none is running."""
        if self.manager.session is None or self._held:
            return
        self._held, self._ended = True, None
        self._mute.stop()
        self.state.listen()
        self.manager.want(muted=False)
        self.began.emit()

    def release(self) -> None:
        """Handles the release of the talk button by muting the session after `RELEASE_MS`."""
        if self._held:
            self._held = False
            self._mute.start()

    @property
    def busy(self) -> bool:
        """Whether a visitor is asking a question, or the tandem is answering it."""
        return self._held or self._ended is not None or self.state.hears or self.state.speaks

    def change(self, backend: BackendChoice) -> None:
        """Switches to another model, even in the middle of an answer."""
        self.manager.want(backend=backend)

    def _phase_changed(self, phase: str) -> None:
        if phase == "running":
            self.ready.emit()

    def _on_event(self, event: e.Event) -> None:
        self.state.apply(event)
        if isinstance(event, e.UserEnded):
            self._ended = event
        elif isinstance(event, e.UserResumed | e.UserBackchannel):
            self._ended = None
        elif isinstance(event, e.TranscriptFinal) and not event.text:
            self._ended = None  # just a cough, or silence
        elif self._ended is not None and (self.state.over or self.state.failed):
            ended, self._ended = self._ended, None
            if (question := self._question(ended)) is not None:
                self.answered.emit(question)

    def _question(self, ended: e.UserEnded) -> DemoQuestion | None:
        begin = max(0.0, self.state.start - MARGIN_SECONDS)
        session = self.manager.session
        sound = session.sound_of("user", begin, ended.speech_end + MARGIN_SECONDS) if session is not None else None
        return DemoQuestion(self.state.words, sound, ended.speech_end - begin) if sound is not None else None
