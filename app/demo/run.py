"""Carries the swap demo out: station by station, question by question, and the change of the brain in mid-answer.

Runs by the session's own time, which comes with its events. Knows no widget, no device and no brain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.conversation.events import Event
from app.demo.base import (
    DemoAnswer,
    DemoBackend,
    DemoPlan,
    DemoProgress,
    DemoQuestion,
    DemoResult,
    DemoStage,
    DemoStop,
    DemoSwap,
)
from app.demo.question import DemoEar
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.demo.service import DemoMicrophone

GIVE_UP_SECONDS = 25.0
"""So long behind a question its answer must begin."""
DEAF_SECONDS = 20.0
"""A session that says nothing for so long, by the clock on the wall, is lost."""
SWAP_AFTER_WORDS = 6
"""The brain is changed when so many words of the answer have been heard."""
SWAP_WITHIN_SECONDS = 30.0
START_SECONDS = 5.0
"""What the start of a session takes, for the estimate alone."""


@dataclass(frozen=True, slots=True)
class _Lengths:
    """How much of each answer is listened to, in seconds and in words."""

    answer: float
    words_after_swap: int


# Where another question follows, an answer that is cut off is interrupted, and the next one takes longer: so nearly all
# come to their end.
FULL, QUICK = _Lengths(20.0, 12), _Lengths(3.5, 6)
USUAL_ANSWER_SECONDS = 10.0
"""For the estimate alone."""


def stations(plan: DemoPlan, questions: Sequence[DemoQuestion]) -> tuple[DemoStop, ...]:
    """The way through `plan`: every brain by every front-end in every manner; the last of them is changed in
    mid-answer, if there is another one.

    The same questions are asked everywhere, in talks of their own: nobody hears what another one has answered. The
    last of `questions` is kept for the change. Brains come last to first: it is the first one's answer that is changed
    over to the second one.
    """
    asked = tuple(questions[: 1 if plan.quick else 2])
    out: list[DemoStop] = []
    for frontend in plan.frontends:
        backends: tuple[DemoBackend | None, ...] = plan.backends[::-1] if frontend.backends else (None,)
        # The quickest manner comes last: the change in mid-answer belongs to it.
        for answer_mode in sorted(frontend.manners, key=lambda m: m == "thinking"):
            out += [DemoStop(frontend, answer_mode, backend, asked) for backend in backends]
    able = [place for place, stop in enumerate(out) if stop.backend is not None]
    if able and len(plan.backends) > 1:
        last = out[able[-1]]
        out[able[-1]] = replace(last, swap=questions[-1], swap_to=plan.backends[1])
    return tuple(out)


def duration(stops: Sequence[DemoStop], *, quick: bool) -> float:
    """About how long the tour takes, in seconds."""
    lengths = QUICK if quick else FULL
    seconds = 0.0
    for stop in stops:
        seconds += START_SECONDS
        seconds += sum(q.seconds + 1.5 + min(lengths.answer, USUAL_ANSWER_SECONDS) for q in stop.questions)
        if stop.swap is not None:
            seconds += stop.swap.seconds + 1.5 + 10.0
    return seconds


class DemoRunner:
    """`run` goes from the first question to the last; being cancelled, it ends what runs. `result` grows meanwhile."""

    def __init__(
        self,
        stage: DemoStage,
        questions: Sequence[DemoQuestion],
        plan: DemoPlan,
        told: Callable[[DemoProgress], None] = lambda progress: None,
    ) -> None:
        self.stops = stations(plan, questions)
        self._stage = stage
        self._lengths = QUICK if plan.quick else FULL
        self._told = told
        self._answers: list[DemoAnswer] = []
        self._swaps: list[DemoSwap] = []
        self._whole = False
        self._number = 0
        self._ear = DemoEar()
        self._heard = asyncio.Event()

    @property
    def total(self) -> int:
        """How many questions there are."""
        return sum(len(stop.questions) + (stop.swap is not None) for stop in self.stops)

    @property
    def result(self) -> DemoResult:
        """What it has brought so far."""
        return DemoResult(tuple(self._answers), tuple(self._swaps), self._whole)

    async def run(self) -> DemoResult:
        """Goes through all stations. What fails is noted, and skipped."""
        try:
            for stop in self.stops:
                await self._visit(stop)
            self._whole = True
        finally:
            await asyncio.shield(asyncio.ensure_future(self._stage.stop()))
        return self.result

    # -- a station

    async def _visit(self, stop: DemoStop) -> None:
        self._tell(stop, None, ahead=1)
        self._ear = ear = DemoEar()
        try:
            microphone = await self._stage.start(stop.choice, lambda event: self._take(ear, event))
        except UserError as error:
            for question in stop.questions:
                self._number += 1
                self._note(stop, question, trouble=str(error))
            if stop.swap is not None:
                self._number += 1
                self._note_swap(stop, stop.swap, str(error))
            return
        refusal = await self._make_ready(stop)
        for question in stop.questions:
            self._number += 1
            self._tell(stop, question)
            await self._ask(stop, question, microphone)
        if stop.swap is not None:
            self._number += 1
            if refusal:
                self._note_swap(stop, stop.swap, refusal)
                return
            self._tell(stop, stop.swap, swapping=True)
            await self._swap(stop, stop.swap, microphone)

    async def _make_ready(self, stop: DemoStop) -> str:
        """Has both brains loaded before anybody waits for one; why the second one can't be, in a sentence."""
        if stop.swap_to is None or stop.backend is None:
            return ""
        try:
            await self._stage.swap(stop.swap_to.choice)
            await self._stage.swap(stop.backend.choice)
        except UserError as error:
            return str(error)
        return ""

    def _tell(self, stop: DemoStop, question: DemoQuestion | None, *, swapping: bool = False, ahead: int = 0) -> None:
        self._told(DemoProgress(self._number + ahead, self.total, stop, question, swapping))

    def _take(self, ear: DemoEar, event: Event) -> None:
        ear.take(event)
        self._heard.set()

    async def _ask(self, stop: DemoStop, question: DemoQuestion, microphone: DemoMicrophone) -> None:
        ear, longest = self._ear, self._lengths.answer
        if ear.lost:
            self._note(stop, question, trouble=ear.lost)
            return
        ear.ask(microphone.ask(question), question.seconds)
        alive = await self._until(
            lambda: ear.over or ear.failed or ear.waited > GIVE_UP_SECONDS or (ear.begun or 0.0) > longest
        )
        trouble = "" if ear.words or ear.begun is not None else ear.lost or ear.trouble or _no_answer(alive)
        self._note(stop, question, trouble=trouble)

    def _note(self, stop: DemoStop, question: DemoQuestion, *, trouble: str = "") -> None:
        ear = self._ear
        answered = not trouble
        self._answers.append(
            DemoAnswer(
                stop.frontend,
                stop.answer_mode,
                stop.backend,
                question.text,
                ear.response if answered else None,
                ear.text if answered else "",
                answered and ear.speaking,
                ear.first_words if answered else None,
                trouble,
            )
        )

    # -- the change in mid-answer

    async def _swap(self, stop: DemoStop, question: DemoQuestion, microphone: DemoMicrophone) -> None:
        ear = self._ear
        if ear.lost:
            self._note_swap(stop, question, ear.lost)
            return
        assert stop.swap_to is not None
        ear.ask(microphone.ask(question), question.seconds)
        alive = await self._until(
            lambda: (
                (ear.asked and ear.words >= SWAP_AFTER_WORDS) or ear.over or ear.failed or ear.waited > GIVE_UP_SECONDS
            )
        )
        if not ear.words:
            self._note_swap(stop, question, ear.lost or ear.trouble or _no_answer(alive))
            return
        if ear.over:
            self._note_swap(stop, question, "The answer was over before the brain could be changed.")
            return
        ear.wish_swap()
        wished = ear.now
        swapping = asyncio.ensure_future(self._stage.swap(stop.swap_to.choice))
        swapping.add_done_callback(lambda _: self._heard.set())
        enough = self._lengths.words_after_swap
        try:
            await self._until(
                lambda: (
                    len(ear.after.split()) >= enough
                    or bool(ear.lost)
                    or (ear.over and swapping.done())
                    or _refused(swapping)
                    or ear.now - wished > SWAP_WITHIN_SECONDS
                )
            )
        finally:
            if not swapping.done():
                swapping.cancel()
            await asyncio.wait([swapping])
        refusal = "" if swapping.cancelled() else str(swapping.exception() or "")
        if ear.after:
            refusal = ""
        elif not refusal:
            refusal = ear.lost or "The answer was over before the new brain had said anything."
        self._note_swap(stop, question, refusal)

    def _note_swap(self, stop: DemoStop, question: DemoQuestion, trouble: str) -> None:
        ear = self._ear
        assert stop.backend is not None and stop.swap_to is not None
        self._swaps.append(
            DemoSwap(
                stop.frontend,
                stop.answer_mode,
                stop.backend,
                stop.swap_to,
                question.text,
                ear.swap_seconds,
                ear.silence,
                ear.before,
                ear.after,
                ear.response,
                trouble,
            )
        )

    # -- waiting

    async def _until(self, condition: Callable[[], bool]) -> bool:
        """Waits by the session's events; False when none came for too long."""
        while not condition():
            self._heard.clear()
            try:
                async with asyncio.timeout(DEAF_SECONDS):
                    await self._heard.wait()
            except TimeoutError:
                return False
        return True


def _refused(swapping: asyncio.Future[None]) -> bool:
    return swapping.done() and not swapping.cancelled() and swapping.exception() is not None


def _no_answer(alive: bool) -> str:
    if alive:
        return "No answer came. Ask again, or choose another brain."
    return "The talk fell silent. Try the demo again; the log has the details."
