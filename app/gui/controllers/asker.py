"""Has a question asked aloud in the conversation by another voice, or typed if that is impossible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import AUTOMATIC
from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.design.motion import timer
from app.gui.widgets.translation import window_language

if TYPE_CHECKING:
    from app.session.session import Session

PATIENCE_MS = 8_000
"""How long after its sound a question counts as being asked if no turn ends."""

_TASK = "speak a question"


class Asker(QObject):
    """`active`: whether a question is being asked, from the call of `ask` to the end of its turn.

    `type_instead` gets a question that can't be asked aloud.
    """

    def __init__(self, context: WindowContext, type_instead: Callable[[str], object]) -> None:
        super().__init__(context.window)
        self.active = False
        self._context = context
        self._type_instead = type_instead
        self._session: Session | None = None
        """The one that is being asked."""
        self._text = ""
        self._patience = timer(self, 0, lambda: self._set_active(False))
        context.model.follow(self._take)
        context.model.phase_changed.connect(lambda _: self._set_active(False))

    def ask(self, text: str) -> None:
        """Asks a question in the window's language; does nothing while another one is being asked."""
        if self.active:
            return
        manager, service = self._context.manager, self._context.services.asking
        wanted, language, session = manager.wanted, window_language(), manager.session
        if service is None or session is None or wanted.speech.language not in (language, AUTOMATIC):
            self._type_instead(text)
            return
        self._session, self._text = session, text
        answering = wanted.style.voice or wanted.speech.voice
        self._set_active(True)
        self._context.background.run(
            self, _TASK, lambda: service.speak(text, language, answering), self._play, self._type
        )

    def stop(self) -> None:
        """Stops the question that is being asked; it is not answered."""
        if self.active:
            self._context.background.cancel(_TASK)
            if self._session is not None:
                self._session.stop_asking()
            self._set_active(False)

    def _take(self, change: Change) -> None:
        """The question's turn may have ended."""
        if self.active and isinstance(change.event, e.UserEnded | e.UserBackchannel | e.TalkTapped):
            self._set_active(False)  # if it isn't spoken yet, the user has said something themselves meanwhile

    def _play(self, samples: np.ndarray) -> None:
        if self._session is not None:
            self._session.ask_aloud(samples)
            self._patience.start(round(len(samples) / SAMPLE_RATE * 1000) + PATIENCE_MS)

    def _type(self, sentence: str) -> None:
        self._set_active(False)
        self._type_instead(self._text)

    def _set_active(self, active: bool) -> None:
        if not active:
            self._patience.stop()
            self._context.background.cancel(_TASK)
            self._session = None  # its models take memory as long as anything refers to it
        if active != self.active:
            self.active = active
            self._context.model.set_talk(asking=active)
