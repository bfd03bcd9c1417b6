"""Steps through the demo on its screen, once per visitor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QCursor

from app.demo.base import SIDES, DemoFigure, DemoOffer, DemoResult
from app.demo.record import Pair, Recorder, Replay
from app.demo.service import DemoService
from app.demo.steps import Steps
from app.gui.demo.screen import DemoScreen
from app.gui.demo.visitor import Visitor
from app.gui.state.background_tasks import log_fault
from app.session.control import SessionChoice

TICK_MS = 33


class DemoCourse(QObject):
    """Runs the demo step by step.

    `devices` specifies the microphone and loudspeaker. If `visitors` is False, the demo skips the start page and begins
    with the first question.
    """

    finished = Signal(object)
    """Emits the `DemoResult` once the figures are displayed."""
    failed = Signal(str)
    """Emits a message explaining why the demo can't continue."""

    def __init__(
        self,
        service: DemoService,
        screen: DemoScreen,
        offer: DemoOffer,
        devices: SessionChoice,
        *,
        visitors: bool = True,
    ) -> None:
        super().__init__(screen)
        self.steps = Steps(len(service.questions), visitors)
        self.visitor = Visitor(service, screen.stage, offer, devices, self)
        self._service = service
        self._screen = screen
        self._offer = offer
        self._questions = service.questions
        self._recorder = Recorder(service, offer.backends[0].choice, offer.frontend)
        self._pairs: dict[int, Pair] = {}
        self._figures: list[DemoFigure] = []
        self._recording: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._replay: Replay | None = None
        self._replay_began = 0.0
        self._sound = service.sound(devices.loudspeaker)
        self._cursor = QCursor.pos()
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        screen.next_wanted.connect(self._next)
        screen.touched.connect(self._touch)
        screen.push.pressed.connect(self.visitor.press)
        screen.push.released.connect(self.visitor.release)
        screen.model_wanted.connect(self.visitor.choose)
        self.visitor.touched.connect(self._touch)

    @property
    def result(self) -> DemoResult:
        """The results so far."""
        whole = len(self._figures) >= len(self._questions)
        return DemoResult((*self._figures, *self.visitor.figures), whole, self._offer.backends[0].label)

    def begin(self) -> None:
        """Starts the demo."""
        self._timer.start()
        self._screen.stage.show_model(self._offer.backends[0].label)
        if not self.steps.visitors:
            self.steps.begin(_now())
            self._record()
        self._enter()

    async def close(self, seconds: float = 1.0) -> None:
        """Stops the demo, waiting up to `seconds` for each task."""
        self._timer.stop()
        if self._recording is not None:
            self._recording.cancel()
            await asyncio.wait([self._recording], timeout=seconds)
        await self.visitor.close(seconds)
        await self._silence()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    # -- steps

    def _touch(self) -> None:
        self.steps.touch(_now())

    def _next(self) -> None:
        self.steps.touch(_now())
        self.steps.next(_now())
        self._enter()

    def _tick(self) -> None:
        if (place := QCursor.pos()) != self._cursor:
            self._cursor = place
            self._touch()
        if self.steps.tick(_now()):
            self._enter()
        match self.steps.step:
            case "preparing" if self._recorded:
                self._play(self._pairs[self.steps.number])
            case "question" if self._replay is not None:
                self._replay.advance(max(0.0, _now() - self._replay_began))
                for side in SIDES:
                    state, at = self._replay.states[side], self._replay.session_time(side)
                    self._screen.stage.sides[side].show_state(state, at)
                self._screen.stage.show_verdict(*(self._replay.states[side].heard for side in SIDES))
            case "ask":
                self.visitor.tick()

    def _enter(self) -> None:
        """Displays the current step."""
        screen, steps = self._screen, self.steps
        if steps.step != "ask":
            self.visitor.end()
        self._replay = None
        self._spawn(self._silence())
        match steps.step:
            case "start":
                self._figures, self.visitor.figures = [], []
                screen.show_page(screen.start_page)
                self._record()
                self._show_status()
            case "preparing":
                if steps.number == 0:
                    self._figures, self.visitor.figures = [], []
                screen.show_page(screen.stage)
                if self._recorded:
                    self._stop_recording()
                    self._play(self._pairs[steps.number])
                else:
                    screen.stage.show_preparing(len(self._pairs), steps.questions)
            case "ask":
                self._stop_recording()
                screen.show_page(screen.stage, asking=True)
                self.visitor.begin()
            case "figures":
                screen.show_result(self.result)
                self.finished.emit(self.result)

    def _play(self, pair: Pair) -> None:
        """Starts playing a recorded question, with both sides' answers in sync."""
        replay = Replay(pair)
        self._figures.append(pair.figure())
        self.steps.play(_now(), replay.seconds)
        when = datetime.fromtimestamp(pair.began).strftime("%H:%M")
        note = self.tr(
            "Recorded at {0} on this machine, one side after the other, and played side by side. Same model, voice and "
            "speech recognition on both."
        ).format(when)
        self._screen.stage.clear()
        self._screen.stage.show_question(replay.question.text, self.steps.number + 1, self.steps.questions, note)
        self._spawn(self._play_in_step(replay))

    async def _play_in_step(self, replay: Replay) -> None:
        number = self.steps.number
        late = await self._sound.play(replay.mix()) if self._sound is not None else 0.0
        if (self.steps.step, self.steps.number) == ("question", number):
            self._replay, self._replay_began = replay, _now() + late

    async def _silence(self) -> None:
        if self._sound is not None:
            await self._sound.stop()

    # -- recording

    def _record(self) -> None:
        if self._recording is None or self._recording.done():
            self._recording = self._spawn(self._record_all())
            self._recording.add_done_callback(self._recording_over)

    async def _record_all(self) -> None:
        await self.visitor.idle()
        for number, question in enumerate(self._questions):
            began = time.time()
            # Alternate which side is asked first.
            pair = await self._recorder.pair(question, first=SIDES[number % 2], began=began)
            self._pairs[number] = pair
            self._show_status()

    @property
    def _recorded(self) -> bool:
        """Whether all questions have been recorded. No question is played until then, because playback would slow down
        the recording in progress.
        """
        return len(self._pairs) == len(self._questions)

    def _stop_recording(self) -> None:
        """Stops recording. Completed recordings are kept."""
        if self._recording is not None:
            self._recording.cancel()

    def _recording_over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            words = self.tr("The demo can't continue because of a bug in KAME ({0}). The log has the details.")
            self.failed.emit(words.format(type(error).__name__))

    def _show_status(self) -> None:
        ready, total = len(self._pairs), len(self._questions)
        if self.steps.step == "preparing":
            self._screen.stage.show_preparing(ready, total)
        words = ""
        if ready < total:
            words = self.tr("Getting ready: both are being asked, one after the other. {0} of {1}").format(ready, total)
        self._screen.start_page.show_status(words, ready=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name="demo")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(log_fault)
        return task


def _now() -> float:
    return time.monotonic()
