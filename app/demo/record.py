"""Records one side's answer to a question, with events and audio, in a session without audible output.

`Replay` replays two recordings in sync: both questions start together, and events are applied at their recorded times.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.conversation.events import Event
from app.conversation.frame import SAMPLE_RATE
from app.demo.base import SIDES, DemoFigure, DemoOffer, DemoQuestion, Side, choice_of
from app.demo.side import SideState
from app.session.control import SessionChoice, UserError

if TYPE_CHECKING:
    from app.demo.service import DemoService

ANSWER_WITHIN_SECONDS = 25.0
"""The maximum time (s) from the end of the question to the start of the answer."""
LONGEST_ANSWER_SECONDS = 6.0
"""The maximum length (s) of a recorded answer; longer ones are cut off, since only the start is timed."""
TAIL_SECONDS = 0.4
"""The length (s) of the silence recorded after an answer."""
EVENTS_WITHIN_SECONDS = 20.0
"""A session that emits no event for this long (s of wall-clock time) is considered lost."""
SETTLE_SECONDS = 0.4
"""The delay (s) between the start of the session and the question, during which the CPU load settles."""
LEAD_SECONDS = 0.6
"""The length (s) of the silence before the question in a replay."""
TROUBLE_SECONDS = 3.0
"""How long (s) a replay continues after a question without an answer, so that the error message can be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """A recording of one side.

    - `events`: the session's events
    - `start`: the session time at which the question starts
    - `seconds`: the length of the recording from `start` on
    - `sound`: the assistant's audio from `start` on, float32 mono at 24 kHz
    - `heard`: seconds from the end of the question to the start of the answer; None without an answer
    - `said`: the part of the answer that was spoken
    - `trouble`: why there is no answer
    """

    question: DemoQuestion
    events: tuple[Event, ...]
    start: float
    seconds: float
    sound: np.ndarray
    heard: float | None
    said: str
    trouble: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Both sides' recordings of one question.

    - `backend`: the name of the back-end that answered
    - `began`: the start time, in seconds since the epoch
    - `machine`: a description of the machine of a recording that comes with the app; empty for this machine
    """

    takes: Mapping[Side, Take]
    backend: str
    began: float
    machine: str = ""

    @property
    def question(self) -> str:
        """The words that both sides were asked."""
        return self.takes["cascade"].question.text

    def figure(self) -> DemoFigure:
        """Returns both sides' response times."""
        one, other = self.takes["cascade"], self.takes["tandem"]
        return DemoFigure(self.question, one.heard, other.heard, said=(one.said, other.said))


async def record_pair(service: DemoService, offer: DemoOffer, place: int, question: DemoQuestion, first: Side) -> Pair:
    """Asks both sides a question.

    Args:
        service: starts the sessions.
        offer: the available models.
        place: the index of the model that answers.
        question: what is asked.
        first: the side that is asked first.
    """
    began, takes = time.time(), {}
    for side in sorted(SIDES, key=lambda one: one != first):
        takes[side] = await record_take(service, choice_of(side, offer, place), question)
    return Pair(takes, offer.backends[place].label, began)


async def record_take(
    service: DemoService,
    choice: SessionChoice,
    question: DemoQuestion,
    show: Callable[[SideState], None] = lambda state: None,
) -> Take:
    """Asks one side a question.

    Args:
        service: starts the session.
        choice: the options of the side's session.
        question: what is asked.
        show: called once with the side's state, when the question starts.
    """
    state, events, changed = SideState(), list[Event](), asyncio.Event()

    def apply(event: Event) -> None:
        events.append(event)
        state.apply(event)
        changed.set()

    try:
        session, microphone = await service.start(choice)
    except UserError as error:
        return Take(question, (), 0.0, question.seconds, np.zeros(0, np.float32), None, "", str(error))
    try:
        session.add_listener(apply)
        await asyncio.sleep(SETTLE_SECONDS)
        start = microphone.ask(question)
        state.ask(start, question.seconds)
        show(state)
        trouble = "No answer came. Ask again, or choose another model."
        with contextlib.suppress(TimeoutError):
            while not _is_over(state):
                changed.clear()
                await asyncio.wait_for(changed.wait(), EVENTS_WITHIN_SECONDS)
        trouble = "" if state.heard is not None else state.trouble or trouble
        sound = session.sound_of("assistant", start, state.now)
        sound = np.zeros(0, np.float32) if sound is None else sound
        seconds = max(0.0, state.now - start)
        said = state.said_by("assistant")
        return Take(question, tuple(events), start, seconds, sound, state.heard, said, trouble)
    finally:
        await asyncio.shield(asyncio.ensure_future(session.stop()))


def _is_over(state: SideState) -> bool:
    waited = state.now - (state.end or 0.0)
    if state.heard is None:
        return state.over or waited > ANSWER_WITHIN_SECONDS
    return state.over or state.silent_for >= TAIL_SECONDS or waited - state.heard > LONGEST_ANSWER_SECONDS


class Replay:
    """Replays a pair of recordings: `states` are the sides' states at `now`, in seconds since the start of the replay.

    The question starts at `LEAD_SECONDS`.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.now = 0.0
        self.states: dict[Side, SideState] = {side: SideState() for side in SIDES}
        self._next = dict.fromkeys(SIDES, 0)
        for side, take in pair.takes.items():
            self.states[side].ask(take.start, take.question.seconds)

    @property
    def seconds(self) -> float:
        """The length of the replay."""
        takes = self.pair.takes.values()
        return LEAD_SECONDS + max(take.seconds + (TROUBLE_SECONDS if take.heard is None else 0.0) for take in takes)

    def session_time(self, side: Side) -> float:
        """Returns the time in a side's session that corresponds to `now`."""
        return self.now - LEAD_SECONDS + self.pair.takes[side].start

    def advance(self, now: float) -> None:
        """Advances to `now` and applies the events due by then; never moves backwards."""
        self.now = max(self.now, now)
        for side, take in self.pair.takes.items():
            until, state = self.session_time(side), self.states[side]
            while self._next[side] < len(take.events) and take.events[self._next[side]].at <= until:
                state.apply(take.events[self._next[side]])
                self._next[side] += 1
            if take.heard is None and self.now >= LEAD_SECONDS + take.question.seconds:
                state.trouble = take.trouble  # may also say that the session could not be started

    def mix(self) -> np.ndarray:
        """Returns the audio of the replay, float32 (n, 2) at 24 kHz.

        Both channels contain the question, the left one also the cascade's voice, and the right one the tandem's.
        """
        out = np.zeros((round(self.seconds * SAMPLE_RATE), 2), np.float32)
        lead = round(LEAD_SECONDS * SAMPLE_RATE)
        for channel, side in enumerate(SIDES):
            take = self.pair.takes[side]
            for samples in (take.question.samples, take.sound):
                part = samples[: len(out) - lead]
                out[lead : lead + len(part), channel] += part
        return np.clip(out, -1.0, 1.0)
