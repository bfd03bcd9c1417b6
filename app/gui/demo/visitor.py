"""The step in which a visitor asks: the tandem answers live, and then the cascade gets the recording."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.demo.base import DemoFigure, DemoOffer, DemoQuestion, choice_of
from app.demo.record import Recorder
from app.demo.service import DemoService
from app.demo.side import RunningTime, SideState
from app.gui.demo.live import LiveTalk
from app.gui.demo.stage_page import StagePage
from app.gui.state.background_tasks import log_fault
from app.session.control import BackendChoice, SessionChoice


class Visitor(QObject):
    """`begin` and `end` the step; `figures` are those of the questions that both sides were asked."""

    touched = Signal()
    """A visitor is there."""

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
        self._place = 0  # of the model that answers
        self._asked_by = offer.backends[0].choice  # who answers the visitor's question at first
        self._on = False
        self._heard: float | None = None  # when the tandem was, after the question that the cascade gets
        self._cascade: RunningTime | None = None
        self._taking: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self.live.began.connect(self._began)
        self.live.answered.connect(self._answered)
        self.live.ready.connect(stage.show_ready)
        self.live.failed.connect(self._failed)
        self.live.manager.backend_taken.connect(self._taken)
        self.live.manager.backend_refused.connect(lambda _, sentence: stage.hint.show_text(sentence))

    def begin(self) -> None:
        """A visitor may ask."""
        self._on, self._place = True, 0
        self._stage.show_asking(self._offer.backends, 0)
        choice = choice_of("tandem", self._offer.backends[0].choice, self._offer.frontend)
        mine = self._devices
        self.live.start(
            replace(choice, microphone=mine.microphone, loudspeaker=mine.loudspeaker, processing=mine.processing)
        )
        others = [backend.choice for backend in self._offer.backends[1:2]]
        if others:
            self._warming = self._spawn(self._service.warm(others[0]))

    def end(self) -> None:
        """The step is over."""
        if self._on:
            self._on = False
            self._cancel()
            self.live.stop()

    async def idle(self) -> None:
        """Waits until no session of its own runs."""
        await self.live.manager.idle()

    async def close(self, seconds: float) -> None:
        """Ends all of it for good."""
        self._on = False
        tasks = [task for task in (self._taking, self._warming) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        await self.live.manager.close(seconds)

    # -- what a visitor does

    def press(self) -> None:
        """The talk button goes down."""
        if self._on:
            self.touched.emit()
            self.live.press()

    def release(self) -> None:
        """The talk button goes up."""
        self.live.release()

    def choose(self, place: int) -> None:
        """Another model answers, also what is being answered."""
        if not self._on:
            return
        self.touched.emit()
        backends = self._offer.backends
        if place < len(backends):
            self.live.change(backends[place].choice)
        elif len(backends) == 1:
            self._stage.hint.show_text(
                self.tr("There is only one model here. Get a second one under “Models” to change it in mid-sentence.")
            )

    def tick(self) -> None:
        """Shows what both sides do now."""
        now = time.monotonic()
        if self.live.state.turn:
            self._stage.sides["tandem"].show_state(self.live.state, self.live.time.at(now))
            if self.live.state.words:
                self._stage.question.show_text(self.live.state.words)
        if self._cascade is not None:
            self._stage.sides["cascade"].show_state(self._cascade.state, self._cascade.at(now))
            self._stage.show_verdict(self._cascade.state.heard, self._heard)
        if self.live.busy or (self._taking is not None and not self._taking.done()):
            self.touched.emit()

    # -- what happens

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
        """The cascade gets the visitor's recording."""
        tandem = self.live.state
        heard = self._heard = tandem.heard
        recorder = Recorder(self._service, self._asked_by, self._offer.frontend)

        def show(state: SideState) -> None:
            self._cascade = RunningTime(state)

        take = await recorder.take("cascade", question, show)
        said, trouble = (take.said, tandem.text), (take.trouble, tandem.trouble)
        self.figures.append(DemoFigure(question.text, take.heard, heard, True, said, trouble))

    def _cancel(self) -> None:
        self._cascade = None
        if self._taking is not None:
            self._taking.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name="demo visitor")
        task.add_done_callback(log_fault)
        return task
