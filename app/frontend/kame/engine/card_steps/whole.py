"""Steps with the whole model: its frames and memory in each precision, its loading from files, and its parts."""

from __future__ import annotations

import contextlib
import gc
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from app.frontend.base import FrontEndError
from app.frontend.kame.engine.card_steps.base import (
    LeftOutError,
    Report,
    Request,
    on_a_thread,
    other_process,
    synchronise,
)
from app.frontend.kame.engine.card_steps.checkpoint import checkpoint_bytes, write_checkpoint
from app.frontend.kame.engine.checkpoint import Loaded, load
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.measure import measure_frame, pretend_filled, time_frames
from app.frontend.kame.engine.random_weights import TINY_LM, random_models
from app.models.fit import PRECISIONS, Fit, Precision, judge, shape_of
from app.models.layout import CheckpointFiles, read_layout
from app.platform.hardware import peak_bytes

ROOM_LEFT = 1_000_000_000
"""The free bytes that remain on a disk to which a checkpoint is written."""
LONGEST = 10
"""The number of the longest kernels that are listed."""


def full(request: Request, report: Report, argument: str) -> None:
    """Makes the model, enters its engine, and times frames: in a row, one every 80 ms, and with a full cache."""
    with _fitting(request, argument) as (precision, context):
        report.say(precision=precision)
        with _engine(request, report, precision, context) as engine:
            frames = request.frames(100)
            if not request.quick:
                report.part("in a row, empty cache", lambda: time_frames(engine, frames))
            pretend_filled(engine, engine.context)
            report.part("every 80 ms, full cache", lambda: on_a_thread(lambda: time_frames(engine, frames, paced=True)))
            if not request.quick:
                report.part("in a row, full cache", lambda: time_frames(engine, frames))
                report.part("processor_share", lambda: _processor_share(engine))
                report.part("kernels", lambda: _kernels(request, engine))
                if request.on_card and precision == PRECISIONS[0]:
                    report.part("another process on the card", lambda: _beside_another(request, engine))
        _say_left(request, report)
    report.finish()


def plain(request: Request, report: Report, argument: str) -> None:
    """Times frames without captured graphs, call by call."""
    with (
        _fitting(request, argument) as (precision, context),
        _engine(request, report, precision, context, graphs=False) as engine,
    ):
        report.part("in a row, empty cache", lambda: time_frames(engine, request.frames(40)))
    report.finish()


def loading(request: Request, report: Report, precision: Precision) -> None:
    """Loads the model from files, as the process of a session does, and steps it."""
    files = _files(request)
    with _fitting(request, precision) as (_, context):
        before, began, told = peak_bytes(), time.perf_counter(), 0

        def note(done: int, total: int) -> None:
            nonlocal told
            told = total

        models = _loaded(request, files, precision, context, note)
        synchronise(request)
        seconds = time.perf_counter() - began
        size = sum(path.stat().st_size for path in files.all)
        report.say(load_s=seconds, file_bytes=size, told_bytes=told, gb_a_second=size / seconds / 1e9)
        report.say(ram_before=before, ram_peak=peak_bytes(), **_memory(request))
        with Engine(models.lm, models.mimi) as engine:
            del models
            report.part("in a row, empty cache", lambda: time_frames(engine, request.frames(40)))
    report.finish()


def table(request: Request, report: Report, precision: Precision) -> None:
    """Times a frame and each of its parts with a full cache, and compares them with the memory's bandwidth."""
    try:
        loaded = None
        if request.weights:
            context = None if not request.on_card else _fit(request, precision)[1]
            loaded = _loaded(request, read_layout(request.weights, quickly=True), precision, context)
        figures = measure_frame(
            request.size, precision, device=request.device, frames=request.frames(200), loaded=loaded
        )
    except FrontEndError as error:
        raise LeftOutError(str(error)) from error
    report.say(**asdict(figures), over_floor=figures.over_floor)


def disturb(request: Request, report: Report, _argument: str) -> None:
    """Multiplies matrices without end, as another program on the same card might."""
    matrix = torch.randn(8192, 8192, device=request.where, dtype=torch.bfloat16)
    matrix @ matrix
    synchronise(request)
    report.say(started=True)
    while True:
        for _ in range(20):
            matrix @ matrix
        synchronise(request)


# -- what fits


def _fit(request: Request, precision: Precision) -> tuple[Fit, int | None]:
    """Returns how the model fits the card's free memory, and the longest context that does (None: its own)."""
    free = torch.cuda.mem_get_info()[0]
    shape = shape_of(_config(request))
    fit = judge(free, precision, shape=shape, name="KAME")
    offer = next((plan for plan in fit.offers if plan.precision == precision), None)
    return fit, offer.context if fit.plan is None and offer is not None else None


@contextlib.contextmanager
def _fitting(request: Request, argument: str) -> Iterator[tuple[Precision, int | None]]:
    """Yields the precision (`auto`: the best that fits) and the context to use.

    A precision that isn't likely to fit is tried all the same, within the memory that is free. If that runs out, raises
    LeftOutError with what would fit.
    """
    precision: Precision = PRECISIONS[0] if argument == "auto" else argument  # type: ignore[assignment]
    if not request.on_card:
        yield precision, None
        return
    fit, context = _fit(request, precision)
    if argument == "auto" and fit.plan is None:
        if not fit.offers:
            raise LeftOutError(fit.sentence)
        precision, context = fit.offers[0].precision, fit.offers[0].context
    free, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(min(1.0, free / total))  # Windows would use the machine's memory
    try:
        yield precision, context
    except torch.OutOfMemoryError as error:
        if fit.plan is not None or context is not None:
            raise
        raise LeftOutError(fit.sentence) from error


def _config(request: Request) -> dict[str, Any] | None:
    if request.weights:
        return read_layout(request.weights, quickly=True).lm_config
    return dict(TINY_LM) if request.size == "tiny" else None


# -- models


@contextlib.contextmanager
def _engine(
    request: Request, report: Report, precision: Precision, context: int | None, *, graphs: bool = True
) -> Iterator[Engine]:
    """Yields an engine with the model, and reports how long that took and what it takes of the card."""
    began = time.perf_counter()
    if request.weights:
        models = _loaded(request, read_layout(request.weights, quickly=True), precision, context)
    else:
        models = random_models(request.size, precision, request.where, context)
    synchronise(request)
    made = time.perf_counter()
    report.say(made_s=made - began)
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(models.lm, models.mimi, sampling={"use_sampling": True}, graphs=graphs))
        del models
        synchronise(request)
        report.say(
            entered_s=time.perf_counter() - made,
            context=engine.context,
            lm_step_ms=engine.step_seconds * 1000,
            **_memory(request),
        )
        yield engine


def _loaded(
    request: Request,
    files: CheckpointFiles,
    precision: Precision,
    context: int | None,
    note: Callable[[int, int], object] = lambda done, total: None,
) -> Loaded:
    dtype = torch.bfloat16 if request.on_card else torch.float32
    return load(files, device=request.where, dtype=dtype, precision=precision, context=context, report=note)


def _files(request: Request) -> CheckpointFiles:
    """Returns the files to load: the user's, or random ones, which are written if they aren't there yet."""
    if request.weights:
        return read_layout(request.weights, quickly=True)
    folder = Path(request.folder)
    if (folder / "complete").exists():
        return read_layout(folder, quickly=True)
    folder.mkdir(parents=True, exist_ok=True)
    size, free = checkpoint_bytes(request.size), shutil.disk_usage(folder).free
    if free < size + ROOM_LEFT:
        raise LeftOutError(
            f"The disk has {free / 1e9:.1f} GB free, and a file of the model's size takes {size / 1e9:.1f} GB. Choose "
            "a folder on another disk with “--folder”."
        )
    write_checkpoint(folder, request.size)
    (folder / "complete").touch()
    return read_layout(folder, quickly=True)


# -- measurements


def _memory(request: Request) -> dict[str, int]:
    if not request.on_card:
        return {}
    free, total = torch.cuda.mem_get_info()
    return {
        "peak_bytes": torch.cuda.max_memory_allocated(),
        "allocated_bytes": torch.cuda.memory_allocated(),
        "reserved_bytes": torch.cuda.memory_reserved(),
        "card_taken_bytes": total - free,
    }


def _say_left(request: Request, report: Report) -> None:
    gc.collect()
    if request.on_card:
        torch.cuda.empty_cache()
        report.say(left_bytes=torch.cuda.memory_reserved())


def _processor_share(engine: Engine) -> float:
    """Returns the share of a processor core that waiting for frames takes."""
    cpu, wall = time.thread_time(), time.perf_counter()
    time_frames(engine, 30)
    return (time.thread_time() - cpu) / (time.perf_counter() - wall)


def _kernels(request: Request, engine: Engine) -> dict[str, Any]:
    """Returns the number of kernels in a frame (on a processor: of calls), and the longest in ms a frame."""
    from torch.profiler import ProfilerActivity, profile

    kind = ProfilerActivity.CUDA if request.on_card else ProfilerActivity.CPU
    token = engine.tokens.padding
    samples = engine._staging[0, 0].numpy().copy()
    with profile(activities=[kind]) as found:
        for _ in range(3):
            engine.step(samples, token)
        synchronise(request)
    name = "self_device_time_total" if request.on_card else "self_cpu_time_total"
    rows = [(row.key, row.count, float(getattr(row, name))) for row in found.key_averages()]
    rows = sorted((row for row in rows if row[2] > 0), key=lambda row: -row[2])
    return {
        "count": sum(count for _, count, _ in rows) // 3,
        "ms": sum(us for _, _, us in rows) / 3000,
        "longest": [[key[:80], count // 3, us / 3000] for key, count, us in rows[:LONGEST]],
    }


def _beside_another(request: Request, engine: Engine) -> Any:
    """Times frames while another process multiplies matrices on the card."""
    with other_process("disturb", request) as child:
        assert child.stdout is not None
        if not child.stdout.readline():
            raise RuntimeError("the other process has ended")
        return on_a_thread(lambda: time_frames(engine, request.frames(60), paced=True))
