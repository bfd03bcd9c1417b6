"""Steps through the demo on its screen, once per visitor.

A recorded run that comes with the app is played while this machine's own recordings are made in the background.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any, Literal

from PySide6.QtCore import QDateTime, QLocale, QObject, Signal

from app.demo.base import SIDES, DemoFigure, DemoOffer, DemoResult
from app.demo.record import Pair, Replay, record_pair
from app.demo.service import DemoService
from app.gui.demo.screen import DemoScreen
from app.gui.demo.visitor import Visitor
from app.gui.design.motion import timer
from app.gui.design.sentences import in_window_language
from app.gui.state.background_tasks import log_fault
from app.session.control import SessionChoice, UserError

Step = Literal["start", "watch", "ask", "figures"]
"""The steps of the demo:

- `start`: waits for a visitor, with the recorded run in silence
- `watch`: plays both sides' answers, those of this machine as soon as there are some
- `ask`: lets the visitor ask questions
- `figures`: shows the response times
"""

TICK_MS = 33
HOLD_SECONDS = 1.8
"""How long (s) a finished replay stays on screen."""
IDLE_SECONDS = 60.0
"""How long (s) the demo may be idle before it returns to the start page."""


_log = logging.getLogger(__name__)


class DemoCourse(QObject):
    """Runs the demo step by step.

    - `pairs`: the recordings of this machine, with the model at index `place` of the offer
    - `figures`: the results of the visitor's own questions

    Args:
        service: the demo's service.
        screen: the demo's window.
        devices: specifies the microphone and loudspeaker.
        look: returns the models that can answer. Raises UserError.
        clock: returns the time in seconds.
    """

    failed = Signal(str)
    """Emits a message explaining why nothing can be recorded."""

    def __init__(
        self,
        service: DemoService,
        screen: DemoScreen,
        devices: SessionChoice,
        look: Callable[[], Awaitable[DemoOffer]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(screen)
        self.service, self.screen, self.devices = service, screen, devices
        self.step: Step = "start"
        self.offer = DemoOffer(())
        self.place = 0
        self.pairs: list[Pair] = []
        self.figures: list[DemoFigure] = []
        self.visitor: Visitor | None = None
        self._look, self._clock = look, clock
        self._replay: Replay | None = None
        self._progress = ""
        self._seen: list[Pair] = []  # what this visitor has watched
        self._began = self._touched = clock()
        self._recording: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sound = service.sound(devices.loudspeaker)
        self._timer = timer(self, TICK_MS, self.tick, repeats=True)
        screen.next_wanted.connect(self.next)
        screen.touched.connect(self._touch)
        screen.model_wanted.connect(self.choose)

    def begin(self) -> None:
        """Shows the start page, looks for models, and starts to record."""
        self._recording = self._spawn(self._begin())

    async def _begin(self) -> None:
        await asyncio.to_thread(lambda: (self.service.shipped, self.service.questions))
        self._timer.start()
        self._go("start")

    async def close(self, seconds: float = 1.0) -> None:
        """Stops the demo, waiting up to `seconds` for each task."""
        self._timer.stop()
        self._stop_recording()
        self._end_step()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    @property
    def label(self) -> str:
        """The name of the model that answers."""
        return self.offer.backends[self.place].label

    def next(self) -> None:
        """Advances to the next step, or to the next question."""
        if self.step == "watch":
            self._play_next()
        else:
            self._go("figures" if self.step == "ask" else "watch")

    def choose(self, place: int) -> None:
        """Chooses the model at index `place`: the one to record with or, while a visitor asks, to switch to."""
        if place < len(self.offer.backends) and self.visitor is not None:
            self.visitor.manager.want(backend=self.offer.backends[place].choice)
        elif place < len(self.offer.backends) and self.step == "start" and place != self.place:
            self.place, self.pairs = place, []
            self._record()

    def tick(self) -> None:
        """Updates the page, and advances if it is time to. Called by the demo's timer."""
        now = self._clock()
        if self.visitor is not None and self.visitor.busy:
            self._touch()
        if self.step in ("ask", "figures") and now - self._touched >= IDLE_SECONDS:
            self._go("start")
        elif self.visitor is not None:
            self.visitor.tick()
        elif self._replay is not None:
            self._show_replay(self._replay, now - self._began)

    def _touch(self) -> None:
        self._touched = self._clock()

    # -- steps

    def _go(self, step: Step) -> None:
        self._end_step()
        self._touch()
        self.step = step
        _log.info("demo step: %s", step)
        self.screen.show_step(step)
        if step == "ask":
            self._stop_recording()
        self.show_models()
        if step in ("start", "watch"):
            self._seen, self.figures = [], []
            self._play_next()
        if step == "start":
            self._record()
        elif step == "ask":
            self.visitor = Visitor(self)
        elif step == "figures":
            pairs = [pair for pair in self._seen if not pair.machine] or self._seen
            result = DemoResult((*(pair.figure() for pair in pairs), *self.figures), pairs[0].backend if pairs else "")
            self.screen.show_result(result, self._note(pairs[0]) if pairs else "")

    def _end_step(self) -> None:
        self._replay = None
        if self._sound is not None:
            self._spawn(self._sound.stop())
        if self.visitor is not None:
            self._spawn(self.visitor.close())
            self.visitor = None

    def _play_next(self) -> None:
        """Plays the next question that this visitor has not watched, preferably this machine's; in silence at first."""
        shipped, starting, self._replay = self.service.shipped, self.step == "start", None
        if starting and all(pair in self._seen for pair in shipped):
            self._seen = []
        seen = {pair.question for pair in self._seen}
        pairs = [pair for pair in (*(() if starting else self.pairs), *shipped) if pair.question not in seen]
        if pairs:
            self._seen.append(pairs[0])
            replay = Replay(pairs[0])
            question = self.tr("One question. One model. Who speaks first?") if starting else pairs[0].question
            headline = self.tr("Press Enter to start") if starting else ""
            self.screen.show_texts(question, headline, self._note(pairs[0]), pairs[0].backend)
            self._spawn(self._play(replay, aloud=not starting))
        elif not starting:
            self._go("ask" if self.offer.backends else "figures")

    async def _play(self, replay: Replay, *, aloud: bool) -> None:
        late = await self._sound.play(replay.mix()) if aloud and self._sound is not None else 0.0
        if self.step in ("start", "watch") and self._seen[-1:] == [replay.pair]:
            self._replay, self._began = replay, self._clock() + late

    def _show_replay(self, replay: Replay, now: float) -> None:
        replay.advance(max(0.0, now))
        for side in SIDES:
            self.screen.sides[side].show_state(replay.states[side], replay.session_time(side))
        words = self.screen.verdict(*(replay.states[side].heard for side in SIDES))
        if words and self.step == "watch":
            self.screen.headline.show_text(words)
        if now >= replay.seconds + HOLD_SECONDS:
            self._play_next()

    def _note(self, pair: Pair) -> str:
        """Returns how a pair was recorded."""
        moment = QDateTime.fromSecsSinceEpoch(round(pair.began))
        date, time = QLocale().toString(moment.date(), QLocale.FormatType.ShortFormat), moment.toString("HH:mm")
        made = self.tr("Recorded on {0} ({1})") if pair.machine else self.tr("Recorded at {2} on this machine")
        how = self.tr("{0}, one side after the other. Same model, voice and speech recognition on both.")
        return how.format(made.format(date, pair.machine, time))

    # -- recording

    def _record(self) -> None:
        """Asks the questions that have not been recorded yet, in the background."""
        self._stop_recording()
        self._recording = self._spawn(self._record_all(set(self._tasks)))

    async def _record_all(self, others: Collection[asyncio.Task[None]]) -> None:
        try:
            if others:
                await asyncio.wait(others)  # nothing else that runs is to slow a recording down
            self.show_models(self.tr("Looking for models …"))
            self.offer = self.offer if self.offer.backends else await self._look()
            if not self.offer.backends:
                raise UserError(self.tr("There is no model to answer. Get one in “Models and servers”."))
            questions = self.service.questions
            for number in range(len(self.pairs), len(questions)):
                self.show_models(self.tr("Live: {0} of {1} …").format(number + 1, len(questions)))
                first = SIDES[number % 2]
                self.pairs.append(await record_pair(self.service, self.offer, self.place, questions[number], first))
            self.show_models("")
            _log.info("demo recorded")
        except UserError as error:
            self.show_models(in_window_language(str(error)))
            self.failed.emit(str(error))

    def show_models(self, progress: str | None = None) -> None:
        """Shows the models, and what is being recorded or why nothing is."""
        self._progress = self._progress if progress is None else progress
        self.screen.show_models([backend.label for backend in self.offer.backends], self.place, self._progress)

    def _stop_recording(self) -> None:
        if self._recording is not None and self._recording.cancel():
            self._progress = ""

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name="demo")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(log_fault)
        return task
