"""Weights in eight bits for a small model's file: half the size of bfloat16, and what is loaded is float32 again.

Each row of a matrix is stored as int8, with its scale in float16 beside it under the same name and `SCALE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from app.frontend.kame.codec.layout import SCALE

_LEAST_COLUMNS = 64


def save_compact(state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Writes weights: matrices in eight bits, all else in float16."""
    out: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        value = value.detach().float()
        if value.dim() == 2 and value.shape[1] >= _LEAST_COLUMNS:
            scale = (value.abs().amax(1) / 127).clamp(min=1e-8).half().float().clamp(min=2**-24)
            out[name] = (value / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
            out[name + SCALE] = scale.half()
        else:
            out[name] = value.half()
    save_file({name: value.contiguous() for name, value in out.items()}, path)


def load_whole(path: Path, device: str = "cpu") -> dict[str, torch.Tensor]:
    """Reads weights of either form; those in eight bits become float32."""
    stored = load_file(path, device=device)
    scales = {name: stored.pop(name) for name in list(stored) if name.endswith(SCALE)}
    for name, scale in scales.items():
        matrix = name.removesuffix(SCALE)
        stored[matrix] = stored[matrix].float() * scale.float()[:, None]
    return stored
