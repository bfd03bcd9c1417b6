"""Runs the swap demo: session by session, question by question, and the change of the back-end in mid-answer.

Times are the session's own, which come with its events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.conversation.events import Event
from app.demo.base import (
    DemoAnswer,
    DemoPlan,
    DemoProgress,
    DemoQuestion,
    DemoResult,
    DemoStage,
    DemoStop,
    DemoSwap,
)
from app.demo.plan import FULL, QUICK, stations
from app.demo.question import QuestionTracker
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.demo.microphone import DemoMicrophone

ANSWER_WITHIN_SECONDS = 25.0
"""So long after a question its answer must start."""
EVENTS_WITHIN_SECONDS = 20.0
"""A session without events for so long, by the wall clock, is lost."""
SWAP_AFTER_WORDS = 6
"""The back-end is changed when so many words of the answer have been spoken."""
SWAP_WITHIN_SECONDS = 30.0


class DemoRunner:
    """Runs a tour on `stage`. `report` gets each step; `result` grows meanwhile."""

    def __init__(
        self,
        stage: DemoStage,
        questions: Sequence[DemoQuestion],
        plan: DemoPlan,
        report: Callable[[DemoProgress], None] = lambda progress: None,
    ) -> None:
        self.stops = stations(plan, questions)
        self._stage = stage
        self._lengths = QUICK if plan.quick else FULL
        self._report = report
        self._answers: list[DemoAnswer] = []
        self._swaps: list[DemoSwap] = []
        self._whole = False
        self._number = 0
        self._tracker = QuestionTracker()
        self._changed = asyncio.Event()

    @property
    def total(self) -> int:
        """How many questions there are."""
        return sum(len(stop.questions) + (stop.swap is not None) for stop in self.stops)

    @property
    def result(self) -> DemoResult:
        """The result so far."""
        return DemoResult(tuple(self._answers), tuple(self._swaps), self._whole)

    async def run(self) -> DemoResult:
        """Runs all sessions; one that fails is noted and skipped. Cancelling ends the session that runs."""
        try:
            for stop in self.stops:
                await self._visit(stop)
            self._whole = True
        finally:
            await asyncio.shield(asyncio.ensure_future(self._stage.stop()))
        return self.result

    # -- one session

    async def _visit(self, stop: DemoStop) -> None:
        self._report(DemoProgress(self._number + 1, self.total, stop, None))
        tracker = self._tracker = QuestionTracker()

        def apply(event: Event) -> None:
            tracker.apply(event)
            self._changed.set()

        try:
            microphone = await self._stage.start(stop.choice, apply)
        except UserError as error:
            for question in stop.questions:
                self._number += 1
                self._note_answer(stop, question, str(error))
            if stop.swap is not None:
                self._number += 1
                self._note_swap(stop, stop.swap, str(error))
            return
        refusal = await self._load_both(stop)
        for question in stop.questions:
            self._number += 1
            self._report(DemoProgress(self._number, self.total, stop, question))
            await self._ask(stop, question, microphone)
        if stop.swap is None:
            return
        self._number += 1
        if refusal:
            self._note_swap(stop, stop.swap, refusal)
            return
        self._report(DemoProgress(self._number, self.total, stop, stop.swap, swapping=True))
        await self._ask_and_swap(stop, stop.swap, microphone)

    async def _load_both(self, stop: DemoStop) -> str:
        """Loads both back-ends of a swap before the first question; returns why the second one can't be, if so."""
        if stop.swap_to is None or stop.backend is None:
            return ""
        try:
            await self._stage.swap(stop.swap_to.choice)
            await self._stage.swap(stop.backend.choice)
        except UserError as error:
            return str(error)
        return ""

    async def _ask(self, stop: DemoStop, question: DemoQuestion, microphone: DemoMicrophone) -> None:
        tracker, longest = self._tracker, self._lengths.answer
        if tracker.lost:
            self._note_answer(stop, question, tracker.lost)
            return
        tracker.ask(microphone.ask(question), question.seconds)
        alive = await self._until(
            lambda: (
                tracker.over
                or tracker.failed
                or tracker.waited > ANSWER_WITHIN_SECONDS
                or (tracker.answered_seconds or 0.0) > longest
            )
        )
        answered = bool(tracker.words) or tracker.answered_seconds is not None
        self._note_answer(stop, question, "" if answered else self._no_answer(alive))

    def _note_answer(self, stop: DemoStop, question: DemoQuestion, trouble: str) -> None:
        tracker = self._tracker
        answered = not trouble
        self._answers.append(
            DemoAnswer(
                stop.frontend,
                stop.answer_mode,
                stop.backend,
                question.text,
                tracker.response if answered else None,
                tracker.text if answered else "",
                answered and tracker.speaking,
                tracker.first_words if answered else None,
                trouble,
            )
        )

    # -- the change in mid-answer

    async def _ask_and_swap(self, stop: DemoStop, question: DemoQuestion, microphone: DemoMicrophone) -> None:
        tracker = self._tracker
        if tracker.lost:
            self._note_swap(stop, question, tracker.lost)
            return
        tracker.ask(microphone.ask(question), question.seconds)
        alive = await self._until(
            lambda: (
                (tracker.asked and tracker.words >= SWAP_AFTER_WORDS)
                or tracker.over
                or tracker.failed
                or tracker.waited > ANSWER_WITHIN_SECONDS
            )
        )
        if not tracker.words:
            trouble = self._no_answer(alive)
        elif tracker.over:
            trouble = "The answer was over before the model could be changed."
        else:
            trouble = await self._swap(stop)
        self._note_swap(stop, question, trouble)

    async def _swap(self, stop: DemoStop) -> str:
        """Changes the back-end, and waits for its words; returns why that failed, if it did."""
        assert stop.swap_to is not None
        tracker, enough = self._tracker, self._lengths.words_after_swap
        tracker.request_swap()
        requested_at = tracker.now
        swapping = asyncio.ensure_future(self._stage.swap(stop.swap_to.choice))
        swapping.add_done_callback(lambda _: self._changed.set())
        try:
            await self._until(
                lambda: (
                    len(tracker.after.split()) >= enough
                    or bool(tracker.lost)
                    or (tracker.over and swapping.done())
                    or _refused(swapping)
                    or tracker.now - requested_at > SWAP_WITHIN_SECONDS
                )
            )
        finally:
            if not swapping.done():
                swapping.cancel()
            await asyncio.wait([swapping])
        refusal = "" if swapping.cancelled() else str(swapping.exception() or "")
        if tracker.after:
            return ""
        return refusal or tracker.lost or "The answer was over before the new model had said anything."

    def _note_swap(self, stop: DemoStop, question: DemoQuestion, trouble: str) -> None:
        tracker = self._tracker
        assert stop.backend is not None and stop.swap_to is not None
        self._swaps.append(
            DemoSwap(
                stop.frontend,
                stop.answer_mode,
                stop.backend,
                stop.swap_to,
                question.text,
                tracker.swap_seconds,
                tracker.silence,
                tracker.before,
                tracker.after,
                tracker.response,
                trouble,
            )
        )

    # -- waiting

    async def _until(self, condition: Callable[[], bool]) -> bool:
        """Waits for events until `condition` holds; returns False when none came for too long."""
        while not condition():
            self._changed.clear()
            try:
                async with asyncio.timeout(EVENTS_WITHIN_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                return False
        return True

    def _no_answer(self, alive: bool) -> str:
        if known := self._tracker.lost or self._tracker.trouble:
            return known
        if alive:
            return "No answer came. Ask again, or choose another model."
        return "The conversation fell silent. Try the demo again; the log has the details."


def _refused(swapping: asyncio.Future[None]) -> bool:
    return swapping.done() and not swapping.cancelled() and swapping.exception() is not None
