"""A demo service whose sessions are scripted: they run by their own clock, as fast as the loop goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.audio.devices.paced import Spoken
from app.conversation import events as e
from app.demo.base import DemoBackend, DemoOffer, DemoQuestion
from app.demo.record import Pair, record_pair
from app.session.control import BackendChoice, Progress, Refusal, SessionChoice, SessionState, UserError

FRAME = 0.08
WORD = 0.24
LIVE_PACE = 0.003
"""Of a session on the devices: an answer can be interrupted."""
RATE = 24_000
SHIPPED = 1_795_000_000.0
"""When the recordings that come with the app were made."""
QUESTIONS = tuple(
    DemoQuestion(text, np.full(round(seconds * RATE), 0.1, np.float32), seconds)
    for text, seconds in (("Why is it so?", 1.6), ("Who said that?", 2.4), ("When was that?", 0.8))
)
FIRST = DemoBackend(BackendChoice("embedded", "first"), "First")
SECOND = DemoBackend(BackendChoice("embedded", "second"), "Second")
DEAR = DemoBackend(BackendChoice("openai", "dear-1"), "OpenAI: dear-1", costs=True)


@dataclass(frozen=True)
class Voice:
    """How a side answers: so many seconds after the question, in these words, after these thoughts, the first of which
    comes with the question's first words. `quiet`: never; `fails`: with this sentence."""

    response: float = 0.24
    words: str = "It is so because it was made so"
    thoughts: tuple[str, ...] = ()
    quiet: bool = False
    fails: str = ""


CASCADE = Voice(0.96)
TANDEM = Voice(0.24, thoughts=("It was a", "It is so"))


@dataclass
class ScriptedDemoService:
    """A scripted `DemoService`. `refused`: by model, why a session, or a change to it, fails. Recorded sessions begin
    only once `gate` is open."""

    found: tuple[DemoBackend, ...] = (FIRST, SECOND)
    frontend: str = "cascade"
    cascade: Voice = CASCADE
    tandem: Voice = TANDEM
    refused: dict[str, str] = field(default_factory=dict)
    no_devices: str = ""
    """Why no session on the devices can start."""
    gate: asyncio.Event | None = None
    lost_after: int = 0
    questions: tuple[DemoQuestion, ...] = QUESTIONS
    shipped: tuple[Pair, ...] = ()
    known: tuple[BackendChoice, ...] = ()
    """What the user has, as told by the window."""
    started: list[ScriptedTalk] = field(default_factory=list)
    """All sessions that nobody hears."""
    recorded: list[ScriptedTalk] = field(default_factory=list)
    """Those of them that were asked."""
    live: list[ScriptedTalk] = field(default_factory=list)

    async def ship(self) -> None:
        """Makes the recordings that come with the app."""
        service, offer = ScriptedDemoService(cascade=self.cascade, tandem=self.tandem), DemoOffer((FIRST,))
        pairs = [await record_pair(service, offer, 0, question, "cascade") for question in self.questions]
        self.shipped = tuple(replace(pair, machine="a laptop", backend="Shipped", began=SHIPPED) for pair in pairs)

    async def offer(self, known: Iterable[BackendChoice] = ()) -> DemoOffer:
        self.known = tuple(known)
        return DemoOffer(self.found, self.frontend)

    async def start(self, choice: SessionChoice) -> tuple[ScriptedTalk, ScriptedTalk]:
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        if choice.backend.model in self.refused:
            raise UserError(self.refused[choice.backend.model])
        talk = ScriptedTalk(self, choice)
        self.started.append(talk)
        return talk, talk

    async def talk(self, choice: SessionChoice, progress: Callable[[Progress], None]) -> ScriptedTalk:
        progress(Progress(("voice",)))
        await asyncio.sleep(0)
        if self.no_devices:
            raise UserError(self.no_devices)
        self.live.append(ScriptedTalk(self, choice, LIVE_PACE))
        return self.live[-1]

    def sound(self, loudspeaker: str) -> None:
        return None


class ScriptedTalk:
    """A session and its microphone in one. Once the microphone is no longer muted, a visitor asks. `pace`: seconds that
    a frame takes."""

    def __init__(self, service: ScriptedDemoService, choice: SessionChoice, pace: float = 0.0) -> None:
        self.state = SessionState(choice, choice.backend)
        self.asked: list[Spoken] = []
        self.stopped = 0
        self.now = 0.0
        self._service = service
        self._pace = pace
        self._listeners: list[Callable[[e.Event], None]] = []
        self._state_listeners: list[Callable[[SessionState], None]] = []
        self._turn = self._revision = 0
        self._task: asyncio.Task[None] | None = None
        self._anew = False

    @property
    def _voice(self) -> Voice:
        return self._service.cascade if self.choice.answer_mode == "after" else self._service.tandem

    @property
    def choice(self) -> SessionChoice:
        return self.state.wanted

    def on_state(self, listener: Callable[[SessionState], None]) -> None:
        self._state_listeners.append(listener)
        listener(self.state)

    def _publish(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        for listener in self._state_listeners:
            listener(self.state)

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        self._listeners.append(listener)
        self._say(e.SessionStarted(0.0, "cascade", "recogniser", "backends", "model", self.choice.answer_mode))

    def ask(self, question: Spoken) -> float:
        self.asked.append(question)
        self._service.recorded.append(self)
        begins = round(self.now + 0.64, 6)
        self._begin(self._answer(begins, begins + question.seconds))  # type: ignore[attr-defined]
        return begins

    def sound_of(self, speaker: str, begin: float, end: float) -> np.ndarray | None:
        return np.full(max(0, round((end - begin) * RATE)), 0.2, np.float32)

    def apply(self, choice: SessionChoice, *, reopen: Collection[str] = ()) -> None:
        before = self.choice
        self._publish(wanted=choice, refused=())
        if before.muted and not choice.muted:
            self._begin(self._answer(self.now + 0.4, self.now + 1.6))
        if choice.backend != before.backend:
            self._swap = asyncio.get_running_loop().create_task(self._change_backend(choice.backend))

    async def stop(self) -> None:
        if self.stopped:
            return
        self.stopped += 1
        if self._task is not None:
            self._task.cancel()
        await asyncio.sleep(0)
        self._say(e.SessionEnded(self.now, 0))

    # -- what happens

    async def _change_backend(self, choice: BackendChoice) -> None:
        await asyncio.sleep(0)
        told = choice.public
        if choice.model in self._service.refused:
            sentence = self._service.refused[choice.model]
            wanted = replace(self.choice, backend=self.state.driving)
            self._publish(wanted=wanted, refused=(Refusal("backend", choice, sentence),))
            self._say(e.ChangeRefused(self.now, "backend", sentence, *told))
        else:
            self._anew = True
            self._publish(driving=choice, driver_number=self.state.driver_number + 1)
            self._say(e.BackendChanged(self.now, "backends", choice.model, "chosen", *told))

    def _begin(self, work: Any) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(work, name="scripted answer")

    def _say(self, event: e.Event) -> None:
        for listener in list(self._listeners):
            listener(event)

    async def _pass(self, until: float, user: float = -90.0, assistant: float = -90.0) -> None:
        while self.now < until - 1e-6:
            self.now = round(self.now + FRAME, 6)
            self._say(e.LevelMeasured(self.now, user, assistant))
            await asyncio.sleep(self._pace)

    async def _answer(self, begins: float, end: float) -> None:
        voice = self._voice
        await self._pass(begins)
        self._turn += 1
        turn = self._turn
        self._say(e.UserStarted(self.now, turn))
        revision, step = 0, (end - begins) / (len(voice.thoughts) + 1)
        for place, thought in enumerate(voice.thoughts, 1):
            await self._pass(begins + place * step, user=-20.0)
            revision = self._think(turn, thought, final=False, before=revision)
        await self._pass(end, user=-20.0)
        await self._pass(end + 0.16)
        self._say(e.UserEnded(self.now, turn, end, "words"))
        self._say(e.TranscriptFinal(self.now, turn, "What was asked?", end))
        if voice.fails:
            self._say(e.Failure(self.now, "backend", voice.fails))
        if voice.quiet or voice.fails:
            await self._pass(self.now + 60)
            return
        revision = self._think(turn, voice.words, final=True, before=revision)
        await self._pass(end + voice.response)
        self._say(e.AssistantStarted(self.now, turn, revision))
        await self._speak(turn, revision, voice.words)
        self._say(e.AssistantEnded(self.now, turn, False))
        await self._pass(self.now + 60)

    async def _speak(self, turn: int, revision: int, answer: str) -> None:
        words = answer.split()
        for said in range(200):
            if not words:
                return
            await self._pass(self.now + WORD, assistant=-12.0)
            self._say(e.AssistantSaid(self.now, turn, words.pop(0), revision))
            if self._service.lost_after == said + 1:
                self._say(e.Failure(self.now, "audio", "The loudspeaker is gone.", fatal=True))
                await asyncio.Event().wait()
            if self._anew:
                self._anew = False
                revision = self._think(turn, f"{self.choice.backend.model} says no", final=True, before=revision)
                words = f"{self.choice.backend.model} says no".split()

    def _think(self, turn: int, text: str, *, final: bool, before: int) -> int:
        self._revision += 1
        model = self.choice.backend.model
        self._say(e.OracleRequested(self.now, self._revision, turn, "backends", model, "What was", final))
        self._say(e.OracleDelta(self.now, self._revision, text))
        if before:
            self._say(e.OracleSuperseded(self.now, before, self._revision))
        self._say(e.OracleEnded(self.now, self._revision, "complete", len(text.split())))
        return self._revision
