"""The process that steps a model, from the session's side: frames there and back, and each way in which it may end."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from app.frontend.kame.engine_process import HANG_FRAMES, MOST_BEHIND, PATIENCE, EngineProcess
from app.frontend.kame.messages import LoadRequest
from app.frontend.kame.stream_engine import Column, EngineError
from app.platform.children import python_module_command, quiet_child
from tests.support.engine_worker import SILENT_CODES
from tests.support.patience import until

MODULE = "tests.support.engine_worker"
Start = Callable[..., EngineProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process whose engine behaves as the arguments say."""
    started: list[EngineProcess] = []

    def load(*, real_time: bool = False, **behaviour: Any) -> EngineProcess:
        process = EngineProcess(real_time=real_time, module=MODULE)
        started.append(process)
        process.load(request(**behaviour))
        return process

    yield load
    for process in started:
        process.close()


def request(**behaviour: Any) -> LoadRequest:
    return LoadRequest(json.dumps(behaviour), "KAME")


def frame(number: int, level: float = 0.5) -> np.ndarray:
    return np.full(1920, level, np.float32) + np.float32(number / 1000)


def test_frames_tokens_and_commands_arrive_in_order(start: Start) -> None:
    process = start()
    assert process.tokens.start == 1000 and process.silence == SILENT_CODES and process.context == 400
    for number in range(40):
        [step] = process.step(frame(number), 100 + number)
        assert np.array_equal(step.samples, frame(number) / 2)
        assert step.column.text == number + 1 and step.column.oracle == 100 + number and step.spoken
    [step] = process.step(frame(1), 0, silent=True)
    assert step.column.own == SILENT_CODES and not step.samples.any()
    [step] = process.encode(frame(0, 0.6))
    assert not step.spoken and step.column.user[0] == 600
    process.restart_language_model()
    process.replay(Column(5, (1, 2), (3, 4, 5), 0))
    [step] = process.step(frame(3), 0)
    assert step.column.text == 2 and process.steps == 2 and process.pending == 0


def test_a_late_frame_is_played_later_and_what_is_quiet_is_left_out_to_catch_up(start: Start) -> None:
    """Each frame comes late at first; then the engine is quick again, and the delay ends in a pause of its voice."""
    process = start(real_time=True, slow={3: 0.3})
    loud = [process.step(frame(number), 0) for number in range(12)]
    behind = process.pending
    assert () in loud and behind > 0 and max(map(len, loud)) == 1
    quiet = [process.step(np.zeros(1920, np.float32), 0) for _ in range(2 * behind)]
    assert process.pending == 0 and any(len(steps) > 1 for steps in quiet)
    said = [step.column.text for steps in (*loud, *quiet) for step in steps]
    assert said == list(range(1, len(said) + 1)), "none is lost, and none comes twice"


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("raise", "fault", "RuntimeError: CUDA error: unspecified launch failure"),
        ("memory", "memory", "MemoryError"),
        ("exit", "lost", "its process ended with exit code 3"),
    ],
)
def test_a_step_that_fails_says_why(start: Start, how: str, kind: str, words: str) -> None:
    process = start(fails_at=4, how=how)
    for number in range(3):
        process.step(frame(number), 0)
    with pytest.raises(EngineError, match=words) as caught:
        process.step(frame(3), 0)
    assert caught.value.kind == kind and not process.alive()
    with pytest.raises(EngineError):
        process.step(frame(4), 0)


def test_a_process_that_hangs_never_holds_a_step_up_and_is_ended(start: Start) -> None:
    process = start(real_time=True, fails_at=3, how="silent")
    for number in range(2):
        process.step(frame(number), 0)
    waits = []
    for number in range(2, HANG_FRAMES + 1):
        began = time.monotonic()
        assert process.step(frame(number), 0) == ()
        waits.append(time.monotonic() - began)
    assert process._waiting == MOST_BEHIND, "further frames are left out, rather than sent to a process that hangs"
    assert sorted(waits)[len(waits) // 2] < 2 * PATIENCE
    with pytest.raises(EngineError, match="did not answer in time") as caught:
        process.step(frame(HANG_FRAMES + 1), 0)
    assert caught.value.kind == "lost" and not process.alive()


def test_a_load_ends_when_it_is_cancelled() -> None:
    process = EngineProcess(module=MODULE)
    seen = threading.Event()
    errors: list[EngineError] = []

    def load() -> None:
        try:
            process.load(request(load_seconds=60.0))
        except EngineError as error:
            errors.append(error)
        seen.set()

    threading.Thread(target=load, daemon=True).start()
    until(lambda: process._process is not None)
    process.close()
    assert seen.wait(60) and errors[0].kind == "lost" and not process.alive()


def test_what_is_loaded_is_reported() -> None:
    process, facts = EngineProcess(module=MODULE), list[dict[str, Any]]()
    try:
        process.load(request(), facts.append)
    finally:
        process.close()
    assert facts[0] == {"fit": "KAME fits."}
    assert [one["loaded"] for one in facts[1:]] == [10**9, 2 * 10**9, 3 * 10**9, 4 * 10**9]


def test_a_disk_that_fails_while_it_loads_is_not_taken_for_the_end_of_the_session() -> None:
    process = EngineProcess(module=MODULE)
    with pytest.raises(EngineError, match="Input/output error") as caught:
        process.load(request(unreadable=True))
    assert caught.value.kind == "fault"


def test_a_process_that_cannot_load_says_so() -> None:
    process = EngineProcess(module="app.frontend.kame.engine.worker")
    with pytest.raises(EngineError) as caught:
        process.load(LoadRequest("nowhere", "KAME", device="cpu"))
    assert caught.value.kind in ("refused", "fault")  # without torch, it can't even be imported
    assert not process.alive()


ORPHAN = """
import sys, time
from tests.unit.frontend.test_engine_process import MODULE, request
from app.frontend.kame.engine_process import EngineProcess
process = EngineProcess(module=MODULE)
process.load(request())
print(process._process.pid, flush=True)
time.sleep(60)
"""


def test_it_ends_with_the_app_even_if_that_is_killed() -> None:
    app = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, **quiet_child())
    assert app.stdout is not None
    pid = int(app.stdout.readline())
    app.kill()
    app.wait()
    app.stdout.close()
    until(lambda: not runs(pid))


def runs(pid: int) -> bool:
    if sys.platform == "win32":
        listed = subprocess.run(["tasklist", "/FI", f"PID eq {pid}"], capture_output=True, text=True).stdout
        return str(pid) in listed
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_torch_is_not_imported_by_the_sessions_side() -> None:
    code = (
        "import sys, app.frontend.kame.build, app.main\n"
        "print([name for name in ('torch', 'moshi', 'safetensors') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, **quiet_child())
    assert out.stdout.strip() == "[]"
    assert python_module_command(MODULE)[1] == "-P"
