"""Conversations with a model in its own process: the same, event by event, as with the model in this one; and what a
process that fails leaves."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.frontend.cascade import CascadeFrontEnd
from app.frontend.kame.engine.checkpoint import Loaded, load
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.frontend import KameFrontEnd
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.spoken_words import Pieces, read_pieces
from app.models.layout import CheckpointFiles, read_layout
from tests.support.engines import InProcess
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.talks import Talk, simulate
from tests.support.telling_worker import tell
from tests.support.tiny_kame import SMALL_LM, SMALL_MIMI, make_checkpoint

pytestmark = [pytest.mark.slow, pytest.mark.without_gaps]
TALKS = int(os.environ.get("KAME_DESKTOP_TALKS", "2"))
"""How many random conversations are compared; more by hand."""
WORDS = "What is the capital of France and why does a river flow into the sea when the moon is high".split()
ANSWERS = (
    "The capital of France is Paris, and it lies on the river Seine.",
    "It depends. I would say that 5,895 metres is high; isn't it?",
    "Yes.",
    "Plants turn light, water and air into sugar; we call it photosynthesis. There is more to say about it.",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> CheckpointFiles:
    folder = make_checkpoint(
        tmp_path_factory.mktemp("weights") / "kame", lm={**SMALL_LM, "context": 120}, mimi=SMALL_MIMI
    )
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "lm_gen_config": {"use_sampling": False}}))
    return read_layout(folder)


class Borrowed:
    """A source that lends one process, which a failure ends."""

    progress, loaded_again = "", False

    def __init__(self, process: EngineProcess, files: CheckpointFiles) -> None:
        self.process, self._files = process, files

    def open(self) -> tuple[EngineProcess, Pieces]:
        self.process.restart()
        return self.process, read_pieces(self._files.tokenizer)

    def close(self, *, failed: bool) -> None:
        if failed:
            self.process.close()

    def cancel(self) -> None: ...


def started(files: CheckpointFiles) -> EngineProcess:
    process = EngineProcess(real_time=False, module="tests.support.telling_worker")
    process.load(LoadRequest(str(files.folder), "KAME", device="cpu"))
    return process


@pytest.fixture(scope="module")
def process(files: CheckpointFiles) -> Iterator[EngineProcess]:
    running = started(files)
    yield running
    running.close()


def script(seed: int) -> tuple[list[ScriptedTurn], Callable[[ChatRequest], ScriptedAnswer], float]:
    """Returns turns of random words and lengths, some of them over the answer, and answers at random speeds."""
    draw = random.Random(seed)
    turns, at = list[ScriptedTurn](), 1.0
    for _ in range(draw.randint(1, 3)):
        words = " ".join(draw.choices(WORDS, k=draw.randint(1, 9)))
        end = at + draw.uniform(0.6, 2.5)
        turns.append(ScriptedTurn(at, end, words + draw.choice("?.")))
        at = end + draw.uniform(1.0, 5.0)

    def reply(request: ChatRequest) -> ScriptedAnswer:
        chosen = random.Random(seed + len(request.messages[-1].content))
        return answer(chosen.choice(ANSWERS), first=chosen.uniform(0.1, 1.5), every=chosen.uniform(0.02, 0.25))

    return turns, reply, at + 4.0


@pytest.mark.parametrize("seed", range(TALKS))
def test_a_conversation_is_the_same_with_the_model_in_its_own_process(
    seed: int, files: CheckpointFiles, process: EngineProcess
) -> None:
    turns, reply, seconds = script(seed)

    def told() -> Loaded:
        loaded = load(files, device="cpu", dtype=torch.float32)
        tell(loaded)
        return loaded

    talks = [
        simulate(turns, reply, seconds=seconds, interval=0.2, frontend=KameFrontEnd(source))
        for source in (InProcess(told), Borrowed(process, files))
    ]
    here, there = (events_of(talk) for talk in talks)
    assert len(here) > 20 and here == there
    for (at, ours), (other, theirs) in zip(talks[0].speaker.heard, talks[1].speaker.heard, strict=True):
        assert at == other and np.array_equal(ours, theirs)


def events_of(talk: Talk) -> list[e.Event]:
    kinds = (e.UserStarted, e.UserEnded, e.TranscriptFinal, e.OracleTaken, e.AssistantStarted)
    more = (e.AssistantSaid, e.AssistantEnded, e.ContextMeasured, e.ContextRestarted, e.LevelMeasured)
    return talk.of(*kinds, *more)


@pytest.mark.parametrize("at", [2.0, 3.3])
def test_a_process_that_dies_loses_no_word_and_another_voice_continues(files: CheckpointFiles, at: float) -> None:
    process = started(files)
    turns = [ScriptedTurn(1.0, 3.0, "What is the capital of France?"), ScriptedTurn(8.0, 9.0, "And of Spain?")]

    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer("Madrid." if "Spain" in request.messages[-1].content else "The capital of France is Paris.")

    def during(session: object) -> None:
        import asyncio

        assert process._process is not None
        asyncio.get_running_loop().call_later(at, process._process.kill)

    talk = simulate(
        turns,
        reply,
        seconds=13,
        frontend=KameFrontEnd(Borrowed(process, files)),
        fallback=lambda: CascadeFrontEnd(ScriptedVoice()),
        during=during,
    )
    [failure] = talk.of(e.Failure)
    assert failure.sentence.startswith("KAME stopped working (the system ended its process")
    assert "built-in voice" in failure.sentence and not failure.fatal
    assert [turn.text for turn in talk.transcript.turns if turn.speaker == "user"] == [turn.words for turn in turns]
    assert talk.said(1).endswith("is Paris.") and talk.said(2) == "Madrid."
    assert not process.alive()
