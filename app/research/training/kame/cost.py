"""What a training costs: memory and hours, told before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from app.frontend.kame.model import KameLM
from app.research.training.kame.settings import TrainSettings

_ACTIVATIONS = {"bf16": 130.0, "fp32": 180.0}
"""Bytes of activations for each number of a layer's width and each position, with adapters. Measured on a step of the
7B's shape at a quarter of its width, rank 32, 128 and 256 frames, on a processor."""
_BESIDE = 1.15
"""What a step takes beside weights and moments while it runs, measured there too."""


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate. `weights`: all; `trained`: those that change; `memory`: bytes a process; `operations`: in all."""

    weights: int
    trained: int
    memory: float
    operations: float

    def sentence(self, measured: float = 0.0, frames: float = 0.0) -> str:
        """The estimate in words. `measured`: frames a second that this machine makes; `frames`: of the whole run."""
        text = (
            f"{self.weights / 1e6:,.1f} M weights, {self.trained / 1e6:,.1f} M of them trained; about "
            f"{self.memory / 1e9:.1f} GB of memory in each process, {self.operations:.1e} operations in all"
        )
        if measured and frames:
            hours = frames / measured / 3600
            text += f"; at {measured:,.0f} frames a second {hours:.1f} hours"
        return text + "."


def cost_of(lm: KameLM, settings: TrainSettings, frames: int, processes: int = 1) -> Cost:
    """Estimates a run over dialogues of `frames` frames.

    Memory: weights in float32 (in bf16 also as they are computed with), for the trained ones a gradient and two
    moments, all shared by the processes, and the activations. Operations: six for each weight and frame, two for those
    that are only passed through.
    """
    weights = sum(value.numel() for value in lm.parameters())
    trained = sum(value.numel() for value in lm.parameters() if value.requires_grad)
    layers, depth_layers = len(lm.transformer.layers), len(lm.depformer.layers) if lm.depformer is not None else 0
    positions = settings.batch * frames
    depth_width = lm.depformer_text_emb.embedding_dim if lm.depformer_text_emb is not None else 0
    bf16 = settings.precision == "bf16"
    share = settings.weights.audio_share if settings.train_audio else 0.0
    activations = (
        _ACTIVATIONS["bf16" if bf16 else "fp32"]
        * positions
        * (layers * lm.dim + share * depth_layers * lm.dep_q * depth_width)
    )
    activations += 4.0 * positions * (lm.text_card + share * lm.dep_q * lm.card) * 2
    copies = 2.0 * weights if bf16 else 0.0
    memory = _BESIDE * ((4.0 * weights + 12.0 * trained + copies) / processes) + activations
    used = sum(value.numel() for name, value in lm.named_parameters() if "emb" not in name)
    operations = (4.0 * used + 2.0 * min(used, trained)) * positions * settings.steps * processes
    return Cost(weights, trained, memory, operations)
