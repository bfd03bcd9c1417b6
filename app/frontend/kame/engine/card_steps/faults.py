"""Steps that disturb the card: a capture while another thread allocates, and failures that end a process."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any

import numpy as np
import torch

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.engine.card_steps.base import (
    Report,
    Request,
    StepFailedError,
    described,
    other_process,
    tiny_engine,
)
from app.frontend.kame.engine.graphs import FrameGraphs
from app.frontend.kame.engine.worker import fault_of

TOLERANCE_BYTES = 100_000_000
"""How much less of the card may be free after a process has ended than before it was started."""
KINDS = {"capture": "capture", "context": "fault", "memory": "memory"}
"""Each fault, and the kind of `EngineError` that the session's side makes of it."""


def capture(request: Request, report: Report, _argument: str) -> None:
    """Captures a frame's graphs while another thread allocates and frees memory, as a recogniser that loads does."""
    stop, allocations = threading.Event(), 0

    def allocate() -> None:
        nonlocal allocations
        while not stop.is_set():
            with contextlib.suppress(RuntimeError):
                torch.empty(1 << 28, dtype=torch.uint8, device=request.where)
                torch.cuda.empty_cache()
                allocations += 1
            time.sleep(0.001)

    thread = threading.Thread(target=allocate, daemon=True)
    thread.start()
    try:
        with tiny_engine(request) as engine:
            for _ in range(20):
                engine.step(np.zeros(FRAME_SAMPLES, np.float32), engine.tokens.padding)
    finally:
        stop.set()
        thread.join()
    report.say(allocations=allocations, frames=20)


def fault(request: Request, report: Report, kind: str) -> None:
    """Has another process fail, then checks that it has said why, that the card is free again, and that it works."""
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    seen = _broken(request, kind)
    after = torch.cuda.mem_get_info()[0]
    report.say(seen=seen, free_before=before, free_after=after)
    if seen.get("kind") != KINDS[kind]:
        raise StepFailedError(f"The failure was taken for “{seen.get('kind', 'nothing')}”, not “{KINDS[kind]}”.")
    if after < before - TOLERANCE_BYTES:
        raise StepFailedError(f"The process left {(before - after) / 1e6:.0f} MB of the card taken.")
    with tiny_engine(request) as engine:
        engine.step(np.zeros(FRAME_SAMPLES, np.float32), engine.tokens.padding)
    report.say(works_again=True)


def _broken(request: Request, kind: str) -> dict[str, Any]:
    """Returns what a process says that runs `fail`."""
    seen: dict[str, Any] = {}
    with other_process(f"fail-{kind}", request) as child:
        assert child.stdout is not None
        for line in child.stdout:
            seen |= json.loads(line)
        child.wait()
    return seen | {"exit_code": child.returncode}


def fail(request: Request, report: Report, kind: str) -> None:
    """Fails, in a process of its own, and says what is left of the card's use in this process afterwards."""
    here = torch.zeros(4, device=request.where)
    try:
        if kind == "capture":
            FrameGraphs((), enabled=True).run("wait for the card", 0, lambda values: values.cpu(), here)
        elif kind == "context":
            here[torch.tensor([9], device=request.where)]  # no such place: the kernel stops, and with it the context
            torch.cuda.synchronize()
        else:
            torch.cuda.set_per_process_memory_fraction(0.01)
            torch.empty(torch.cuda.mem_get_info()[1] // 20, dtype=torch.uint8, device=request.where)
    except BaseException as error:
        found = fault_of(error)
        report.say(kind=found["kind"], text=found["text"])
    try:
        drawn = float(torch.empty(1, device=request.where).exponential_())
        report.say(afterwards=f"random numbers can be drawn ({drawn > 0})")
    except RuntimeError as error:
        report.say(afterwards=described(error))
