"""Has a question asked aloud in the conversation by another voice, or typed where that can't be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import AUTOMATIC
from app.gui.design.motion import timer
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.widgets.translation import window_language

if TYPE_CHECKING:
    from app.session.session import Session

PATIENCE_MS = 8_000
"""How long after its sound a question counts as being asked where no turn ends."""

_TASK = "speak a question"


class Speaking(Protocol):
    """Turns a question into sound, like `AskingService`."""

    async def speak(self, text: str, language: str, answering: str = "") -> np.ndarray:
        """Returns float32 mono 24 kHz. Raises UserError."""
        ...


class Asker(QObject):
    """`changed` emits whether a question is being asked, from the call of `ask` to the end of its turn."""

    changed = Signal(bool)
    type_wanted = Signal(str)
    """This question can't be asked aloud now: it is to be typed."""

    def __init__(
        self, service: Speaking | None, manager: SessionManager, background: BackgroundTasks, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.active = False
        self._service = service
        self._manager = manager
        self._background = background
        self._session: Session | None = None
        """The one that is being asked."""
        self._text = ""
        self._patience = timer(self, 0, lambda: self._set_active(False))
        manager.phase_changed.connect(lambda _: self._set_active(False))

    def ask(self, text: str) -> None:
        """Asks a question in the window's language; does nothing while another one is being asked."""
        if self.active:
            return
        service, session = self._service, self._manager.session
        wanted, language = self._manager.wanted, window_language()
        if service is None or session is None or wanted.speech.language not in (language, AUTOMATIC):
            self.type_wanted.emit(text)
            return
        self._session, self._text = session, text
        answering = wanted.style.voice or wanted.speech.voice
        self._set_active(True)
        self._background.run(self, _TASK, lambda: service.speak(text, language, answering), self._play, self._type)

    def stop(self) -> None:
        """Stops the question that is being asked; it is not answered."""
        if self.active:
            self._background.cancel(_TASK)
            if self._session is not None:
                self._session.stop_asking()
            self._set_active(False)

    def apply(self, event: e.Event) -> None:
        """Takes in an event of the session: its turn may have ended."""
        if self.active and isinstance(event, e.UserEnded | e.UserBackchannel | e.TalkTapped):
            if self._background.busy(_TASK):
                self._background.cancel(_TASK)  # the user has said something themselves meanwhile
            self._set_active(False)

    def _play(self, samples: np.ndarray) -> None:
        if self._session is not None:
            self._session.ask_aloud(samples)
            self._patience.start(round(len(samples) / SAMPLE_RATE * 1000) + PATIENCE_MS)

    def _type(self, sentence: str) -> None:
        self._set_active(False)
        self.type_wanted.emit(self._text)

    def _set_active(self, active: bool) -> None:
        if not active:
            self._patience.stop()
            self._background.cancel(_TASK)
            self._session = None  # its models take memory as long as anybody has it
        if active != self.active:
            self.active = active
            self.changed.emit(active)
