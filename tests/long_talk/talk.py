"""The session of a long talk: every part scripted, its events given on as they come, nothing kept."""

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from app.audio.devices.paced import PacedListener
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.frontend.cascade import CascadeFrontEnd
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.recorder import Recorder
from app.session.session import Session
from app.tts.base import Clip
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice, ScriptedVoiceActivity
from tests.support.talks import QuietSource

ROUND_SECONDS = 28.8
"""A question and its answer: 2,000 turns in eight hours."""
WORDS = (
    "the river runs past an old mill where people used to bring their corn and today there is a small museum about "
    "bread mountains weather children school bridge carries its load window light summer train ticket garden water"
).split()


class _Forgetful(ScriptedBackend):
    """Answers at random length, and keeps no request."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        super().__init__(self._reply)

    def _reply(self, request: ChatRequest) -> ScriptedAnswer:
        self.requests.clear()
        return answer(_sentence(self._chance, self._chance.randint(12, 30)), first=0.2, every=0.03)


class _QuietVoice(ScriptedVoice):
    """A voice that keeps no text."""

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        self.spoken.clear()
        return super().synthesize(text)


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def script_of(seconds: float, seed: int = 5) -> list[ScriptedTurn]:
    chance = random.Random(seed)
    starts = np.arange(1.0, seconds - ROUND_SECONDS / 2, ROUND_SECONDS)
    return [
        ScriptedTurn(float(start), float(start) + 4.0, _sentence(chance, chance.randint(8, 16))[:-1] + "?")
        for start in starts
    ]


class LongTalk(threading.Thread):
    """Runs the session in simulated time and gives each event to `deliver`, which may make it wait."""

    def __init__(self, seconds: float, record: Path, deliver: Callable[[e.Event], None]) -> None:
        super().__init__(name="long talk", daemon=True)
        self.failures: list[str] = []
        self.error: BaseException | None = None
        self._seconds, self._record, self._deliver = seconds, record, deliver

    def run(self) -> None:
        try:
            run_simulated(self._talk())
        except BaseException as error:
            self.error = error

    async def _talk(self) -> None:
        script = script_of(self._seconds)
        parts = SessionParts(
            frontend=CascadeFrontEnd(_QuietVoice(), "thinking", openings=False),
            transcriber=ScriptedTranscriber(script),
            voice_activity=ScriptedVoiceActivity(script),
            backend=_Forgetful(3),
            source=QuietSource(round(self._seconds / 0.08)),
            sink=PacedListener(lambda: asyncio.get_running_loop().time()),
            recorder=Recorder(self._record, self.failures.append),
        )
        choice = SessionChoice(answer_mode="thinking", openings=False, duplex=True)
        async with Session(parts, SessionConfig(choice, pace="simulated")) as session:
            session.add_listener(self._deliver)
            await session.ended()
