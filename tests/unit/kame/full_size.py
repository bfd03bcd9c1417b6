"""By hand: frames of the published shape in bf16, captured in emulated graphs, against plain calls on the processor.

`python -m tests.unit.kame.full_size` takes 18 GB of memory, and 35 minutes on two busy cores. It does not start with
less than 19 GB.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.frontend.kame.engine import engine as engines
from app.frontend.kame.engine.checkpoint import Loaded
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.random_weights import random_mimi, random_models
from app.frontend.kame.stream_engine import EngineStep
from tests.support.emulated_graphs import EmulatedCard

FRAMES = 4
NEEDED_BYTES = 19e9


def available_bytes() -> int:
    """Returns how much memory the system can give without swapping. Linux only."""
    lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def steps(make: Any, models: Loaded, name: str) -> list[EngineStep]:
    """Returns the steps of a stream with an oracle, and forced silence at the end."""
    started = time.perf_counter()
    sound = np.random.default_rng(0).normal(0, 0.1, (FRAMES, 1920)).astype(np.float32)
    engine = make(models.lm, random_mimi("7b", models.lm.device, 8), sampling={"use_sampling": True})
    out: list[EngineStep] = []
    # Not left as a context manager is: the weights serve twice.
    engine.__enter__()
    print(f"{name}: entered in {time.perf_counter() - started:.0f} s", flush=True)
    torch.manual_seed(7)
    for index, samples in enumerate(sound):
        started = time.perf_counter()
        out += engine.step(samples, 100 + index, silent=index == FRAMES - 1)
        level = float(np.sqrt((out[-1].samples ** 2).mean()))
        print(f"  {time.perf_counter() - started:.1f} s, level {level:.4f}, {out[-1].column}", flush=True)
    engine.graphs.close()
    engine._stack.close()
    return out


def main() -> int:
    """Returns the exit code: 1 if anything differs, 2 if there isn't enough memory."""
    if (available := available_bytes()) < NEEDED_BYTES:
        print(f"This takes 18 GB of memory, and {available / 1e9:.1f} GB are available. Close other programs.")
        return 2
    Path("/proc/self/oom_score_adj").write_text("1000")  # if memory runs out, this process is to end and no other
    torch.set_num_threads(2)
    started = time.perf_counter()
    models = random_models("7b", "bf16", torch.device("cpu"), dtype=torch.bfloat16)
    weights = sum(value.numel() * value.element_size() for value in models.lm.parameters())
    print(f"{weights / 1e9:.2f} GB of weights in {time.perf_counter() - started:.0f} s", flush=True)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(engines, "BUCKETS", (256,))
        plain = steps(Engine, models, "plain")
        card = EmulatedCard(patch)
        captured = steps(card.engine, models, "captured")
    pairs = list(zip(plain, captured, strict=True))
    columns = sum(one.column == other.column for one, other in pairs)
    samples = sum(np.array_equal(one.samples, other.samples) for one, other in pairs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{columns} of {FRAMES} columns and the samples of {samples} are equal; peak {peak:.1f} GB")
    print("captured operations:", [len(graph.calls) for graph in card.graphs])
    return 0 if columns == samples == FRAMES else 1


if __name__ == "__main__":
    sys.exit(main())
