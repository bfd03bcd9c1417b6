"""Captured frames against plain calls, on graphs that are emulated on the processor, and captures that fail."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.frontend.kame.engine import engine as engines
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.graphs import CaptureError, FrameGraphs
from app.frontend.kame.engine.random_weights import random_models
from app.frontend.kame.engine.worker import fault_of
from app.frontend.kame.stream_engine import EngineStep
from tests.support.emulated_graphs import INVALIDATED, EmulatedCard
from tests.support.emulated_kernels import compile_for_processor, use_emulated
from tests.support.tables import cases
from tests.support.tiny_kame import MIMI, make_mimi

pytestmark = pytest.mark.slow
CONTEXT = 64
GREEDY, SAMPLED = {"use_sampling": False}, {"use_sampling": True, "temp": 0.8, "temp_text": 0.7}
ORACLE = {index: 5 + index for index in (*range(10, 30), *range(72, 80))}
GRAPHS = [("encode", 0), ("frame", 16), ("frame", 32), ("frame", CONTEXT), ("lm", 16), ("lm", 32)]


@pytest.fixture(autouse=True)
def short_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lengths of attention, which 64 frames pass through."""
    monkeypatch.setattr(engines, "BUCKETS", (16, 32))


@contextmanager
def entered(make: Callable[..., Engine], sampling: dict[str, Any]) -> Iterator[Engine]:
    models = random_models("tiny", "bf16", torch.device("cpu"), CONTEXT)
    with make(models.lm, make_mimi(0, MIMI), sampling=sampling) as engine:
        torch.manual_seed(7)
        yield engine


def talk(engine: Engine, frames: int = 120) -> list[EngineStep]:
    """Frames with an oracle, forced silence, past the end of the context, with both kinds of a fresh stream."""
    sound = np.random.default_rng(0).normal(0, 0.1, (frames, 1920)).astype(np.float32)
    out: list[EngineStep] = []
    for index, samples in enumerate(sound):
        if index == 70:
            engine.restart_language_model()
            for step in out[-20:]:
                engine.replay(step.column)
        if index == 85:
            out += [step for again in sound[:3] for step in engine.encode(again)]
        if index == 100:
            engine.restart()
        out += engine.step(samples, ORACLE.get(index, engine.tokens.padding), silent=30 <= index < 37)
    return out


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_captured_frames_are_plain_calls_to_the_bit(sampling: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with entered(Engine, sampling) as engine:
        plain = talk(engine)
    card = EmulatedCard(monkeypatch)
    with entered(card.engine, sampling) as engine:
        captured = talk(engine)
        assert sorted(engine.graphs._graphs) == GRAPHS and len(card.graphs) == len(GRAPHS)
    assert [step.column for step in captured] == [step.column for step in plain]
    assert all(np.array_equal(one.samples, other.samples) for one, other in zip(captured, plain, strict=True))
    assert len(plain) == 123 and len({step.column.user for step in plain}) > 100
    assert sum(bool(step.samples.any()) for step in plain) > 100
    # What other threads do with the card can't spoil a capture, and one pool holds all graphs.
    assert {graph.mode for graph in card.graphs} == {"thread_local"}
    assert len({graph.pool for graph in card.graphs}) == 1 and card.graphs[0].pool is not None


def test_captured_launches_of_own_kernels_are_plain_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In bf16, with the kernels run on the processor."""
    monkeypatch.setattr(engines, "BUCKETS", ())
    names = ("rms_norm", "silu_gate", "rope_write")
    launched = use_emulated(monkeypatch, compile_for_processor(tmp_path, kernels.SOURCE.read_text("utf-8")), *names)
    seen = []
    for captures in (False, True):
        make: Any = Engine
        if captures:
            card = EmulatedCard(monkeypatch)
            card.record_launches(monkeypatch)
            make = card.engine
        models = random_models("tiny", "bf16", torch.device("cpu"), 8, torch.bfloat16)
        with make(models.lm, make_mimi(0, MIMI), sampling=SAMPLED) as engine:
            torch.manual_seed(7)
            launched.clear()
            seen.append(talk(engine, 4))
            assert set(launched) == set(names)
    pairs = list(zip(*seen, strict=True))
    assert all(one.column == other.column and np.array_equal(one.samples, other.samples) for one, other in pairs)
    assert len({one.column for one, _ in pairs}) == 4


def test_the_emulation_notices_states_that_change_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with entered(Engine, GREEDY) as engine:
        plain = talk(engine, 12)
    card = EmulatedCard(monkeypatch)
    monkeypatch.setattr(FrameGraphs, "in_place", lambda self, function: function)
    with entered(card.engine, GREEDY) as engine:
        captured = talk(engine, 12)
    assert not any(one.column == other.column for one, other in zip(captured[1:], plain[1:], strict=True))


def wait(_: torch.Tensor) -> None:
    torch.cuda.synchronize()


def out_of_memory(_: torch.Tensor) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory")


@cases(
    "operation, kind",
    (lambda sound: sound.sum().item(), "capture"),
    (lambda sound: sound.nonzero(), "capture"),
    (lambda sound: sound[sound > 0], "capture"),
    (lambda sound: bool((sound > 0).any()), "capture"),
    (wait, "capture"),
    (out_of_memory, "memory"),
)
def test_an_operation_that_fails_in_a_capture_ends_the_engine(
    operation: Callable[[torch.Tensor], Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, encode = EmulatedCard(monkeypatch), Engine._encode
    calls = []

    def hindered(self: Engine, samples: torch.Tensor) -> torch.Tensor:
        calls.append(len(card.graphs))
        operation(samples) if card.graphs else None
        return encode(self, samples)

    monkeypatch.setattr(Engine, "_encode", hindered)
    with pytest.raises(RuntimeError) as error, entered(card.engine, SAMPLED):
        raise AssertionError("it has entered")
    assert fault_of(error.value)["kind"] == kind
    assert calls == [0, 1], "it continues after a capture that failed"


@pytest.mark.parametrize("failing", [0, 2, 3, 4])
def test_a_capture_that_fails_at_its_end_ends_the_engine(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a frame, the first and last, of encoding, and of the language model alone."""
    card, step = EmulatedCard(monkeypatch, failing=failing), engines.KameGen.step_with
    steps: list[int] = []
    monkeypatch.setattr(engines.KameGen, "step_with", lambda *args: steps.append(len(card.graphs)) or step(*args))
    models = random_models("tiny", "bf16", torch.device("cpu"), CONTEXT)
    engine = card.engine(models.lm, models.mimi, sampling=SAMPLED)
    with pytest.raises(CaptureError, match=INVALIDATED) as error:
        engine.__enter__()
    fault = fault_of(error.value)
    assert fault["kind"] == "capture" and fault["text"] == INVALIDATED
    assert len(card.graphs) == failing + 1 and not engine.graphs._graphs
    # Each graph's call runs once before its capture and once in it; after the last one, nothing runs.
    runs = [number for graph in range(failing + 1) if graph != 3 for number in (graph, graph + 1)]
    assert steps == runs
