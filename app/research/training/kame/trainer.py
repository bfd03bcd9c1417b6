"""Runs the steps of a training: batch, loss, gradient, optimiser, checkpoint."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import torch
from torch.distributed.tensor import DTensor

from app.frontend.kame.model import KameLM
from app.research.training.kame.batches import Batches
from app.research.training.kame.checkpoints import checkpoints, load_checkpoint, save_checkpoint
from app.research.training.kame.loss import LossFunction
from app.research.training.kame.processes import Processes, share_out
from app.research.training.kame.settings import TrainSettings

CURVES = "curves.jsonl"


def make_optimiser(lm: KameLM, settings: TrainSettings) -> torch.optim.AdamW:
    """AdamW over all weights that are trained; vectors (norms) are not decayed."""
    trained = [value for value in lm.parameters() if value.requires_grad]
    groups = [
        {"params": [value for value in trained if value.dim() > 1], "weight_decay": settings.decay},
        {"params": [value for value in trained if value.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.rate, betas=settings.betas)


def rate_at(step: int, settings: TrainSettings) -> float:
    """The learning rate of a step: linear warm-up, then a cosine down to `final_rate`."""
    if step < settings.warm_up:
        return settings.rate * (step + 1) / settings.warm_up
    done = (step - settings.warm_up) / max(1, settings.steps - settings.warm_up)
    return settings.rate * (settings.final_rate + (1 - settings.final_rate) * (1 + math.cos(math.pi * done)) / 2)


class Trainer:
    """Trains `lm` on `batches`, in `folder`, where checkpoints and curves are written.

    `silence`: the own codes of a silent frame. `report` gets each line of the curves. `processes`: this one among all;
    each takes its own dialogues.
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
        """Goes on from the newest checkpoint in the folder, if there is one."""
        found = checkpoints(self._folder)
        if found:
            self.step = load_checkpoint(found[-1], self._lm, self.optimiser)

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Trains until the last step, or until `stop` says so after a step; saves a checkpoint at the end."""
        self._lm.train()
        self._folder.mkdir(parents=True, exist_ok=True)
        saved = self.step
        # Only the first process writes; the others' curves are alike.
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
        return {
            "step": self.step,
            "rate": rate,
            "loss": float(losses.total.detach()),
            "words": float(losses.words),
            "padding": float(losses.padding),
            "first_book": float(losses.first_book),
            "other_books": float(losses.other_books),
            "right_words": float(losses.right_words),
            "gradient": float(norm),
            "frames_per_second": tokens.shape[0] * tokens.shape[2] / (time.perf_counter() - began),
        }

    def _save(self) -> None:
        save_checkpoint(self._folder, self._lm, self.optimiser, self.step, self._settings, self._processes)
