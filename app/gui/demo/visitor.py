"""The step for visitors' own questions: the tandem answers live, and the cascade is then fed the recording."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.demo.base import DemoFigure, DemoOffer, DemoQuestion, choice_of
from app.demo.record import Recorder
from app.demo.service import DemoService
from app.demo.side import RunningTime, SideState
from app.gui.demo.stage_page import StagePage
from app.gui.design.motion import timer
from app.gui.state.background_tasks import log_fault
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.session.control import BackendChoice, SessionChoice, SessionFactory, SessionState, UserError

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
        model = SessionModel(self)
        self.manager = SessionManager(factory, model, self)
        self.manager.failed.connect(lambda sentence, _: self.failed.emit(sentence))
        model.arrived.connect(self._on_event)
        model.phase_changed.connect(self._phase_changed)
        self._mute = timer(self, RELEASE_MS, lambda: self.manager.want(muted=True))
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


class Visitor(QObject):
    """Runs this step between `begin` and `end`. `figures` holds the results of questions answered by both sides."""

    touched = Signal()
    """Emitted while a visitor is using the demo or waiting for an answer."""

    def __init__(
        self, service: DemoService, stage: StagePage, offer: DemoOffer, devices: SessionChoice, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.figures: list[DemoFigure] = []
        self.live = LiveTalk(service.talk, self)
        self._service = service
        self._stage = stage
        self._offer = offer
        self._devices = devices
        self._place = 0  # index of the active model
        self._asked_by = offer.backends[0].choice  # the model that was active when the visitor began to speak
        self._on = False
        self._cascade: RunningTime | None = None
        self._open: DemoFigure | None = None  # the tandem's figure, until the cascade has been heard as well
        self._taking: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self.live.began.connect(self._began)
        self.live.answered.connect(self._answered)
        self.live.ready.connect(self._ready)
        self.live.failed.connect(self._failed)
        self.live.manager.settled.connect(self._taken)
        self.live.manager.model.published.connect(self._show_refusal)

    def _show_refusal(self, before: SessionState, after: SessionState) -> None:
        for refusal in after.refused:
            if refusal not in before.refused:
                self._stage.hint.show_text(refusal.sentence)

    def begin(self) -> None:
        """Shows the page and starts a session; the talk button is enabled once the session is ready."""
        self._on, self._place = True, 0
        self._stage.show_asking(self._offer.backends, 0)
        choice = choice_of("tandem", self._offer.backends[0].choice, self._offer.frontend)
        mine = self._devices
        self.live.start(
            replace(choice, microphone=mine.microphone, loudspeaker=mine.loudspeaker, processing=mine.processing)
        )

    def end(self) -> None:
        """Ends the step."""
        if self._on:
            self._on = False
            self._cancel()
            self.live.stop()

    async def idle(self) -> None:
        """Waits until the tandem's session has stopped."""
        await self.live.manager.idle()

    async def close(self, seconds: float) -> None:
        """Shuts down, waiting up to `seconds` for the tasks and up to `seconds` for the session."""
        self._on = False
        tasks = [task for task in (self._taking, self._warming) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        await self.live.manager.close(seconds)

    # -- visitor actions

    def press(self) -> None:
        """Handles a press of the talk button."""
        if self._on:
            self.touched.emit()
            self.live.press()

    def release(self) -> None:
        """Handles the release of the talk button."""
        self.live.release()

    def choose(self, place: int) -> None:
        """Switches to the model at index `place`, even in the middle of an answer."""
        if not self._on:
            return
        self.touched.emit()
        backends = self._offer.backends
        if place < len(backends):
            self.live.change(backends[place].choice)
        elif len(backends) == 1:
            self._stage.hint.show_text(
                self.tr("There is only one model. Get another in “Models and servers” to switch in mid-sentence.")
            )

    def tick(self) -> None:
        """Updates the view of both sides. Called at every tick of the demo's timer."""
        now = time.monotonic()
        if self.live.state.turn:
            self._stage.sides["tandem"].show_state(self.live.state, self.live.time.at(now))
            if words := self.live.state.words:
                self._stage.question.show_text(words[:1].upper() + words[1:])
        if self._cascade is not None:
            self._stage.sides["cascade"].show_state(self._cascade.state, self._cascade.at(now))
            self._compare(self._cascade.state)
        if self.live.busy or (self._taking is not None and not self._taking.done()):
            self.touched.emit()

    # -- session events

    def _ready(self) -> None:
        self._stage.show_ready()
        if self._warming is None or self._warming.done():
            self._warming = self._spawn(self._warm())

    async def _warm(self) -> None:
        """Preloads the models that only the cascade uses, and the language model on key 2."""
        first, *others = (backend.choice for backend in self._offer.backends[:2])
        with suppress(UserError):
            session, _ = await self._service.start(choice_of("cascade", first, self._offer.frontend))
            await asyncio.shield(asyncio.ensure_future(session.stop()))
        for choice in others:
            await self._service.warm(choice)

    def _failed(self, sentence: str) -> None:
        if self._on:
            self._stage.sides["tandem"].clear(sentence)

    def _began(self) -> None:
        self._cancel()
        self._asked_by = self._offer.backends[self._place].choice
        self._stage.clear()
        self._stage.show_ready()

    def _taken(self, choice: BackendChoice) -> None:
        labels = [backend.label for backend in self._offer.backends]
        places = [place for place, backend in enumerate(self._offer.backends) if backend.choice == choice]
        if places:
            self._place = places[0]
            self._stage.models.show_models(labels, self._place)
            self._stage.sides["tandem"].model.show_text(labels[self._place])

    def _answered(self, question: DemoQuestion) -> None:
        if self._on:
            self._cancel()
            self._taking = self._spawn(self._ask_cascade(question))

    async def _ask_cascade(self, question: DemoQuestion) -> None:
        """Feeds the recording of the visitor's question to the cascade."""
        self._open = DemoFigure(question.text, None, self.live.state.heard, own=True)

        def show(state: SideState) -> None:
            self._cascade = RunningTime(state)

        take = await Recorder(self._service, self._asked_by, self._offer.frontend).take("cascade", question, show)
        if take.heard is None:
            self._stage.sides["cascade"].clear(take.trouble)

    def _compare(self, cascade: SideState) -> None:
        """Once the cascade has been heard as well, adds the question to `figures` and shows the verdict."""
        if self._open is not None and cascade.heard is not None:
            figure, self._open = replace(self._open, cascade=cascade.heard), None
            self.figures.append(figure)
            self._stage.show_verdict(figure.cascade, figure.tandem)

    def _cancel(self) -> None:
        self._cascade = self._open = None
        if self._taking is not None:
            self._taking.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name="demo visitor")
        task.add_done_callback(log_fault)
        return task
