"""Steps with small models: the card, its kernels, the paths of a frame, attention, and a session."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from app.conversation.frame import FRAME_MS, FRAME_SAMPLES, Frame
from app.conversation.speaking.revisions import OracleAsked, OracleWords
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndInput
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.card_steps.base import (
    Report,
    Request,
    StepFailedError,
    on_a_thread,
    tiny_engine,
)
from app.frontend.kame.engine.card_steps.checkpoint import write_checkpoint
from app.frontend.kame.engine.measure import Times, copy_bandwidth
from app.frontend.kame.engine.proofs import prove
from app.frontend.kame.engine.random_weights import TINY_LM
from app.frontend.kame.engine.selfcheck import run_checks
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.frontend import KameFrontEnd
from app.platform import nvidia
from app.tts.base import Voice

SESSION_FRAMES = 75
SETTLED = 5
"""The first frames of a session, whose times aren't counted."""


def card(request: Request, report: Report, _argument: str) -> None:
    """The device and its software, the bandwidth of its memory, and what a bare context takes of it."""
    report.say(torch=torch.__version__, moshi=version("moshi"), threads=torch.get_num_threads())
    if request.on_card:
        before = _free_bytes()
        torch.cuda.synchronize()
        found = torch.cuda.get_device_properties(0)
        free, total = torch.cuda.mem_get_info()
        report.say(
            name=found.name,
            capability=f"{found.major}.{found.minor}",
            processors=found.multi_processor_count,
            total_bytes=total,
            free_bytes=free,
            cuda=torch.version.cuda,
            cudnn=torch.backends.cudnn.version(),
            architectures=torch.cuda.get_arch_list(),
        )
        uuid = str(getattr(found, "uuid", "?"))
        after = _free_bytes()
        report.say(context_bytes=next((before[one] - after[one] for one in before if uuid in one and one in after), 0))
    report.part("bandwidth", lambda: copy_bandwidth(request.where))


def _free_bytes() -> dict[str, int]:
    driver = nvidia.look()
    return {one.uuid: one.free for one in driver.cards} if driver is not None else {}


def own_kernels(_request: Request, report: Report, _argument: str) -> None:
    """Compiles, loads and checks the app's own kernels on a new thread, as a session does."""
    torch.cuda.synchronize()  # the main thread has a context, the new one hasn't
    began = time.perf_counter()
    failing = on_a_thread(lambda: prove(again=True))
    found = [name for name in kernels.NAMES if name not in failing]
    report.say(kernels=found, load_s=time.perf_counter() - began)
    if failing:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in failing.items())
        raise StepFailedError(f"These kernels can't be used here: {reasons}.")


def comparisons(request: Request, report: Report, _argument: str) -> None:
    """Compares the fast paths with the plain ones."""
    checks = run_checks(request.device)
    report.say(checks=checks)
    wrong = [check.name for check in checks if check.needed and not check.ok]
    if wrong:
        raise StepFailedError(f"These differ: {'; '.join(wrong)}.")


def no_waits(request: Request, report: Report, _argument: str) -> None:
    """Replays frames while torch raises an error for each call that waits for the card, but for the frame's own."""
    with tiny_engine(request) as engine:
        samples, token = np.zeros(FRAME_SAMPLES, np.float32), engine.tokens.padding
        for _ in range(5):
            engine.step(samples, token)
        torch.cuda.set_sync_debug_mode("error")
        try:
            for index in range(20):
                engine.step(samples, token + index % 2)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    report.say(frames=20)


def attention(request: Request, report: Report, _argument: str) -> None:
    """Times torch's implementations of a layer's attention, with the error of each against float64."""
    heads, width, longest = (32, 128, 3000) if request.size == "7b" else (2, 64, TINY_LM["context"])
    dtype = torch.bfloat16 if request.on_card else torch.float32
    fused = (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION)
    backends = (None, *(fused if request.on_card else ()), SDPBackend.MATH)
    for slots in sorted({min(slots, longest) for slots in (256, 512, 1024, 2048, 3000)}):
        query = torch.randn(1, heads, 1, width, device=request.where, dtype=dtype)
        cache = torch.randn(2, 1, heads, longest, width, device=request.where, dtype=dtype)[:, :, :, :slots]
        mask = torch.ones(1, 1, 1, slots, dtype=torch.bool, device=request.where)
        mask[..., slots * 9 // 10 :] = False
        wanted = F.scaled_dot_product_attention(query.double(), cache[0].double(), cache[1].double(), mask)

        def call(mask: torch.Tensor = mask, query: torch.Tensor = query, cache: torch.Tensor = cache) -> torch.Tensor:
            return F.scaled_dot_product_attention(query, cache[0], cache[1], mask)

        row: dict[str, Any] = {}
        for backend in backends:
            name = "chosen" if backend is None else backend.name.removesuffix("_ATTENTION").lower()
            try:
                with nullcontext() if backend is None else sdpa_kernel(backend):
                    error = (call().double() - wanted).abs().max().item()
                    row[name] = {"us": round(_microseconds(request, call), 1), "error": f"{error:.1e}"}
            except RuntimeError as failure:
                row[name] = {"refused": str(failure).splitlines()[0][:200]}
        report.say(**{f"slots {slots}": row})


def _microseconds(request: Request, call: Callable[[], object], count: int = 100) -> float:
    """Returns how long a call takes on the device, without the time that it takes to launch it."""
    if not request.on_card:
        started = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - started) / count * 1e6
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / count


def session(request: Request, report: Report, precision: str) -> None:
    """Enters KAME's front-end as a session does, and steps it in real time on a thread, with an answer of the oracle.

    The model runs in its own process. The time on this side is what a step takes beyond the frame itself.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        weights = Path(request.weights) if request.weights else write_checkpoint(Path(place) / "kame", "tiny")
        options = FrontEndOptions(_no_voice, weights=weights, precision=precision, device=request.device)
        began = time.perf_counter()
        frontend = asyncio.run(_entered(options))
        report.say(entered_s=time.perf_counter() - began)
        try:
            process = frontend._source._process  # type: ignore[attr-defined]
            ready = process.ready
            report.say(context=ready.context, card_bytes=ready.card_bytes, lm_step_ms=ready.step_seconds * 1000)
            facts = on_a_thread(lambda: _talk(frontend, process, request.frames(SESSION_FRAMES)))
        finally:
            frontend.__exit__()
    report.say(**facts)
    if process.alive():
        raise StepFailedError("The model's process is still alive after the session.")
    if not facts["oracle_taken"]:
        raise StepFailedError("The model has taken no word of the oracle.")


async def _entered(options: FrontEndOptions) -> KameFrontEnd:
    busy = threading.Barrier(5)
    async with asyncio.timeout(60):
        await asyncio.gather(*(asyncio.to_thread(busy.wait) for _ in range(4)), asyncio.to_thread(busy.wait))
    # Made on one of the pool's threads and entered on another, as in a window.
    frontend = await asyncio.to_thread(make_frontend, "kame", options)
    assert isinstance(frontend, KameFrontEnd)
    return await asyncio.to_thread(frontend.__enter__)


def _talk(frontend: KameFrontEnd, process: EngineProcess, frames: int) -> dict[str, Any]:
    samples = np.random.default_rng(0).normal(0, 0.05, (16, FRAME_SAMPLES)).astype(np.float32)
    whole, own, crossing, late, taken = [], [], [], 0, 0
    due = time.perf_counter()
    for index in range(frames):
        due = max(due + FRAME_MS / 1000, time.perf_counter())
        time.sleep(max(0.0, due - time.perf_counter()))
        inputs: Sequence[FrontEndInput] = ()
        if index == SETTLED:
            inputs = (OracleAsked(1, 1, True), OracleWords(1, 1, "The capital of France is Paris.", 0.0))
        behind = process.pending
        started = time.perf_counter()
        step = frontend.step(Frame(index, samples[index % 16]), inputs)
        took = time.perf_counter() - started
        behind += process.pending
        late += step.late
        if step.oracle is not None:
            taken = max(taken, step.oracle.taken)
        if index >= SETTLED and not behind and process.took:  # the latest result is this frame's
            whole.append(took)
            own.append(process.took[-1])
            crossing.append(took - process.took[-1])
    facts: dict[str, Any] = {"frames": frames, "late": late, "oracle_taken": taken}
    times = {"a step": whole, "of it in the process": own, "of it on this side": crossing}
    return facts | {name: Times.of(seconds) for name, seconds in times.items() if seconds}


def _no_voice() -> Voice:
    raise AssertionError("KAME's front-end has a voice of its own")
