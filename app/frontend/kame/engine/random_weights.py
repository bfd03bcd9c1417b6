"""Models with random weights, in the published or a small size, for benchmarks and checks.

The small configurations have the same streams, delays, rates and parts as the published ones. They are for machines
that can't run the published models.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from moshi.models import loaders
from moshi.models.compression import MimiModel
from torch import nn

from app.frontend.kame.engine.checkpoint import Loaded, build_lm
from app.frontend.kame.engine.quantise import Precision, quantise

TINY_LM: dict[str, Any] = {
    "dim": 128,
    "text_card": 400,
    "existing_text_padding_id": 3,
    "n_q": 16,
    "dep_q": 8,
    "card": 64,
    "num_heads": 2,
    "num_layers": 2,
    "hidden_scale": 4.125,
    "causal": True,
    "layer_scale": None,
    "context": 400,
    "max_period": 10000,
    "gating": "silu",
    "norm": "rms_norm_f32",
    "positional_embedding": "rope",
    "depformer_dim": 64,
    "depformer_dim_feedforward": 264,
    "depformer_num_heads": 2,
    "depformer_num_layers": 2,
    "depformer_layer_scale": None,
    "depformer_multi_linear": True,
    "depformer_context": 8,
    "depformer_max_period": 10000,
    "depformer_gating": "silu",
    "depformer_pos_emb": "none",
    "depformer_weights_per_step": True,
    "delays": [0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1],
}
"""A small version of KAME's configuration, with the same streams, delays and parts."""

_SEANET = {
    "channels": 1,
    "dimension": 32,
    "causal": True,
    "n_filters": 2,
    "n_residual_layers": 1,
    "activation": "ELU",
    "compress": 2,
    "dilation_base": 2,
    "disable_norm_outer_blocks": 0,
    "kernel_size": 7,
    "residual_kernel_size": 3,
    "last_kernel_size": 3,
    "norm": "none",
    "pad_mode": "constant",
    "ratios": [8, 6, 5, 4],
    "true_skip": True,
}
TINY_MIMI: dict[str, Any] = {
    "sample_rate": 24000,
    "channels": 1,
    "frame_rate": 12.5,
    "seanet": _SEANET,
    "transformer": {
        "d_model": 32,
        "num_heads": 2,
        "num_layers": 1,
        "causal": True,
        "layer_scale": 0.01,
        "context": 50,
        "conv_layout": True,
        "max_period": 10000,
        "gating": "none",
        "norm": "layer_norm",
        "positional_embedding": "rope",
        "dim_feedforward": 64,
        "input_dimension": 32,
        "output_dimensions": [32],
    },
    "quantizer": {"dimension": 16, "n_q": 8, "bins": 64, "input_dimension": 32, "output_dimension": 32},
}
"""A small version of Mimi's configuration, with the same rates and frames."""

Size = Literal["7b", "tiny"]


def random_models(
    size: Size,
    precision: Precision,
    device: torch.device,
    context: int | None = None,
    dtype: torch.dtype | None = None,
) -> Loaded:
    """Creates models with random weights, directly on `device`. `dtype`: None for bf16 on a card, else float32."""
    config = dict(TINY_LM) if size == "tiny" else None
    dtype = dtype or (torch.bfloat16 if device.type == "cuda" else torch.float32)
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
