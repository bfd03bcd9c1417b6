"""Weight-only int8 and int4 quantisation for batch size 1. Activations stay bf16.

At batch size 1, a step takes as long as reading the weights, so reducing their size to a half or a quarter reduces the
time almost as much. int8 has a scale per row, int4 a scale and a minimum per group of 128 columns. Embeddings and norms
aren't quantised.

The products run in the app's own kernels, compiled on loading by NVRTC, which comes with torch on Linux and Windows, so
neither Triton nor a compiler is needed. Each kernel is checked against plain torch on the device before it is used. If
it doesn't compile or gives wrong results, plain torch is used, which is slower.
"""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.cuda._utils as cuda_utils
from moshi.modules.gating import ActivationGating
from moshi.modules.transformer import StreamingMultiheadAttention
from torch import nn

from app.models.fit import Precision

GROUP = 128
"""The number of columns in a row that share an int4 scale and minimum."""

ROWS_A_BLOCK = 8
THREADS_A_BLOCK = 128
"""Must match `kernels.cu`: 4 warps of 2 rows."""

PACKED_ROWS = 2048
"""How many rows are packed together, which takes several float32 copies of them."""

Kernel = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], None]
"""Called with the packed matrix, its parameters, the vector and the output tensor."""

log = logging.getLogger(__name__)

_working: dict[Precision, Kernel] = {}
"""The kernels loaded and checked in this process."""


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
        kernel = _working.get(self.precision) if self.packed.is_cuda else None
        rows = x.numel() // self.in_features
        if kernel is None or rows > 4:
            return nn.functional.linear(x, self.plain().to(x.dtype))
        vectors = x.reshape(rows, self.in_features).to(torch.bfloat16).contiguous()
        out = torch.empty(rows, self.out_features, dtype=torch.bfloat16, device=x.device)
        for row in range(rows):
            kernel(self.packed, self.params, vectors[row], out[row])
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
    if slots and (device or next(model.parameters()).device).type == "cuda":
        kernels()
    for slot in slots:
        linear = slot.parent.get_submodule(slot.name.rpartition(".")[2])
        assert isinstance(linear, nn.Linear)
        slot.fill(weight_of(linear), device)
    return len(slots)


def _fits(matrix: nn.Module, form: Precision) -> bool:
    if isinstance(matrix, QuantisedProjection) or not isinstance(matrix, nn.Linear) or matrix.bias is not None:
        return False
    return matrix.in_features % (16 if form == "int8" else GROUP) == 0


def kernels() -> dict[Precision, Kernel]:
    """Returns the kernels that have been verified on this machine's GPU, keyed by precision.

    The next call retries any that couldn't be loaded.
    """
    forms: tuple[Precision, ...] = ("int8", "int4")
    for precision in forms if torch.cuda.is_available() else ():
        if precision in _working:
            continue
        try:
            kernel = functools.partial(_launch, _load_kernel(f"gemv_{precision}"))
            if error := _check(kernel, precision):
                raise RuntimeError(f"its result is off by {error:.3g}")
            _working[precision] = kernel
        except Exception as error:
            # A driver, card or newer torch may fail in any way. The session continues, only slower.
            log.warning("The %s kernel can't be used (%s); plain torch stands in.", precision, error)
    return _working


def compile_kernel(name: str, capability: str = "") -> bytes:
    """Compiles a kernel in `kernels.cu` for cards of `capability` ("89"), or to PTX for any card from Turing on.

    Machine code is preferred because a driver can't load PTX newer than itself. Needs neither a
    card nor, unlike torch's own helper, CUDA toolkit headers. Raises RuntimeError with the compiler log.
    """
    names = ("_get_nvrtc_library", "_get_gpu_rtc_library")  # in torch 2.9, and in later versions
    library = next(getattr(cuda_utils, name) for name in names if hasattr(cuda_utils, name))
    nvrtc, program = library(), ctypes.c_void_p()
    source = (Path(__file__).parent / "kernels.cu").read_bytes()

    def call(function: str, *args: Any) -> None:
        if code := getattr(nvrtc, function)(*args):
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            text = ctypes.create_string_buffer(max(1, size.value))
            nvrtc.nvrtcGetProgramLog(program, text)
            raise RuntimeError(f"{function} failed ({code}): {text.value.decode('utf-8', 'replace')}")

    call("nvrtcCreateProgram", ctypes.byref(program), source, f"{name}.cu".encode(), 0, None, None)
    try:
        target = f"sm_{capability}" if capability else "compute_75"
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={target}".encode())
        call("nvrtcCompileProgram", program, 1, options)
        kind, size = "CUBIN" if capability else "PTX", ctypes.c_size_t()
        call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        call(f"nvrtcGet{kind}", program, code)
        return code.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _load_kernel(name: str) -> Callable[..., None]:
    # Loading is a driver call and needs the card's context bound to this thread, which synchronising does.
    torch.cuda.synchronize()
    major, minor = torch.cuda.get_device_capability()
    try:
        code = compile_kernel(name, f"{major}{minor}")
    except RuntimeError:
        code = compile_kernel(name)  # the card is newer than this torch
    loaded = cuda_utils._cuda_load_module(code, [name])
    assert isinstance(loaded, dict)  # because a name was given
    return loaded[name]


def _launch(
    compiled: Callable[..., None],
    packed: torch.Tensor,
    params: torch.Tensor,
    vector: torch.Tensor,
    out: torch.Tensor,
) -> None:
    rows, columns = out.shape[0], vector.shape[0]
    grid = ((rows + ROWS_A_BLOCK - 1) // ROWS_A_BLOCK, 1, 1)
    compiled(grid=grid, block=(THREADS_A_BLOCK, 1, 1), args=[packed, params, vector, out, rows, columns])


def _check(kernel: Callable[..., None], precision: Precision) -> float:
    """Returns the kernel's relative error against plain torch on this device, or 0 if it is within bf16 rounding."""
    random = torch.Generator().manual_seed(0)
    worst = 0.0
    for rows, columns in ((1, 128), (515, 1024), (4096, 4096), (7, 11264)):
        weight = torch.randn(rows, columns, generator=random)
        matrix = QuantisedMatrix(weight, precision, torch.device("cuda"))
        vector = torch.randn(columns, generator=random).bfloat16().cuda()
        out = torch.full((rows,), torch.nan, dtype=torch.bfloat16, device="cuda")
        kernel(matrix.packed, matrix.params, vector, out)
        wanted = matrix.plain() @ vector.float()
        error = ((out.float() - wanted).norm() / wanted.norm()).item()
        worst = max(worst, error if error == error else float("inf"))
    return worst if worst > 5e-3 else 0.0
