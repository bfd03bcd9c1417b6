"""Lets VoiceBench (Apache-2.0), and benches built like it, ask this app: an assistant with `generate_audio`.

VoiceBench has a class for each model, and calls `generate_audio({"array": samples, "sampling_rate": 16000})`, which
returns the answer's text. `python -m app.research.commands.bench_mtbench` prints the line to add to its map.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import soxr

from app.backend.base import Backend, Usage
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.mtbench.asking import Answer, ask_aloud, ask_typed
from app.research.benches.mtbench.plan import Question, SpokenTurn, System
from app.research.benches.recordings import MakeSession, voice_end
from app.session.control import BackendChoice


class SpokenAssistant:
    """Answers one question at a time, each in a fresh session in real time. `system`: a tandem, a cascade, KAME …"""

    def __init__(
        self,
        system: System,
        make_session: MakeSession,
        make_backend: Callable[[BackendChoice], Backend],
        cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None,
    ) -> None:
        self._system = system
        self._make_session = make_session
        self._make_backend = make_backend
        self._cost = cost
        self._count = 0

    def generate_audio(self, audio: Mapping[str, Any], max_new_tokens: int = 2048) -> str:
        """The words of the spoken answer to a spoken question. `audio`: `array` and `sampling_rate`."""
        return self._ask(audio).said

    def generate_ttft(self, audio: Mapping[str, Any]) -> float:
        """Seconds from the end of the question to the first sound of the answer; inf without one."""
        first = self._ask(audio).first_sound
        return float("inf") if first is None else first

    def generate_text(self, text: str) -> str:
        """The back-end's answer to the same question as text."""
        question = Question(self._next(), "", (text,))
        typed = System("typed", self._system.backend)
        return _run(lambda: ask_typed(self._make_backend, self._cost, typed, 0, question))[0].said

    def _ask(self, audio: Mapping[str, Any]) -> Answer:
        samples = np.asarray(audio["array"], np.float32).reshape(-1)
        sound = soxr.resample(samples, int(audio["sampling_rate"]), SAMPLE_RATE).astype(np.float32)
        if not np.abs(sound).max(initial=0.0) > 0.01:
            return Answer(self._system.name, 0, 0, 1, "", "")
        question = Question(self._next(), "", ("",))
        turn = SpokenTurn("", sound, voice_end(sound))
        return _run(lambda: ask_aloud(self._make_session, self._system, 0, question, [turn]))[0]

    def _next(self) -> int:
        self._count += 1
        return self._count


def _run(make: Callable[[], Any]) -> list[Answer]:
    """Runs a coroutine to its end, also where the caller's thread has a loop of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        found: list[Answer] = asyncio.run(make())
        return found
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(make())).result()
