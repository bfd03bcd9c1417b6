"""The step for visitors' own questions: the tandem answers live, and the cascade is then fed the recording."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.conversation import events as e
from app.demo.base import DemoFigure, DemoQuestion, choice_of
from app.demo.record import record_take
from app.demo.side import SideState
from app.gui.design.motion import timer
from app.gui.design.sentences import in_window_language
from app.gui.state.background_tasks import log_fault
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.session.control import BackendChoice, SessionState

if TYPE_CHECKING:
    from app.gui.demo.course import DemoCourse

MARGIN_SECONDS = 0.3
"""Audio kept before and after the speech in the recording that is fed to the cascade."""
RELEASE_MS = 300
"""Delay between releasing the button and muting the microphone, since people often let go during their last word."""


class Visitor(QObject):
    """Runs a hands-free session with the course's model, and adds to the course's figures.

    Because trade fairs are noisy, the session is unmuted only while the talk button is held.
    """

    def __init__(self, course: DemoCourse) -> None:
        super().__init__(course)
        self._course, self._screen = course, course.screen
        self._asked_place = course.place  # the model that was active when the visitor began to speak
        self._state = SideState()
        self._cascade: SideState | None = None
        self._held = False
        self._ended: e.UserEnded | None = None
        self._asking: asyncio.Task[None] | None = None
        note = self.tr("The tandem answers live. The cascade then gets the recording of your question, silently.")
        self._screen.show_texts(self.tr("Ask it yourself"), self.tr("Getting ready …"), note, course.label)
        model = SessionModel(self)
        self.manager = SessionManager(course.service.talk, model, self)
        self.manager.failed.connect(lambda sentence, _: self._screen.sides["tandem"].clear(sentence))
        self.manager.settled.connect(self._settle)
        model.arrived.connect(self._follow)
        model.published.connect(self._show_refusal)
        model.phase_changed.connect(self._show_ready)
        self._screen.push.pressed.connect(self._press)
        self._screen.push.released.connect(self._release)
        self._mute = timer(self, RELEASE_MS, lambda: self.manager.want(muted=True))
        mine = course.devices
        choice = replace(choice_of("tandem", course.offer, course.place), muted=True, microphone=mine.microphone)
        self.manager.start(replace(choice, loudspeaker=mine.loudspeaker, processing=mine.processing))

    async def close(self, seconds: float = 1.0) -> None:
        """Ends the session, waiting up to `seconds`."""
        self._screen.push.pressed.disconnect(self._press)
        self._screen.push.released.disconnect(self._release)
        self._mute.stop()
        self._cancel()
        await self.manager.close(seconds)
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=seconds)

    @property
    def busy(self) -> bool:
        """Whether a visitor is asking a question, or one of the sides is answering it."""
        asking = self._asking is not None and not self._asking.done()
        return self._held or self._ended is not None or self._state.speaks or asking

    def _press(self) -> None:
        """Handles a press of the talk button by unmuting the session for a new question."""
        self._cancel()
        self._mute.stop()
        self._held, self._ended, self._asked_place = True, None, self._course.place
        self._state.ask(self._state.now)
        for view in self._screen.sides.values():
            view.model = self._course.label
            view.clear()
        self._show_ready("running")
        self.manager.want(muted=False)

    def _release(self) -> None:
        """Handles the release of the talk button by muting the session after `RELEASE_MS`."""
        self._held = False
        self._mute.start()

    def tick(self) -> None:
        """Updates the view of both sides. Called at every tick of the demo's timer."""
        screen = self._screen
        if self._state.turn:
            screen.sides["tandem"].show_state(self._state, self._state.now)
        if words := self._state.said_by("user"):
            screen.question.show_text(words[:1].upper() + words[1:])
        if self._cascade is not None:
            screen.sides["cascade"].show_state(self._cascade, self._cascade.now)
            if words := screen.verdict(self._cascade.heard, self._state.heard):
                screen.headline.show_text(words)

    # -- session events

    def _show_ready(self, phase: str) -> None:
        if phase == "running":
            words = self.tr("Hold the space bar and ask.")
            if len(self._course.offer.backends) > 1:
                words = self.tr("Hold the space bar and ask. Press a digit in mid-sentence to change its mind.")
            self._screen.headline.show_text(words)
            self._screen.allow_talking(True)

    def _show_refusal(self, before: SessionState, after: SessionState) -> None:
        for refusal in after.refused:
            if refusal not in before.refused:
                self._screen.headline.show_text(in_window_language(refusal.sentence))

    def _settle(self, choice: BackendChoice) -> None:
        choices = [backend.choice for backend in self._course.offer.backends]
        self._course.place = choices.index(choice) if choice in choices else self._course.place
        self._course.show_models()
        self._screen.sides["tandem"].model = self._course.label

    def _follow(self, event: e.Event) -> None:
        self._state.apply(event)
        if isinstance(event, e.UserEnded):
            self._ended = event
        elif isinstance(event, e.UserResumed | e.UserBackchannel):
            self._ended = None
        elif isinstance(event, e.TranscriptFinal) and not event.text:
            self._ended = None  # just a cough, or silence
        elif self._ended is not None and self._state.over:
            begin, end = max(0.0, self._state.start - MARGIN_SECONDS), self._ended.speech_end
            self._ended, session = None, self.manager.session
            sound = session.sound_of("user", begin, end + MARGIN_SECONDS) if session is not None else None
            if sound is not None:
                work = self._ask_cascade(DemoQuestion(self._state.said_by("user"), sound, end - begin))
                self._asking = asyncio.get_running_loop().create_task(work, name="demo visitor")
                self._asking.add_done_callback(log_fault)

    async def _ask_cascade(self, question: DemoQuestion) -> None:
        """Feeds the recording of the visitor's question to the cascade."""
        tandem, course = self._state.heard, self._course
        choice = choice_of("cascade", course.offer, self._asked_place)
        take = await record_take(course.service, choice, question, lambda state: setattr(self, "_cascade", state))
        if take.heard is None:
            self._cascade = None
            self._screen.sides["cascade"].clear(take.trouble)
        course.figures.append(DemoFigure(question.text, take.heard, tandem, own=True))

    def _cancel(self) -> None:
        self._cascade = None
        if self._asking is not None:
            self._asking.cancel()
