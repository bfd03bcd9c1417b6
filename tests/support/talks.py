"""Whole conversations in simulated time: everything scripted, with a loudspeaker that plays at the loop's pace."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.audio.io.base import AudioSource, DuplexAudio, EndOfAudio, WrappedSource
from app.backend.base import Backend, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.conversation.record.transcript import Transcript
from app.frontend.cascade import CascadeFrontEnd
from app.session.clock import run_simulated
from app.session.control import BackendChoice, SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.recorder import Recorder
from app.session.session import Session
from tests.support.scripted import Opened, ScriptedTranscriber, ScriptedTurn, ScriptedVoice, ScriptedVoiceActivity


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens before frame `at`, for the time of `frames` frames.

    - "stall": the reader is held up. The frames wait, and the reader drops them if there are too many.
    - "overrun": the device loses them and reports it.
    - "silence": the user is silent. This is what a stall or an overrun must look like to everyone.
    """

    at: int
    frames: int
    kind: Literal["stall", "overrun", "silence"]


class Frames(Opened):
    """A source of these frames of samples."""

    name = "frames"
    overruns = backlog = 0

    def __init__(self, frames: Iterable[np.ndarray]) -> None:
        self._frames = iter(frames)

    def read_frame(self, timeout: float) -> np.ndarray | None:
        for samples in self._frames:
            return samples.copy()
        raise EndOfAudio

    def drop_to_newest(self) -> int:
        return 0


class QuietSource(Frames):
    """`frames` frames of near-silence: what the scripted recogniser hears is in their script."""

    name = "quiet"

    def __init__(self, frames: int) -> None:
        super().__init__(itertools.repeat(np.full(FRAME_SAMPLES, 1e-4, np.float32), frames))


class FaultySource(WrappedSource):
    """`source`, which gives a frame whenever it is asked, at the pace of the loop and with faults."""

    overruns = backlog = 0

    def __init__(self, source: AudioSource, faults: Sequence[Fault]) -> None:
        super().__init__(source)
        self._faults = {fault.at: fault for fault in faults}
        self._next = self._held = self._silent = 0

    def read_frame(self, timeout: float) -> np.ndarray | None:
        fault = self._faults.pop(self._next, None)
        if fault is not None and fault.kind == "silence":
            self._silent = fault.frames
        elif fault is not None:
            self._held = fault.frames + (fault.kind == "stall")  # until the frame after those that wait is due
            self._fault = fault
        if self._held:
            self._held -= 1
            if not self._held:
                self._end_fault(self._fault)
            return None
        samples = self._take()
        self.backlog = max(0, self.backlog - 1)
        if self._silent and samples is not None:
            self._silent -= 1
            return np.zeros_like(samples)
        return samples

    def _take(self) -> np.ndarray | None:
        self._next += 1
        return self._source.read_frame(0.0)

    def _end_fault(self, fault: Fault) -> None:
        if fault.kind == "stall":
            self.backlog = fault.frames + 1
        else:
            for _ in range(fault.frames):
                lost = self._take()
                self.overruns += len(lost) if lost is not None else 0

    def drop_to_newest(self) -> int:
        dropped, self.backlog = self.backlog - 1, 1
        for _ in range(dropped):
            self._take()
        return dropped


class LoopSpeaker(Opened):
    """A loudspeaker that plays in the running loop's time. `heard` is what it has played, by time."""

    name = "loop"
    keeps_time = False
    overruns = underruns = 0

    def __init__(self) -> None:
        self.written = self.flushed = 0
        self.heard: list[tuple[float, np.ndarray]] = []
        self._dry_at = 0.0

    @property
    def queued(self) -> int:
        return max(0, round((self._dry_at - asyncio.get_running_loop().time()) * SAMPLE_RATE))

    @property
    def played(self) -> int:
        return self.written - self.queued - self.flushed

    def write(self, samples: np.ndarray) -> None:
        if not len(samples):
            return
        begin = max(self._dry_at, asyncio.get_running_loop().time() + 0.04)
        self.heard.append((begin, samples.copy()))
        self._dry_at = begin + len(samples) / SAMPLE_RATE
        self.written += len(samples)

    def flush(self) -> int:
        thrown, now = self.queued, asyncio.get_running_loop().time()
        for begin, samples in reversed(self.heard):
            if begin + len(samples) / SAMPLE_RATE < now:
                break  # heard long ago
            samples[max(0, round((now - begin) * SAMPLE_RATE)) :] = 0
        self.flushed += thrown
        self._dry_at = 0.0
        return thrown

    def sounding(self, begin: float, end: float) -> bool:
        """Whether anything was to be heard between two times."""
        for at, samples in self.heard:
            first, last = (round((t - at) * SAMPLE_RATE) for t in (begin, end))
            if last > 0 and np.abs(samples[max(0, first) : last]).max(initial=0) > 0.01:
                return True
        return False


@dataclass
class Talk:
    """What a simulated talk left behind."""

    events: list[e.Event]
    transcript: Transcript
    speaker: LoopSpeaker
    backend: ScriptedBackend
    voice: ScriptedVoice
    tasks_left: set[str] = field(default_factory=set)

    def of(self, *types: type) -> list:
        """The events of some types, in order."""
        return [event for event in self.events if isinstance(event, types)]

    def said(self, turn: int) -> str:
        """What the listener heard as the answer to a turn."""
        return " ".join(event.text for event in self.of(e.AssistantSaid) if event.turn == turn)


def simulate(
    script: list[ScriptedTurn],
    reply: Callable[[ChatRequest], ScriptedAnswer],
    *,
    seconds: float = 20.0,
    answer_mode: e.AnswerMode = "thinking",
    record: Path | None = None,
    voice: ScriptedVoice | None = None,
    source: AudioSource | None = None,
    concurrent: bool = True,
    enough_words: int = 0,
    interval: float = 0.1,
    backend: Backend | None = None,
    during: Callable[[Session], None] | None = None,
    edge: Callable[[AudioSource, LoopSpeaker], DuplexAudio] | None = None,
    openings: bool = False,
    duplex: bool = True,
    **more: Any,
) -> Talk:
    """Runs a conversation and returns what happened.

    - `during`: is called once the session runs.
    - `more`: fields of `SessionParts`, of `SessionConfig`, and of the session's choice.
    """

    async def run() -> Talk:
        answering = backend or ScriptedBackend(
            reply, concurrent=concurrent, enough_words=enough_words, least_interval=interval
        )
        speaker, mouth = LoopSpeaker(), voice or ScriptedVoice()
        failures: list[str] = []
        heard = source or QuietSource(round(seconds / 0.08))
        for rehearsal in REHEARSALS:
            heard = rehearsal.wrap(heard, seconds)
        around = edge(heard, speaker) if edge is not None else None
        own: dict[str, Any] = {
            "frontend": CascadeFrontEnd(mouth, answer_mode, openings=openings),
            "transcriber": ScriptedTranscriber(script),
            "voice_activity": ScriptedVoiceActivity(script),
            "backend": answering,
            "source": heard if around is None else around.source,
            "sink": speaker if around is None else around.sink,
            "edge": around,
            "recorder": Recorder(record, failures.append) if record else None,
        }
        parts = SessionParts(**{**own, **_fields_of(SessionParts, more)})
        running: dict[str, Any] = {"pace": "simulated", **_fields_of(SessionConfig, more)}
        choice = SessionChoice(answer_mode=answer_mode, openings=openings, duplex=duplex, **more)
        session = Session(parts, SessionConfig(choice, **running))
        events: list[e.Event] = []
        async with session:
            session.add_listener(events.append)
            if during is not None:
                during(session)
            await session.ended()
        left = {t.get_name() for t in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # type: ignore
        return Talk(events, session.transcript, speaker, answering, mouth, left)

    talk = run_simulated(run())
    for rehearsal in REHEARSALS:
        rehearsal.talks.append(talk)
    return talk


def _fields_of(kind: type[SessionParts | SessionConfig], given: dict[str, Any]) -> dict[str, Any]:
    """Takes the fields of `kind` out of `given`. None means the default."""
    found = {name: given.pop(name) for name in (field.name for field in fields(kind)) if name in given}
    return {name: value for name, value in found.items() if value is not None}


REHEARSALS: list[Any] = []
"""At most one `tests.support.gaps.Rehearsal`: what the talks of a test suffer, and how they went."""


def scripted_parts(
    script: Sequence[ScriptedTurn], source: AudioSource, reply: str = "", mode: e.AnswerMode = "thinking", **more: Any
) -> SessionParts:
    """The parts of a session that hears `script` and answers with `reply`; `more`: other parts in their place."""
    usual: dict[str, Any] = {
        "frontend": CascadeFrontEnd(ScriptedVoice(), mode, openings=False),
        "transcriber": ScriptedTranscriber(script),
        "voice_activity": ScriptedVoiceActivity(script),
        "backend": ScriptedBackend(lambda request: answer(reply)),
        "source": source,
        "sink": LoopSpeaker(),
    }
    return SessionParts(**usual | more)


async def change(session: Session, **parts: Any) -> None:
    """Changes a running session, and waits until the change is made or refused."""
    session.change(**parts)
    await session.backends.settled()


async def events_of(session: Session, seconds: float = 60.0) -> list[e.Event]:
    """Runs a session to its end, by itself within so many seconds; returns its events."""
    events: list[e.Event] = []
    async with session:
        session.add_listener(events.append)
        await asyncio.wait_for(session.ended(), seconds)
    return events


def calling(*calls: tuple[float, Callable[[Session], object]]) -> Callable[[Session], None]:
    """Calls these functions of the session at these times, for `simulate`; coroutines run as tasks."""
    tasks: list[asyncio.Task[Any]] = []

    def during(session: Session) -> None:
        def call_now(call: Callable[[Session], object]) -> None:
            result = call(session)
            if asyncio.iscoroutine(result):
                tasks.append(asyncio.get_running_loop().create_task(result))

        for when, call in calls:
            asyncio.get_running_loop().call_later(when, call_now, call)

    return during


def making(make: Callable[[BackendChoice], Backend]) -> Callable[[BackendChoice], Awaitable[Backend]]:
    """Creates a session's back-ends for its choices, without delay."""

    async def at_once(choice: BackendChoice) -> Backend:
        return make(choice)

    return at_once


def at(seconds: float, do: Callable[[Session], object]) -> Callable[[Session], None]:
    """Like `calling`, for a single call."""
    return calling((seconds, do))


def hand_over(session: Session) -> None:
    """Lets the two back-ends of a session change roles."""
    if session.choice.secondary is not None:
        session.change(backend=session.choice.secondary, secondary=session.choice.backend)
