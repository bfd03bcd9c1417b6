"""Records one side's answer to a question, with events and audio, in a session without audible output.

`Replay` replays two recordings in sync: both questions start together, and events are applied at their recorded times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from app.audio.devices.paced import Spoken
from app.conversation.events import Event
from app.conversation.frame import SAMPLE_RATE
from app.demo.base import SIDES, DemoFigure, DemoQuestion, Side, choice_of
from app.demo.side import SideState
from app.session.control import BackendChoice, SessionChoice, UserError

if TYPE_CHECKING:
    from app.session.session import Session

LEAD_SECONDS = 0.6
"""The length (s) of the silence before the question in a replay."""
TROUBLE_SECONDS = 3.0
"""How long (s) a replay continues after a question without an answer, so that the error message can be read."""


class Replay:
    """Replays a pair of recordings: `states` are the sides' states at `now`, in seconds since the start of the replay.

    The question starts at `LEAD_SECONDS`.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.now = 0.0
        self.states: Mapping[Side, SideState] = {side: SideState() for side in SIDES}
        self._takes: dict[Side, Take] = {"cascade": pair.cascade, "tandem": pair.tandem}
        self._next = dict.fromkeys(SIDES, 0)
        for side, take in self._takes.items():
            self.states[side].ask(take.start, take.question.seconds)

    @property
    def question(self) -> DemoQuestion:
        """The question that both sides answer."""
        return self.pair.tandem.question

    @property
    def seconds(self) -> float:
        """The length of the replay."""
        return LEAD_SECONDS + max(
            take.seconds + (TROUBLE_SECONDS if take.heard is None else 0.0) for take in self._takes.values()
        )

    def session_time(self, side: Side) -> float:
        """Returns the time in a side's session that corresponds to `now`."""
        return self.now - LEAD_SECONDS + self._takes[side].start

    def advance(self, now: float) -> None:
        """Advances to `now` and applies the events due by then; never moves backwards."""
        self.now = max(self.now, now)
        for side, take in self._takes.items():
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
        for channel, take in enumerate(self._takes.values()):
            for samples in (take.question.samples, take.sound):
                part = samples[: len(out) - lead]
                out[lead : lead + len(part), channel] += part
        return np.clip(out, -1.0, 1.0)


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
    """Both sides' recordings of one question. `began`: the start time, in seconds since the epoch."""

    cascade: Take
    tandem: Take
    began: float = 0.0

    def figure(self) -> DemoFigure:
        """Returns both sides' response times."""
        one, other = self.cascade, self.tandem
        said, trouble = (one.said, other.said), (one.trouble, other.trouble)
        return DemoFigure(other.question.text, one.heard, other.heard, said=said, trouble=trouble)


class Asker(Protocol):
    """The simulated microphone of a recorded session."""

    def ask(self, question: Spoken) -> float:
        """Feeds a question to the session; returns the session time at which its audio starts."""
        ...


class Stage(Protocol):
    """Starts sessions without audible output."""

    async def start(self, choice: SessionChoice) -> tuple[Session, Asker]:
        """Starts a session and returns it with its microphone, which is silent between questions. Raises UserError."""
        ...


class Recorder:
    """Records takes in sessions started by `stage`. `frontend`: the key of the tandem's front-end."""

    def __init__(self, stage: Stage, backend: BackendChoice, frontend: str) -> None:
        self._stage = stage
        self._backend = backend
        self._frontend = frontend
        self._changed = asyncio.Event()

    async def pair(self, question: DemoQuestion, *, first: Side = "cascade", began: float = 0.0) -> Pair:
        """Asks both sides a question, starting with `first`. `began`: see `Pair`."""
        takes = {}
        for side in sorted(SIDES, key=lambda one: one != first):
            takes[side] = await self.take(side, question)
        return Pair(takes["cascade"], takes["tandem"], began)

    async def take(
        self, side: Side, question: DemoQuestion, show: Callable[[SideState], None] = lambda state: None
    ) -> Take:
        """Asks one side a question. `show` is called once with the side's state, when the question starts."""
        state, events = SideState(), list[Event]()

        def apply(event: Event) -> None:
            events.append(event)
            state.apply(event)
            self._changed.set()

        choice = choice_of(side, self._backend, self._frontend)
        try:
            session, microphone = await self._stage.start(choice)
        except UserError as error:
            return _nothing(question, str(error))
        try:
            session.add_listener(apply)
            await asyncio.sleep(SETTLE_SECONDS)
            start = microphone.ask(question)
            state.ask(start, question.seconds)
            show(state)
            alive = await self._until(
                lambda: (
                    state.silent_for >= TAIL_SECONDS
                    or state.failed
                    or state.waited > ANSWER_WITHIN_SECONDS
                    or (state.heard_at is not None and state.now - state.heard_at > LONGEST_ANSWER_SECONDS)
                )
            )
            sound = session.sound_of("assistant", start, state.now)
            trouble = "" if state.heard is not None else _why(state, alive)
            return Take(
                question,
                tuple(events),
                start,
                max(0.0, state.now - start),
                sound if sound is not None else np.zeros(0, np.float32),
                state.heard,
                state.text,
                trouble,
            )
        finally:
            await asyncio.shield(asyncio.ensure_future(session.stop()))

    async def _until(self, condition: Callable[[], bool]) -> bool:
        """Waits until `condition` holds; returns False if no event arrives for `EVENTS_WITHIN_SECONDS`."""
        while not condition():
            self._changed.clear()
            try:
                async with asyncio.timeout(EVENTS_WITHIN_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                return False
        return True


def _nothing(question: DemoQuestion, trouble: str) -> Take:
    return Take(question, (), 0.0, question.seconds, np.zeros(0, np.float32), None, "", trouble)


def _why(state: SideState, alive: bool) -> str:
    if known := state.lost or state.trouble:
        return known
    if alive:
        return "No answer came. Ask again, or choose another model."
    return "The conversation fell silent. Try the demo again; the log has the details."
