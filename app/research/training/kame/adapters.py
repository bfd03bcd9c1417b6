"""Low-rank adapters (LoRA, arXiv 2106.09685) on a model's matrices, by the layers of the package moshi."""

from __future__ import annotations

import torch
from moshi.modules.lora import LoRALinear, replace_all_linear_with_lora, replace_lora_with_linear
from torch import nn

from app.frontend.kame.model import KameLM

_PARTS = ("lora_A.weight", "lora_B.weight")
_ALSO = "oracle_emb."
"""Trained whole beside the adapters: it is what a model that starts as Moshi has to learn."""


def add_adapters(lm: KameLM, rank: int, scaling: float) -> None:
    """Puts an adapter on each matrix, and freezes all else but the oracle's embedding. At first they change nothing."""
    replace_all_linear_with_lora(lm, rank, scaling)
    for layer in lm.modules():
        if isinstance(layer, LoRALinear):
            nn.init.kaiming_uniform_(layer.lora_A.weight, a=5**0.5)
            nn.init.zeros_(layer.lora_B.weight)
    for name, value in lm.named_parameters():
        value.requires_grad_(is_trained(name))


def is_trained(name: str) -> bool:
    """Whether a weight of a model with adapters is trained."""
    return name.endswith(_PARTS) or name.startswith(_ALSO)


def fuse_adapters(lm: KameLM) -> None:
    """Adds the adapters to their matrices, in place: a model of the plain class with what was learnt."""
    with torch.no_grad():
        replace_lora_with_linear(lm)
