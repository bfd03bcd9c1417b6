"""Weight-only int8 and int4 quantisation for batch size 1. Activations stay bf16.

At batch size 1, a step takes as long as reading the weights, so reducing their size to a half or a quarter reduces the
time almost as much. int8 has a scale per row, int4 a scale and a minimum per group of 128 columns. Embeddings and norms
aren't quantised.

On a card, the products run in the app's own kernels (`kernels.py`) if that card has proven them; otherwise, in plain
torch, which is slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from moshi.modules.gating import ActivationGating
from moshi.modules.transformer import StreamingMultiheadAttention
from torch import nn

from app.frontend.kame.engine import kernels
from app.models.fit import Precision

GROUP = 128
"""The number of columns in a row that share an int4 scale and minimum."""

PACKED_ROWS = 2048
"""How many rows are packed together, which takes several float32 copies of them."""


def pack_int8(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Packs `[N, K]` as int8 `[N, K]` and float32 scales `[N]`. Symmetric: each row's largest value becomes 127."""
    weight = weight.float()
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale


def unpack_int8(packed: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Returns the float32 matrix packed by `pack_int8`."""
    return packed.float() * scale[:, None]


def pack_int4(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Packs `[N, K]` as bytes `[N, K / 2]` and bf16 pairs (scale, minimum) `[N, K / 128, 2]`.

    Each value becomes the nearest of 16 steps between the minimum and maximum of its group. Byte j of a row contains
    columns 2j (low nibble) and 2j + 1.
    """
    rows, columns = weight.shape
    groups = weight.float().view(rows, columns // GROUP, GROUP)
    least = groups.amin(dim=2)
    scale = ((groups.amax(dim=2) - least) / 15).clamp(min=1e-12)
    # Uses scale and minimum as rounded to bf16, so that the rounding adds no error.
    scale, least = scale.bfloat16(), least.bfloat16()
    steps = ((groups - least.float()[:, :, None]) / scale.float()[:, :, None]).round().clamp(0, 15)
    steps = steps.to(torch.uint8).view(rows, columns)
    packed = steps[:, 0::2] | (steps[:, 1::2] << 4)
    return packed.contiguous(), torch.stack([scale, least], dim=2).contiguous()


def unpack_int4(packed: torch.Tensor, params: torch.Tensor) -> torch.Tensor:
    """Returns the float32 matrix packed by `pack_int4`."""
    rows, half = packed.shape
    steps = torch.stack([packed & 15, packed >> 4], dim=2).view(rows, -1, GROUP).float()
    scale, least = params.float().unbind(dim=2)
    return (steps * scale[:, :, None] + least[:, :, None]).view(rows, 2 * half)


class QuantisedMatrix(nn.Module):
    """Computes `x W^T` for a `[N, K]` matrix W stored as int8 or int4. `x`: `[..., K]`, any float type."""

    packed: torch.Tensor
    params: torch.Tensor

    def __init__(self, weight: torch.Tensor, precision: Precision, device: torch.device | None = None) -> None:
        super().__init__()
        self.precision = precision
        self.out_features, self.in_features = weight.shape
        pack = pack_int8 if precision == "int8" else pack_int4
        parts = [pack(rows.to(device or weight.device)) for rows in weight.detach().split(PACKED_ROWS)]
        packed, params = (torch.cat(column) for column in zip(*parts, strict=True))
        self.register_buffer("packed", packed)
        # Stored as bytes, so that casting the model doesn't affect them.
        self.register_buffer("params", params.view(torch.uint8))

    def plain(self) -> torch.Tensor:
        """Returns the stored matrix as float32."""
        if self.precision == "int8":
            return unpack_int8(self.packed, self.params.view(torch.float32))
        return unpack_int4(self.packed, self.params.view(torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the product, `[..., N]`, in the type of `x`."""
        rows = x.numel() // self.in_features
        if rows > 4 or not kernels.usable(f"gemv_{self.precision}", self.packed):
            return nn.functional.linear(x, self.plain().to(x.dtype))
        vectors = x.reshape(rows, self.in_features).to(torch.bfloat16).contiguous()
        out = torch.empty(rows, self.out_features, dtype=torch.bfloat16, device=x.device)
        for row in range(rows):
            kernels.gemv(self.precision, self.packed, self.params, vectors[row], out[row])
        return out.view(*x.shape[:-1], self.out_features).to(x.dtype)


class QuantisedProjection(nn.Linear):
    """A quantised matrix as a `Linear`, which the package's attention requires.

    The package takes the type and device of the key-value cache from `weight`, which is empty here.
    """

    def __init__(self, matrix: QuantisedMatrix, like: torch.Tensor) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = matrix.in_features, matrix.out_features
        self.weight = nn.Parameter(torch.empty(0, dtype=like.dtype, device=matrix.packed.device), False)
        self.register_parameter("bias", None)
        self.matrix = matrix

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.matrix(input)


@dataclass(frozen=True, slots=True)
class Slot:
    """A `Linear` that is to be quantised. `name`: its name in the model."""

    name: str
    parent: nn.Module
    precision: Precision
    in_attention: bool

    def fill(self, weight: torch.Tensor, device: torch.device | None = None) -> None:
        """Replaces the `Linear` with its quantised weight, on `device`."""
        attribute = self.name.rpartition(".")[2]
        matrix = QuantisedMatrix(weight, self.precision, device)
        setattr(self.parent, attribute, QuantisedProjection(matrix, weight) if self.in_attention else matrix)


def quantisable(
    model: nn.Module, precision: Precision, keep_int8: tuple[str, ...] = ("text_linear", "linears")
) -> list[Slot]:
    """Returns the `Linear` modules that are quantised: those whose number of columns suits the precision.

    `keep_int8`: children that become int8 even if `precision` is int4, because errors there affect probabilities.
    """
    if precision == "bf16":
        return []
    projections = {
        id(group)
        for part in model.modules()
        if isinstance(part, StreamingMultiheadAttention)
        for group in (part.in_projs, part.out_projs)
    }
    found: list[Slot] = []

    def walk(module: nn.Module, path: str, form: Precision) -> None:
        # The package treats both matrices of a gate alike, so quantise both or neither.
        if isinstance(module, ActivationGating) and not all(
            _fits(matrix, form) for matrix in (module.linear_in, module.linear_out)
        ):
            return
        for name, child in module.named_children():
            wanted: Precision = "int8" if module is model and name in keep_int8 else form
            if not isinstance(child, nn.Linear):
                walk(child, f"{path}{name}.", wanted)
            elif _fits(child, wanted):
                found.append(Slot(path + name, module, wanted, id(module) in projections))

    walk(model, "", precision)
    return found


def quantise(
    model: nn.Module,
    precision: Precision,
    device: torch.device | None = None,
    *,
    keep_int8: tuple[str, ...] = ("text_linear", "linears"),
    weight_of: Callable[[nn.Linear], torch.Tensor] = lambda linear: linear.weight,
) -> int:
    """Replaces the `Linear` modules of `quantisable` with quantised matrices and returns how many were replaced.

    - `device`: the device each quantised matrix is moved to when created, so that the bf16 model needn't fit there.
    - `weight_of`: returns the weights of a `Linear`, if they aren't in the module itself.
    """
    slots = quantisable(model, precision, keep_int8)
    for slot in slots:
        linear = slot.parent.get_submodule(slot.name.rpartition(".")[2])
        assert isinstance(linear, nn.Linear)
        slot.fill(weight_of(linear), device)
    return len(slots)


def _fits(matrix: nn.Module, form: Precision) -> bool:
    if isinstance(matrix, QuantisedProjection) or not isinstance(matrix, nn.Linear) or matrix.bias is not None:
        return False
    return matrix.in_features % (16 if form == "int8" else GROUP) == 0
