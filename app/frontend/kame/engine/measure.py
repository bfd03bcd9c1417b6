"""Measures how long a frame takes on this machine, in total and by part, compared with the memory bandwidth limit.

Uses random weights of the real shapes, since the speed doesn't depend on their values.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from moshi.modules.transformer import StreamingTransformer
from torch import nn

from app.conversation.frame import FRAME_MS, FRAME_SAMPLES
from app.frontend.base import FrontEndError
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.checkpoint import Loaded
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.model import KameLM
from app.frontend.kame.engine.quantise import Precision
from app.frontend.kame.engine.random_weights import TINY_LM, Size, random_models
from app.models.fit import judge, shape_of
from app.platform.supervision import CARD

WARM_FRAMES = 20


@dataclass(frozen=True, slots=True)
class Times:
    """Percentiles of many runs, in milliseconds."""

    p50: float
    p95: float
    p99: float
    worst: float

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        """Returns the percentiles of durations given in seconds."""
        ms = np.array(seconds) * 1000
        return cls(*(round(float(value), 3) for value in (*np.percentile(ms, (50, 95, 99)), ms.max())))


@dataclass(slots=True)
class FrameFigures:
    """One row of the benchmark.

    `bandwidth` is in bytes per second, and `floor_ms` is `frame_bytes` divided by it, in milliseconds.
    """

    size: str
    precision: str
    device: str
    torch: str
    context: int
    filled: int
    whole: Times
    parts: dict[str, Times] = field(default_factory=dict)
    resident_bytes: int = 0
    frame_bytes: int = 0
    bandwidth: float = 0.0
    floor_ms: float = 0.0
    kernel: str = ""

    @property
    def over_floor(self) -> float:
        """The language model's p99 as a multiple of its floor."""
        return self.parts["language model"].p99 / self.floor_ms


def measure_frame(
    size: Size,
    precision: Precision,
    *,
    device: str = "auto",
    context: int | None = None,
    fill: int | None = None,
    frames: int = 200,
    loaded: Loaded | None = None,
) -> FrameFigures:
    """Measures `frames` steps with `fill` frames in the cache (None: full).

    `loaded`: models to use instead of random ones of the given size.

    Raises:
        FrontEndError: the published size needs a card and there is none, or the model doesn't fit on it.
    """
    where = torch.device("cuda" if device in ("auto", "cuda") and torch.cuda.is_available() else "cpu")
    if (device == "cuda" and where.type != "cuda") or (size == "7b" and where.type != "cuda" and device == "auto"):
        raise FrontEndError(judge(None, precision, name="The bench of the published size").sentence)
    config = dict(TINY_LM) if size == "tiny" else None
    shape = shape_of(config, context)
    if where.type == "cuda":
        fit = judge(torch.cuda.mem_get_info()[0], precision, context=context, shape=shape, name="The bench")
        if fit.plan is None:
            raise FrontEndError(fit.sentence)
        torch.cuda.reset_peak_memory_stats()
    models = loaded or random_models(size, precision, where, context)
    filled = min(shape.context if fill is None else fill, shape.context)
    alone = CARD.work("the bench") if where.type == "cuda" else nullcontext()
    with alone, Engine(models.lm, models.mimi, sampling={"use_sampling": True}) as engine:
        pretend_filled(engine, filled)
        slots = engine._bucket()
        whole = time_frames(engine, frames)
        parts = _time_parts(engine, frames)
    figures = FrameFigures(
        size,
        "float32" if precision == "bf16" and where.type == "cpu" else precision,
        _name_of(where),
        torch.__version__,
        shape.context,
        filled,
        whole,
        parts,
        resident_bytes=torch.cuda.max_memory_allocated() if where.type == "cuda" else _bytes_of(models),
        frame_bytes=_frame_bytes(models.lm, slots),
        kernel=_kernel_words(precision, where),
    )
    del models, engine
    gc.collect()
    if where.type == "cuda":
        torch.cuda.empty_cache()
    figures.bandwidth = copy_bandwidth(where)  # after the models are freed, since it needs memory too
    figures.floor_ms = figures.frame_bytes / figures.bandwidth * 1000
    return figures


def pretend_filled(engine: Engine, frames: int) -> None:
    """Fast-forwards the stream to the state it would have after `frames` steps, without running them."""
    for state in engine.lm.get_streaming_state().values():
        for name in ("offset", "offsets"):
            value = getattr(state, name, None)
            if isinstance(value, torch.Tensor):
                value.fill_(frames)
        cache = getattr(state, "kv_cache", None)
        if cache is not None:
            cache.end_offset.fill_(frames)
    engine.gen._streaming_state.offsets.fill_(frames)  # type: ignore[union-attr]
    engine.gen._streaming_state.cache.clamp_(min=0)  # type: ignore[union-attr]
    engine.steps = frames


def time_frames(engine: Engine, frames: int, *, paced: bool = False) -> Times:
    """Times the step as called by the frame loop, from samples to samples, including copies in both directions.

    `paced`: one step every 80 ms, as in a conversation. In the pauses, a card may lower its clocks.
    """
    samples = np.random.default_rng(0).normal(0, 0.05, (16, FRAME_SAMPLES)).astype(np.float32)
    taken = []
    filled = engine.steps
    due = time.perf_counter()
    for index in range(WARM_FRAMES + frames):
        if paced and index >= WARM_FRAMES:
            due = max(due + FRAME_MS / 1000, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
        started = time.perf_counter()
        engine.step(samples[index % 16], 5 + index % 2)
        if index >= WARM_FRAMES:
            taken.append(time.perf_counter() - started)
        if engine.steps >= engine.context > filled:
            pretend_filled(engine, filled)
    return Times.of(taken)


def _time_parts(engine: Engine, frames: int) -> dict[str, Times]:
    """Times each part separately; on CUDA by replaying a graph of the part, measured with CUDA events."""
    lm, mimi, device = engine.lm, engine.mimi, engine.device
    samples = torch.zeros(1, 1, FRAME_SAMPLES, device=device)
    token = torch.full((1, 1, 1), lm.text_padding_token_id, dtype=torch.long, device=device)
    with torch.no_grad():
        user = engine._encode(samples)
        column = torch.zeros(1, lm.num_codebooks, 1, dtype=torch.long, device=device)
        hidden = torch.zeros(1, 1, lm.dim, dtype=lm.dtype, device=device)
        own = torch.zeros(1, lm.dep_q, 1, dtype=torch.long, device=device)
        text = torch.zeros(1, dtype=torch.long, device=device)
    work: dict[str, Callable[[], Any]] = {
        "encode": lambda: engine._encode(samples),
        "temporal": lambda: lm.forward_text(column, None, None, token),
        "depth": lambda: engine.gen.depformer_step(text, hidden),
        "language model": lambda: engine.gen.step_with(user, token),
        "decode": lambda: mimi.decode(own),
    }
    out = {}
    for name, function in work.items():
        on_card = device.type == "cuda"
        out[name] = _time_on_card(engine, name, function, frames) if on_card else _time_here(function, frames)
    out["copies"] = _time_copies(engine, frames)
    return out


def _time_here(function: Callable[[], Any], frames: int) -> Times:
    taken = []
    with torch.no_grad():
        for index in range(3 + frames):
            started = time.perf_counter()
            function()
            if index >= 3:
                taken.append(time.perf_counter() - started)
    return Times.of(taken)


def _time_on_card(engine: Engine, name: str, function: Callable[[], Any], frames: int) -> Times:
    taken = []
    with torch.no_grad():
        for index in range(5 + frames):
            started, over = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            started.record()
            engine.graphs.run(f"bench {name}", 0, function)
            over.record()
            over.synchronize()
            if index >= 5:
                taken.append(started.elapsed_time(over) / 1000)
    return Times.of(taken)


def _time_copies(engine: Engine, frames: int) -> Times:
    """Times copying audio to and from the card, including the wait."""

    def both_ways() -> None:
        engine._samples.copy_(engine._staging, non_blocking=True)
        engine._out.copy_(engine._samples[0, 0], non_blocking=True)
        if engine.device.type == "cuda":
            torch.cuda.synchronize()

    return _time_here(both_ways, frames)


def copy_bandwidth(device: torch.device) -> float:
    """Returns the bandwidth of a copy within the device's memory in bytes per second, reads plus writes."""
    size = 2**28 if device.type == "cuda" else 2**27
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(6):
        _wait(device)
        started = time.perf_counter()
        target.copy_(source)
        _wait(device)
        best = min(best, time.perf_counter() - started)
    return 2 * size / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _frame_bytes(lm: KameLM, slots: int) -> int:
    """Returns the bytes read by a language model step: every matrix once, and `slots` positions of the cache."""
    embeddings = {id(p) for m in lm.modules() if isinstance(m, nn.Embedding) for p in m.parameters()}
    weights = sum(t.numel() * t.element_size() for t in [*lm.parameters(), *lm.buffers()] if id(t) not in embeddings)
    assert isinstance(lm.transformer, StreamingTransformer)
    element = torch.finfo(lm.dtype).bits // 8
    return weights + slots * 2 * len(lm.transformer.layers) * lm.dim * element


def _bytes_of(models: Loaded) -> int:
    tensors = [*models.lm.parameters(), *models.lm.buffers(), *models.mimi.parameters(), *models.mimi.buffers()]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _name_of(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name()
    return f"processor, {torch.get_num_threads()} thread" + ("s" if torch.get_num_threads() > 1 else "")


def _kernel_words(precision: Precision, device: torch.device) -> str:
    """Returns what computes the products with the matrices."""
    if precision == "bf16":
        return "torch"
    own = device.type == kernels.DEVICE and kernels.usable(f"gemv_{precision}")
    return "own kernel" if own else "plain torch"
