"""The model's own process, with a small model on the processor: it steps as the engine in this process does, is lent
from conversation to conversation, and is loaded again after a failure."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from app.conversation.frame import Frame, silence
from app.conversation.speaking.revisions import OracleAsked, OracleWords
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndError
from app.frontend.kame.engine import checkpoint, weights
from app.frontend.kame.engine.checkpoint import load
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.engine_source import POOL, ProcessSource
from app.frontend.kame.frontend import KameFrontEnd
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.stream_engine import Column, EngineError
from app.models.catalogue import ModelError
from app.models.layout import read_layout
from app.models.pool import MODELS
from app.platform import nvidia
from tests.support.patience import until
from tests.support.tiny_kame import make_checkpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_checkpoint(tmp_path_factory.mktemp("weights") / "kame")
    config = json.loads((made / "config.json").read_text())
    (made / "config.json").write_text(json.dumps({**config, "lm_gen_config": {"use_sampling": False}}))
    return made


@pytest.fixture
def pool() -> Iterator[None]:
    with MODELS.keeping():
        yield
        MODELS.drop(POOL)


def sound(frames: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.2, (frames, 1920)).astype(np.float32)


def test_it_steps_as_the_engine_in_this_process_does(folder: Path) -> None:
    loaded = load(read_layout(folder), device="cpu", dtype=torch.float32)
    process = EngineProcess(real_time=False)
    try:
        process.load(LoadRequest(str(folder), "KAME", device="cpu"))
        with Engine(loaded.lm, loaded.mimi, sampling={"use_sampling": False}) as engine:
            assert (process.context, process.silence) == (engine.context, engine.silence)
            assert process.tokens == engine.tokens
            for engine_or_process in (engine, process):
                engine_or_process.restart()
            columns: list[Column] = []
            for number, samples in enumerate(sound(40)):
                oracle = 5 + number if 5 <= number < 15 else 3
                silent = 20 <= number < 25
                steps = []
                for one in (engine, process):
                    if number == 30:
                        one.restart_language_model()
                        for column in columns[-5:]:
                            one.replay(column)
                    steps += one.encode(samples) if number == 33 else one.step(samples, oracle, silent=silent)
                ours, theirs = steps
                assert ours.column == theirs.column and ours.spoken == theirs.spoken, number
                assert np.array_equal(ours.samples, theirs.samples), number
                columns.append(ours.column)
            assert engine.steps == process.steps
    finally:
        process.close()


def front_end(folder: Path, **options: object) -> KameFrontEnd:
    made = make_frontend(
        "kame",
        FrontEndOptions(lambda: None, weights=folder, device="cpu", real_time=False, **options),  # type: ignore[arg-type]
    )
    assert isinstance(made, KameFrontEnd)
    return made


def pid_of(frontend: KameFrontEnd) -> int:
    assert isinstance(frontend._source, ProcessSource) and frontend._source._process is not None
    process = frontend._source._process._process
    assert process is not None
    return process.pid


def talk(frontend: KameFrontEnd) -> list[bytes]:
    said = [OracleAsked(1, 1, True), OracleWords(1, 1, "Paris is the capital.", 0.0)]
    steps = [frontend.step(Frame(n, samples), said if n == 2 else []) for n, samples in enumerate(sound(20))]
    assert any(step.oracle is not None for step in steps)
    return [step.samples.tobytes() for step in steps]


def test_one_process_serves_conversation_after_conversation_each_from_its_start(folder: Path, pool: None) -> None:
    with front_end(folder) as first:
        pid, said = pid_of(first), talk(first)
        assert "is loading" in first.loading or "prepared" in first.loading
    with front_end(folder) as second:
        assert pid_of(second) == pid and talk(second) == said
    with front_end(folder, context=100) as other:  # a different model takes its place
        assert pid_of(other) != pid
        until(lambda: not Path(f"/proc/{pid}").exists())
        assert other._stream is not None and other._stream.engine.context == 100


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_after_a_failure_it_is_loaded_again_and_the_same_front_end_can_be_entered(folder: Path, pool: None) -> None:
    with front_end(folder) as first:
        pid = pid_of(first)
        first.step(Frame(0, silence()), [])
        os.kill(pid, signal.SIGSEGV)
        with pytest.raises(FrontEndError, match=r"KAME stopped working \(.*\)\. The conversation continues with the"):
            for frame in range(1, 5):
                first.step(Frame(frame, silence()), [])
    until(first.recovered)
    assert first.recovered() == "KAME is loaded again and speaks from now on."
    with first:
        again = pid_of(first)
        assert again != pid and not first.recovered()
        talk(first)
    with front_end(folder) as second:  # the next conversation takes it, too
        assert pid_of(second) == again


def test_one_at_a_time_has_the_card_and_a_cancelled_load_frees_it(folder: Path) -> None:
    first = front_end(folder)
    first.cancel()
    with pytest.raises(FrontEndError, match="could not be started here"):
        first.__enter__()
    with front_end(folder) as second:
        talk(second)


def test_whatever_fails_while_loading_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    broken = make_checkpoint(tmp_path / "broken")
    data = bytearray((broken / "mimi.json").read_bytes())
    (broken / "mimi.json").write_bytes(data.replace(b'"channels": 1', b'"channels": 5'))
    with pytest.raises(FrontEndError) as caught:
        front_end(broken).__enter__()
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_weights_are_read_whole_through_a_small_buffer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from safetensors.torch import load_file

    monkeypatch.setattr(weights, "BUFFER_BYTES", 1024)
    seen: list[tuple[int, int]] = []
    loaded = load(
        read_layout(folder), device="cpu", dtype=torch.float32, report=lambda done, total: seen.append((done, total))
    )
    saved = load_file(folder / "model.safetensors")
    assert all(torch.equal(value, saved[name]) for name, value in loaded.lm.state_dict().items())
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert 0.9 * seen[-1][1] < seen[-1][0] <= seen[-1][1]
    for precision in ("int8", "int4"):
        quantised = load(read_layout(folder), device="cpu", dtype=torch.float32, precision=precision)  # type: ignore[arg-type]
        head = quantised.lm.text_linear.plain()
        assert (head - saved["text_linear.weight"]).abs().max() < 0.02


def test_a_file_that_ends_while_it_is_read_is_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(weights.TensorFile):
        def __enter__(self) -> weights.TensorFile:
            super().__enter__()
            data = self._path.read_bytes()
            cut = self._path.with_suffix(".cut")
            cut.write_bytes(data[: len(data) // 2])
            self._file.close()
            self._file = cut.open("rb", buffering=0)
            return self

    monkeypatch.setattr(checkpoint, "TensorFile", Short)
    with pytest.raises(ModelError, match="is cut short"):
        load(read_layout(folder), device="cpu", dtype=torch.float32)


def test_of_two_cards_the_one_with_more_memory_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (nvidia.Card(f"RTX {gb}", gb << 30, gb << 30, (8, 9), f"GPU-{gb}") for gb in (12, 24))
    monkeypatch.setattr(nvidia, "look", lambda: nvidia.Driver("570.1", (12, 8), (small, large)))
    for chosen, used in ({}, "GPU-24"), ({"CUDA_VISIBLE_DEVICES": "0"}, "0"):
        with monkeypatch.context() as environment:
            environment.setattr(os, "environ", chosen)
            nvidia.use_best_card()
        assert chosen["CUDA_VISIBLE_DEVICES"] == used
    monkeypatch.setattr(nvidia, "look", lambda: nvidia.Driver("500.1", (11, 8), (small, large)))
    with pytest.raises(FrontEndError, match="too old"):
        make_frontend("kame", FrontEndOptions(lambda: None, weights=folder))  # type: ignore[arg-type,return-value]


def test_memory_that_the_system_refuses_is_told_as_such() -> None:
    from app.frontend.kame.engine.worker import fault_of

    refused = RuntimeError("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory: you")
    for error in (refused, MemoryError(), torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 15 GiB")):
        assert fault_of(error)["kind"] == "memory"
    assert fault_of(EngineError("refused", "No."))["text"] == "No."
