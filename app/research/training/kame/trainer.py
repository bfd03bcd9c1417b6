"""The training loop: batch, loss, gradient, optimiser, checkpoint, in one or several processes.

The order of the dialogues depends only on the seed and the step. A checkpoint holds everything needed to resume
exactly, in safetensors and JSON. Its tensors are unsharded, so a run can resume with a different number of processes.

`torchrun` starts several processes on the GPUs of one or more machines, and FSDP2 shards the model across them. Without
it, there is one process and no sharding.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from moshi.modules.streaming import StreamingModule
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import distributed, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from app.frontend.kame.engine.model import KameLM
from app.models.catalogue import ModelError
from app.research.corpus.tokens import Corpus
from app.research.results import unreadable
from app.research.training.kame.run import LossFunction, TrainSettings, is_trained
from app.untrusted.records import build

NONE = -1
"""The token that pads a dialogue to the longest of its batch."""


class Batches:
    """The dialogues of corpora, reshuffled in each epoch. `batch`: dialogues per step and process.

    Process `rank` of `count` gets its part of the `batch` x `count` dialogues of a step.
    """

    def __init__(self, corpora: Sequence[Corpus], batch: int, seed: int, rank: int = 0, count: int = 1) -> None:
        self._dialogues = [dialogue for corpus in corpora for dialogue in corpus.dialogues()]
        self._batch, self._seed = batch, seed
        self._rank, self._count = rank, count
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        """Returns the steps per epoch. Dialogues that do not fill a batch are left out of the epoch."""
        return max(1, len(self._dialogues) // (self._batch * self._count))

    @property
    def longest(self) -> int:
        """Number of frames in the longest dialogue."""
        return max((dialogue.shape[1] for dialogue in self._dialogues), default=0)

    def at(self, step: int) -> torch.Tensor:
        """Returns the batch of a step, int64 `[batch, streams, frames]`."""
        epoch, place = divmod(step, len(self))
        if self._order is None or self._order[0] != epoch:
            self._order = epoch, np.random.default_rng((self._seed, epoch)).permutation(len(self._dialogues))
        start = (place * self._count + self._rank) * self._batch
        chosen = self._order[1].take(range(start, start + self._batch), mode="wrap")
        rows = [self._dialogues[number] for number in chosen]
        longest = max(row.shape[1] for row in rows)
        out = np.full((len(rows), rows[0].shape[0], longest), NONE, np.int64)
        for place, row in enumerate(rows):
            out[place, :, : row.shape[1]] = row
        return torch.from_numpy(out)


@dataclass(frozen=True, slots=True)
class Processes:
    """This process's place among all processes. `device`: the device of its part of the model."""

    rank: int = 0
    count: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.rank == 0


@contextmanager
def joined_processes(device: str = "auto") -> Iterator[Processes]:
    """Joins the processes started by torchrun, or runs alone without it. `device`: auto, cuda or cpu."""
    cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    with _all_cores():
        if "RANK" not in os.environ:
            yield Processes(device=torch.device("cuda" if cuda else "cpu"))
            return
        own = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(own)
        distributed.init_process_group("nccl" if cuda else "gloo")
        try:
            yield Processes(distributed.get_rank(), distributed.get_world_size(), own)
        finally:
            distributed.destroy_process_group()


@contextmanager
def _all_cores() -> Iterator[None]:
    """Lets torch use this process's share of the CPU cores.

    The app's programs compute on one thread to suit a conversation; training has the machine to itself.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def share_out(losses: LossFunction, processes: Processes, precision: str) -> None:
    """Shards the weights of the model in `losses`, layer by layer, over all processes. Does nothing for one process."""
    if processes.count == 1:
        return
    mesh = distributed.init_device_mesh(processes.device.type, (processes.count,))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16) if precision == "bf16" else MixedPrecisionPolicy()
    lm = losses.lm
    for layer in [*lm.transformer.layers, *(lm.depformer.layers if lm.depformer is not None else ())]:
        fully_shard(list(_plain_parts(layer)), mesh=mesh, mp_policy=policy)
    fully_shard(losses, mesh=mesh, mp_policy=policy)


def _plain_parts(module: nn.Module) -> Iterator[nn.Module]:
    """Yields the largest parts of a layer that are not streaming modules, whose class FSDP can't change."""
    for child in module.children():
        if isinstance(child, StreamingModule | nn.ModuleList):
            yield from _plain_parts(child)
        elif any(True for _ in child.parameters()):
            yield child


STATE, MODEL, OPTIMISER = "state.json", "model.safetensors", "optimiser.safetensors"
_OF = "|"
"""Separates a weight's name from the name of its optimiser moment."""
KEPT = 2
"""Number of checkpoints kept per run."""


def save_checkpoint(
    folder: Path, lm: KameLM, optimiser: torch.optim.Optimizer, step: int, settings: TrainSettings, processes: Processes
) -> None:
    """Writes a checkpoint after `step` steps, atomically, and deletes all but the newest `KEPT`."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights: dict[str, Any] = dict(get_model_state_dict(lm, options=options))
    state: dict[str, Any] = dict(get_optimizer_state_dict(lm, optimiser, options=options))
    target, temporary = folder / f"step-{step:07d}", folder / "unfinished"
    if processes.first:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        adapters = any(name.endswith("lora_A.weight") for name in weights)
        kept = {name: value.contiguous() for name, value in weights.items() if not adapters or is_trained(name)}
        save_file(kept, temporary / MODEL)
        moments = {
            f"{name}{_OF}{key}": value.contiguous()
            for name, values in state["state"].items()
            for key, value in values.items()
        }
        save_file(moments, temporary / OPTIMISER)
        described = {"step": step, "settings": dataclasses.asdict(settings)}
        (temporary / STATE).write_text(json.dumps(described), "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        temporary.replace(target)
        for old in checkpoints(folder)[:-KEPT]:
            shutil.rmtree(old)
    if processes.count > 1:
        distributed.barrier()


def checkpoints(folder: Path) -> list[Path]:
    """Returns the complete checkpoints of a run, oldest first."""
    return sorted(path for path in folder.glob("step-*") if (path / STATE).exists())


def read_settings(checkpoint: Path) -> TrainSettings:
    """Reads the settings a run was started with. Raises ModelError."""
    with unreadable(ModelError, f"The settings in {checkpoint} can't be read ({{}}). Choose an earlier checkpoint."):
        return build(TrainSettings, _read_state(checkpoint)["settings"])


def load_weights(checkpoint: Path, lm: KameLM) -> None:
    """Restores the trained weights; frozen ones are not in the checkpoint. Raises ModelError."""
    options = StateDictOptions(full_state_dict=True, strict=False)
    try:
        keys = set_model_state_dict(lm, dict(load_file(checkpoint / MODEL)), options=options)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(
            f"The weights in {checkpoint} can't be read ({error}). Choose an earlier checkpoint."
        ) from error
    adapters = any(name.endswith("lora_A.weight") for name, _ in lm.named_parameters())
    missing = [name for name in keys.missing_keys if not adapters or is_trained(name)]
    if missing or keys.unexpected_keys:
        raise ModelError(
            f"The weights in {checkpoint} are of another model: {(missing or keys.unexpected_keys)[0]} doesn't fit."
        )


def load_checkpoint(checkpoint: Path, lm: KameLM, optimiser: torch.optim.Optimizer) -> int:
    """Restores weights and optimiser and returns the number of completed steps. Raises ModelError.

    No other state is needed: order and random numbers follow from the seed and the step.
    """
    load_weights(checkpoint, lm)
    moments: dict[str, Any] = {}
    for key, value in load_file(checkpoint / OPTIMISER).items():
        name, _, moment = key.partition(_OF)
        moments.setdefault(name, {})[moment] = value
    options = StateDictOptions(full_state_dict=True)
    # The groups keep the settings of the new optimiser; the rate is set at each step.
    groups = get_optimizer_state_dict(lm, optimiser, options=options)["param_groups"]
    set_optimizer_state_dict(lm, optimiser, {"state": moments, "param_groups": groups}, options=options)
    return int(_read_state(checkpoint)["step"])


def _read_state(checkpoint: Path) -> dict[str, Any]:
    with unreadable(ModelError, f"{checkpoint} holds no complete checkpoint. Choose an earlier one."):
        return dict(json.loads((checkpoint / STATE).read_text("utf-8")))


CURVES = "curves.jsonl"


def make_optimiser(lm: KameLM, settings: TrainSettings) -> torch.optim.AdamW:
    """Returns AdamW over all trained weights, without decay for vectors (norms)."""
    trained = [value for value in lm.parameters() if value.requires_grad]
    groups = [
        {"params": [value for value in trained if value.dim() > 1], "weight_decay": settings.decay},
        {"params": [value for value in trained if value.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.rate, betas=settings.betas)


def rate_at(step: int, settings: TrainSettings) -> float:
    """Returns the learning rate of a step: linear warm-up, then a cosine down to `final_rate`."""
    if step < settings.warm_up:
        return settings.rate * (step + 1) / settings.warm_up
    done = (step - settings.warm_up) / max(1, settings.steps - settings.warm_up)
    return settings.rate * (settings.final_rate + (1 - settings.final_rate) * (1 + math.cos(math.pi * done)) / 2)


class Trainer:
    """Trains `lm` on `batches` and writes checkpoints and curves to `folder`.

    - `silence`: the own codes of a silent frame
    - `report`: called with each line of the curves
    - `processes`: this process's place among all; each trains on its own dialogues
    """

    def __init__(
        self,
        lm: KameLM,
        batches: Batches,
        settings: TrainSettings,
        folder: Path,
        silence: tuple[int, ...] | None = None,
        report: Callable[[dict[str, float]], None] = lambda line: None,
        processes: Processes | None = None,
    ) -> None:
        self.step = 0
        self._processes = processes or Processes()
        self._losses = LossFunction(lm, settings.weights, silence, compiled=settings.compile)
        share_out(self._losses, self._processes, settings.precision)
        self.optimiser = make_optimiser(lm, settings)
        self._lm, self._batches, self._settings = lm, batches, settings
        self._folder, self._report = folder, report

    def resume(self) -> None:
        """Resumes from the newest checkpoint in the folder, if there is one."""
        found = checkpoints(self._folder)
        if found:
            self.step = load_checkpoint(found[-1], self._lm, self.optimiser)

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Trains until the last step, or until `stop` returns True after a step, and saves a checkpoint at the end."""
        self._lm.train()
        self._folder.mkdir(parents=True, exist_ok=True)
        saved = self.step
        # Only the first process writes; the others' curves are similar.
        path = self._folder / CURVES if self._processes.first else Path(os.devnull)
        with path.open("a", encoding="utf-8") as curves:
            while self.step < self._settings.steps:
                line = self._one_step()
                curves.write(json.dumps(line) + "\n")
                curves.flush()
                if self._processes.first:
                    self._report(line)
                if self.step - saved >= self._settings.save_every:
                    self._save()
                    saved = self.step
                if stop():
                    break
        if self.step != saved:
            self._save()

    def _one_step(self) -> dict[str, float]:
        began, settings = time.perf_counter(), self._settings
        tokens = self._batches.at(self.step).to(self._processes.device)
        rate = rate_at(self.step, settings)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        bf16 = settings.precision == "bf16"
        with torch.autocast(tokens.device.type, torch.bfloat16) if bf16 else nullcontext():
            seed = (settings.seed * 1_000_003 + self.step) * 997 + self._processes.rank
            losses = self._losses(tokens, audio=settings.train_audio, seed=seed)
        losses.total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self._lm.parameters(), settings.clip)
        if isinstance(norm, DTensor):
            norm = norm.full_tensor()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        speed = tokens.shape[0] * tokens.shape[2] / (time.perf_counter() - began)
        parts = losses.parts()
        loss = {"loss": parts.pop("total"), **parts}
        return {"step": self.step, "rate": rate, **loss, "gradient": float(norm), "frames_per_second": speed}

    def _save(self) -> None:
        save_checkpoint(self._folder, self._lm, self.optimiser, self.step, self._settings, self._processes)
