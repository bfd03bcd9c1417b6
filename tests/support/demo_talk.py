"""A demo service whose talks are scripted: they run by their own clock, as fast as the loop goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.conversation import events as e
from app.demo.base import DemoBackend, DemoFrontEnd, DemoQuestion
from app.session.control import BackendChoice, SessionChoice
from app.session.errors import UserError

FRAME = 0.08
WORD = 0.32

QUESTIONS = tuple(
    DemoQuestion(name, text, np.zeros(10, np.float32), seconds)
    for name, text, seconds in (("a", "Why is it so?", 1.6), ("b", "Who said that?", 2.4), ("c", "Tell me all.", 3.2))
)
FIRST = DemoBackend(BackendChoice(), "First")
SECOND = DemoBackend(BackendChoice("embedded", "second"), "Second")
DEAR = DemoBackend(BackendChoice("openai", "dear-1"), "OpenAI: dear-1", costs=True)
BOTH_MANNERS = DemoFrontEnd("cascade", "Cascade", ("after", "thinking"))
QUICK_ANSWER_MODE = DemoFrontEnd("cascade", "Cascade", ("thinking",))


@dataclass
class Voice:
    """How a back-end answers: so many seconds after the question, in these words. `quiet`: never."""

    response: float = 0.24
    words: str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    quiet: bool = False
    fails: str = ""


@dataclass
class ScriptedDemoService:
    """A scripted `DemoService`. `voices` by model; `refused` by model: why a session, or a swap, fails."""

    found: tuple[DemoBackend, ...] = (FIRST, SECOND)
    ways: tuple[DemoFrontEnd, ...] = (BOTH_MANNERS,)
    voices: dict[str, Voice] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    swap_refused: dict[str, str] = field(default_factory=dict)
    gate: asyncio.Event | None = None
    lost_after: int = 0
    hold_from: int = 0
    """From this question on none is answered: the tour stands still there."""
    asked: int = 0
    questions: tuple[DemoQuestion, ...] = QUESTIONS
    talks: list[ScriptedTalk] = field(default_factory=list)

    async def backends(self) -> tuple[DemoBackend, ...]:
        return self.found

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        return self.ways

    async def start(self, choice: SessionChoice, progress: Callable[[str], None]) -> tuple[ScriptedTalk, ScriptedTalk]:
        progress("loading")
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        if choice.backend.model in self.refused:
            raise UserError(self.refused[choice.backend.model])
        talk = ScriptedTalk(self, choice)
        self.talks.append(talk)
        return talk, talk

    def voice(self, choice: BackendChoice) -> Voice:
        return self.voices.get(choice.model, Voice())


class ScriptedTalk:
    """A session and its microphone in one."""

    def __init__(self, service: ScriptedDemoService, choice: SessionChoice) -> None:
        self.choice = choice
        self.backend = choice.backend
        self.asked: list[DemoQuestion] = []
        self.calls: list[tuple[Any, ...]] = []
        self.stopped = 0
        self.now = 0.0
        self._service = service
        self._listeners: list[Callable[[e.Event], None]] = []
        self._turn = self._revision = 0
        self._task: asyncio.Task[None] | None = None
        self._anew = False

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *values: self.calls.append((name, *values))

    def add_listener(self, listener: Callable[[e.Event], None]) -> None:
        first = not self._listeners
        self._listeners.append(listener)
        if first:
            self._say(
                e.SessionStarted(0.0, "cascade", "recogniser", "backends", self.backend.model, self.choice.answer_mode)
            )

    def ask(self, question: DemoQuestion) -> float:
        self.asked.append(question)
        self._service.asked += 1
        if self._task is not None:
            self._task.cancel()
        begins = self.now + 0.64
        self._task = asyncio.get_running_loop().create_task(self._answer(question, begins), name="scripted answer")
        return begins

    def apply(self, choice: SessionChoice, *, reopen: Collection[str] = ()) -> None:
        before, self.choice = self.choice, choice
        if choice.backend != before.backend:
            self._swap = asyncio.get_running_loop().create_task(self._change_backend(choice.backend))
        elif choice != before:
            self.calls.append(("apply", choice))

    async def _change_backend(self, choice: BackendChoice) -> None:
        await asyncio.sleep(0)
        told = choice.provider, choice.model, choice.base_url
        if choice.model in self._service.swap_refused:
            self._say(e.ChangeRefused(self.now, "backend", self._service.swap_refused[choice.model], *told))
        else:
            self.backend, self._anew = choice, True
            self._say(e.BackendChanged(self.now, "backends", choice.model, "chosen", *told))

    async def stop(self) -> None:
        if self.stopped:
            return
        self.stopped += 1
        if self._task is not None:
            self._task.cancel()
        await asyncio.sleep(0)
        self._say(e.SessionEnded(self.now, 0))

    def _say(self, event: e.Event) -> None:
        for listener in list(self._listeners):
            listener(event)

    async def _pass(self, until: float, dbfs: float = -90.0) -> None:
        while self.now < until - 1e-6:
            self.now = round(self.now + FRAME, 6)
            self._say(e.LevelMeasured(self.now, -20.0, dbfs))
            await asyncio.sleep(0)

    async def _answer(self, question: DemoQuestion, begins: float) -> None:
        if self._service.hold_from and self._service.asked >= self._service.hold_from:
            return
        await self._pass(begins)
        self._turn += 1
        turn = self._turn
        self._say(e.UserStarted(self.now, turn))
        end = begins + question.seconds
        await self._pass(end + 0.16)
        self._say(e.UserEnded(self.now, turn, end, "words"))
        self._say(e.TranscriptFinal(self.now, turn, question.text, end))
        voice = self._service.voice(self.backend)
        if voice.fails:
            self._say(e.Failure(self.now, "backend", voice.fails))
        if voice.quiet or voice.fails:
            await self._pass(self.now + 60)
            return
        revision = self._request(turn, question.text)
        await self._pass(end + voice.response)
        self._say(e.AssistantStarted(self.now, turn, revision))
        words, self._anew = voice.words.split(), False
        while words:
            await self._pass(self.now + WORD, -20.0)
            self._say(e.AssistantSaid(self.now, turn, words.pop(0), revision))
            if self._service.lost_after and len(voice.words.split()) - len(words) == self._service.lost_after:
                self._say(e.Failure(self.now, "audio", "The loudspeaker is gone.", fatal=True))
                return
            if self._anew:
                self._anew = False
                revision = self._request(turn, question.text)
                voice = self._service.voice(self.backend)
                words = voice.words.split()
                await self._pass(self.now + 0.4)  # it was silent for so long
                self._say(e.AssistantCorrected(self.now, turn, revision, "corrected"))
        self._say(e.AssistantEnded(self.now, turn, False))
        await self._pass(self.now + 60)

    def _request(self, turn: int, words: str) -> int:
        self._revision += 1
        self._say(e.OracleRequested(self.now, self._revision, turn, "backends", self.backend.model, words, True))
        self._say(e.OracleDelta(self.now + 0.05, self._revision, "one two"))
        return self._revision
