"""Saves all that a run needs to go on exactly as if it had not stopped, and reads it.

The files are safetensors and JSON. They hold whole tensors, whatever number of processes wrote them, so a run may go on
with another number.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import distributed
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

from app.frontend.kame.model import KameLM
from app.models.errors import ModelError
from app.research.training.kame.adapters import is_trained
from app.research.training.kame.processes import Processes
from app.research.training.kame.settings import LossWeights, TrainSettings

STATE, MODEL, OPTIMISER = "state.json", "model.safetensors", "optimiser.safetensors"
_OF = "|"
"""Between a weight's name and the name of its moment."""
KEPT = 2
"""Checkpoints of a run that are kept: one may be cut short by a stop."""


def save_checkpoint(
    folder: Path,
    lm: KameLM,
    optimiser: torch.optim.Optimizer,
    step: int,
    settings: TrainSettings,
    processes: Processes | None = None,
) -> Path:
    """Writes a checkpoint after `step` steps; the newest `KEPT` stay. It is there whole or not at all."""
    processes = processes or Processes()
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
    return target


def checkpoints(folder: Path) -> list[Path]:
    """The complete checkpoints of a run, oldest first."""
    return sorted(path for path in folder.glob("step-*") if (path / STATE).exists())


def read_settings(checkpoint: Path) -> TrainSettings:
    """The settings that a run was started with. Raises ModelError."""
    stored = dict(_read_state(checkpoint)["settings"])
    stored["weights"] = LossWeights(**stored["weights"])
    stored["betas"] = tuple(stored["betas"])
    return TrainSettings(**stored)


def load_weights(checkpoint: Path, lm: KameLM) -> None:
    """Restores the weights; those that are not trained are not in the checkpoint. Raises ModelError."""
    options = StateDictOptions(full_state_dict=True, strict=False)
    try:
        keys = set_model_state_dict(lm, dict(load_file(checkpoint / MODEL)), options=options)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(
            f"The weights in {checkpoint} can't be read ({error}). Choose an earlier checkpoint."
        ) from error
    missing = [name for name in keys.missing_keys if _needed(name, lm)]
    if missing or keys.unexpected_keys:
        raise ModelError(
            f"The weights in {checkpoint} are of another model: {(missing or keys.unexpected_keys)[0]} doesn't fit."
        )


def load_checkpoint(checkpoint: Path, lm: KameLM, optimiser: torch.optim.Optimizer) -> int:
    """Restores weights and optimiser; returns the steps that were done. Raises ModelError.

    Nothing else changes from step to step: order and random numbers follow from the seed and the step.
    """
    load_weights(checkpoint, lm)
    moments: dict[str, Any] = {}
    for key, value in load_file(checkpoint / OPTIMISER).items():
        name, _, moment = key.partition(_OF)
        moments.setdefault(name, {})[moment] = value
    options = StateDictOptions(full_state_dict=True)
    # The groups' settings are as the optimiser was made; the rate is set at each step.
    groups = get_optimizer_state_dict(lm, optimiser, options=options)["param_groups"]
    set_optimizer_state_dict(lm, optimiser, {"state": moments, "param_groups": groups}, options=options)
    return int(_read_state(checkpoint)["step"])


def _needed(name: str, lm: KameLM) -> bool:
    adapters = any(other.endswith("lora_A.weight") for other, _ in lm.named_parameters())
    return not adapters or is_trained(name)


def _read_state(checkpoint: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((checkpoint / STATE).read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ModelError(f"{checkpoint} holds no complete checkpoint. Choose an earlier one.") from error
