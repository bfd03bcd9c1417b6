"""Who has the model's process, and when: one conversation at a time, one process on the card, and none left behind."""

import functools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.frontend.kame import engine_source
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.engine_source import POOL, ProcessSource
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.stream_engine import EngineError
from app.models.layout import CheckpointFiles
from app.models.pool import MODELS
from app.platform.supervision import CARD, CardBusyError
from tests.support.patience import until

QUIET = np.zeros(1920, np.float32)


class Started(EngineProcess):
    """Notes all processes, and that none is started while another one lives."""

    all: list["Started"] = []
    together = 0

    def __init__(self, *, real_time: bool = True) -> None:
        super().__init__(real_time=real_time, module="tests.support.engine_worker")

    def load(self, *args: object) -> object:  # type: ignore[override]
        Started.together += sum(other.alive() for other in Started.all)
        Started.all.append(self)
        return super().load(*args)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(engine_source, "EngineProcess", Started)
    monkeypatch.setattr(engine_source, "read_pieces", lambda path: None)
    Started.all, Started.together = [], 0
    with MODELS.keeping():
        yield
        MODELS.drop(POOL)
    assert not [one for one in Started.all if one.alive()]


def source(tmp_path: Path, *, context: int = 0, **behaviour: object) -> ProcessSource:
    file = tmp_path / "weights"
    if not file.exists():
        file.touch()  # its time is part of the key
    files = CheckpointFiles(tmp_path, file, file, file)
    return ProcessSource(files, LoadRequest(json.dumps(behaviour), "KAME", context=context), real_time=False)


def in_thread(work: functools.partial) -> tuple[threading.Thread, list[object]]:
    out: list[object] = []

    def run() -> None:
        try:
            out.append(work())
        except EngineError as error:
            out.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, out


def test_a_load_that_was_stopped_ends_before_the_next_one_plans(tmp_path: Path) -> None:
    """Start, Stop, Start: what the first load has taken of the card is free when the second one looks at it."""
    first = source(tmp_path, load_seconds=60.0)
    loading, outcome = in_thread(functools.partial(first.open))
    until(lambda: first.progress)
    second = source(tmp_path, context=100)
    waiting, opened = in_thread(functools.partial(second.open))
    waiting.join(0.5)
    assert len(Started.all) == 1, "it would plan with what is free beside a model that is about to leave"
    first.cancel()
    loading.join(60)
    assert isinstance(outcome[0], EngineError)
    first.close(failed=False)
    waiting.join(60)
    assert not isinstance(opened[0], EngineError) and Started.together == 0
    second.close(failed=False)


def test_the_next_conversation_takes_the_loaded_process_and_another_model_replaces_it(tmp_path: Path) -> None:
    for _ in range(3):
        one = source(tmp_path)
        engine, _ = one.open()
        assert [step.column.text for step in engine.step(QUIET, 0)] == [1], "each conversation has a fresh stream"
        one.close(failed=False)
        one.close(failed=False)
    assert len(Started.all) == 1
    other = source(tmp_path, context=100)
    other.open()
    other.close(failed=False)
    assert len(Started.all) == 2 and Started.together == 0


@pytest.mark.parametrize("how", ["killed", "card lost"])
def test_a_process_that_no_longer_works_when_it_is_needed_again_is_replaced(tmp_path: Path, how: str) -> None:
    """A card may be lost while the machine sleeps: the process only finds out at its next call."""
    one = source(tmp_path, restarts=1 if how == "card lost" else 9)
    one.open()
    one.close(failed=False)
    process = Started.all[0]._process
    assert process is not None
    if how == "killed":
        process.kill()
        process.wait()
    again = source(tmp_path, restarts=1 if how == "card lost" else 9)
    again.open()[0].step(QUIET, 0)
    again.close(failed=False)
    assert len(Started.all) == 2


def test_after_a_failure_the_model_is_loaded_again_without_being_asked(tmp_path: Path) -> None:
    one = source(tmp_path, fails_at=1, how="raise")
    engine, _ = one.open()
    with pytest.raises(EngineError, match="unspecified launch failure"):
        engine.step(QUIET, 0)
    assert not one.loaded_again
    one.close(failed=True)
    assert not Started.all[0].alive(), "it has freed the card before another one is loaded"
    until(lambda: one.loaded_again)
    assert len(Started.all) == 2 and Started.all[1].alive()
    again = source(tmp_path, fails_at=1, how="raise")
    again.open()
    assert not one.loaded_again
    assert len(Started.all) == 2 and Started.together == 0
    again.close(failed=False)


def test_no_second_model_is_loaded_again_beside_the_one_that_a_conversation_has_loaded_meanwhile(
    tmp_path: Path,
) -> None:
    one = source(tmp_path)
    with CARD.hold("a conversation"):
        reloading = threading.Thread(target=one._reload)
        reloading.start()
        process = Started()
        process.load(LoadRequest("{}", "KAME", context=100))
        MODELS.release(source(tmp_path, context=100)._key, process)  # type: ignore[arg-type]
    reloading.join(60)
    assert len(Started.all) == 1 and process.alive()


def test_other_models_are_loaded_on_the_card_once_the_plan_is_known(tmp_path: Path) -> None:
    one = source(tmp_path, plan_seconds=1.0, load_seconds=3.0)
    loading, _ = in_thread(functools.partial(one.open))
    until(lambda: bool(Started.all))
    with pytest.raises(CardBusyError, match="Whisper can't be loaded there"), CARD.work("Whisper", 0.0):
        raise AssertionError("the plan isn't known yet")
    began = time.monotonic()
    with CARD.work("Whisper"):
        assert loading.is_alive(), "it doesn't wait for the whole model"
    assert time.monotonic() - began < 60
    loading.join(60)
    one.close(failed=False)
