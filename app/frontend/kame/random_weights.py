"""Models with random weights, in the published or a small size, for benchmarks and checks."""

from __future__ import annotations

from typing import Literal

import torch
from moshi.models import loaders
from moshi.models.compression import MimiModel
from torch import nn

from app.frontend.kame.checkpoint import Loaded, build_lm
from app.frontend.kame.quantise import Precision, quantise
from app.frontend.kame.shapes import TINY_LM, TINY_MIMI

Size = Literal["7b", "tiny"]


def random_models(size: Size, precision: Precision, device: torch.device, context: int | None = None) -> Loaded:
    """Creates models with random weights, directly on `device`."""
    config = dict(TINY_LM) if size == "tiny" else None
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    lm = build_lm(config, torch.device("meta"), dtype, context)
    random = torch.Generator(device=device).manual_seed(0)

    def weights(like: torch.Tensor) -> torch.Tensor:
        deviation = like.shape[-1] ** -0.5 if like.dim() > 1 else 1.0
        made = torch.empty(like.shape, dtype=like.dtype, device=device)
        return made.normal_(0, deviation, generator=random) if like.dim() > 1 else made.fill_(1.0)

    quantise(lm, precision, device, weight_of=lambda linear: weights(linear.weight))
    for module in lm.modules():
        for name, value in list(module.named_parameters(recurse=False)):
            if value.is_meta:
                setattr(module, name, nn.Parameter(weights(value), requires_grad=False))
    mimi = random_mimi(size, device, max(lm.dep_q, lm.n_q - lm.dep_q))
    return Loaded(lm.eval(), mimi, pieces=None, learnt_oracle=True)  # type: ignore[arg-type]


def random_mimi(size: Size, device: torch.device, codebooks: int) -> MimiModel:
    """Creates a codec with random weights."""
    torch.manual_seed(0)
    mimi = loaders.get_mimi(None, TINY_MIMI if size == "tiny" else None, device=device, num_codebooks=codebooks)
    with torch.no_grad():
        for name, value in mimi.named_buffers():
            if name.endswith("embedding_sum"):
                value.normal_(0, 0.3)
    return mimi.requires_grad_(False)
