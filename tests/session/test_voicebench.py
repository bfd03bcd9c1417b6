"""The assistant that benches from outside ask: sound in, words out, each question in a session of its own."""

from typing import Any

import numpy as np
import pytest

from app.audio.io.base import AudioSink, AudioSource
from app.backend.scripted import ScriptedBackend, answer
from app.research.benches.mtbench.plan import System
from app.research.commands.bench_mtbench import VARIABLE, SpokenAssistant, kame_assistant
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import scripted_parts

pytestmark = pytest.mark.slow


def assistant() -> SpokenAssistant:
    script = [ScriptedTurn(1.7, 2.5, "What is the capital of Sweden?")]

    def session(choice: SessionChoice, source: AudioSource, sink: AudioSink, **how: Any) -> Session:
        parts = scripted_parts(script, source, "It is Stockholm.", choice.answer_mode, sink=sink)
        return Session(parts, SessionConfig(choice, end_with_input=False))

    return SpokenAssistant(System("tandem"), session, lambda choice: ScriptedBackend(lambda _: answer("Stockholm.")))


def test_a_spoken_question_gives_the_words_of_the_spoken_answer() -> None:
    asked = {"array": np.full(16_000, 0.2), "sampling_rate": 16_000}
    one = assistant()
    assert one.generate_audio(asked) == "It is Stockholm."
    assert one.generate_text("What is the capital of Sweden?") == "Stockholm."
    assert one.generate_audio({"array": np.zeros(16_000), "sampling_rate": 16_000}) == ""


def test_the_environment_names_the_system(monkeypatch: Any) -> None:
    monkeypatch.setenv(VARIABLE, "cascade=ollama:gemma3:4b")
    assert kame_assistant()._system == System("cascade", kame_assistant()._system.backend)
    assert kame_assistant()._system.backend.model == "gemma3:4b"
