"""The app's own CUDA kernels: compiles and loads them, and launches those that this card has proven (`proofs.py`).

NVRTC, which comes with torch on Linux and Windows, compiles `kernels.cu`, so neither Triton nor a compiler is needed.
The functions named after kernels launch them unconditionally; their callers first ask `usable`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.cuda._utils as cuda_utils

SOURCE = Path(__file__).parent / "kernels.cu"
NAMES = ("gemv_int8", "gemv_int4", "rms_norm", "silu_gate", "rope_write")
DEVICE = "cuda"
"""The type of the devices that run the kernels."""

ROWS_A_BLOCK = 8
GEMV_THREADS = 128
"""Must match `kernels.cu`: 4 warps of 2 rows."""
EPSILON = 1e-8
"""What `rms_norm` adds to the mean square, as the package's norm `rms_norm_f32` does."""
THREADS = 128
MOST_THREADS = 512
"""The largest number of threads in a block of `rms_norm`: one for 8 of the 4,096 values."""

_loaded: dict[str, Callable[..., None]] = {}
_proven: set[str] = set()


def usable(name: str, *tensors: torch.Tensor) -> bool:
    """Returns whether a kernel may run on these tensors: it is proven, and they are contiguous and in its memory."""
    return name in _proven and all(t.device.type == DEVICE and t.is_contiguous() for t in tensors)


def fits(*tensors: torch.Tensor) -> bool:
    """Returns whether tensors are bf16 in rows of a multiple of 8 values, each row 16-byte aligned."""
    return all(t.dtype == torch.bfloat16 and t.shape[-1] % 8 == 0 and t.storage_offset() % 8 == 0 for t in tensors)


def allow(name: str, allowed: bool = True) -> None:
    """Says that this card has proven a kernel, or not."""
    (_proven.add if allowed else _proven.discard)(name)


def launch(name: str, blocks: int, threads: int, *args: torch.Tensor | int) -> None:
    """Launches a loaded kernel on the current stream, which may be capturing. No other code launches kernels."""
    _loaded[name](grid=(blocks, 1, 1), block=(threads, 1, 1), args=list(args))


def gemv(precision: str, packed: torch.Tensor, params: torch.Tensor, vector: torch.Tensor, out: torch.Tensor) -> None:
    """Writes the product of a packed matrix, `[N, K]`, and a bf16 vector, `[K]`, to `out`, bf16 `[N]`."""
    rows, columns = out.shape[0], vector.shape[0]
    blocks = _ceil(rows, ROWS_A_BLOCK)
    launch(f"gemv_{precision}", blocks, GEMV_THREADS, packed, params, vector, out, rows, columns)


def rms_norm(x: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """Returns the root mean square norm of `x`, bf16 `[..., C]`, scaled by `alpha`, bf16 with C values.

    The number added to the mean square is `EPSILON`.
    """
    width = x.shape[-1]
    out = torch.empty_like(x)
    threads = min(MOST_THREADS, 32 * _ceil(width, 8 * 32))
    launch("rms_norm", x.numel() // width, threads, x, alpha, out, width)
    return out


def silu_gate(x: torch.Tensor) -> torch.Tensor:
    """Returns silu(a) * b, `[..., C]`, for `x` = [a, b], bf16 `[..., 2 C]`."""
    width = x.shape[-1] // 2
    rows = x.numel() // (2 * width)
    out = torch.empty(*x.shape[:-1], width, dtype=x.dtype, device=x.device)
    launch("silu_gate", _ceil(rows * width, 8 * THREADS), THREADS, x, out, rows, width)
    return out


def rope_write(projected: torch.Tensor, rotation: torch.Tensor, slot: torch.Tensor, ring: torch.Tensor) -> torch.Tensor:
    """Rotates query and key, writes key and value to a ring, and returns the query, `[1, H, 1, D]`.

    - `projected`: query, key and value of one position, bf16 with 3 H D values.
    - `rotation`: complex64 `[D / 2]`.
    - `slot`: where to write, int64 `[1]`.
    - `ring`: keys and values, bf16 `[2, 1, H, capacity, D]`.
    """
    _, _, heads, capacity, size = ring.shape
    pairs = size // 2
    query = torch.empty(1, heads, 1, size, dtype=ring.dtype, device=ring.device)
    blocks = _ceil(heads * pairs, THREADS)
    launch("rope_write", blocks, THREADS, projected, rotation, slot, query, ring, heads, pairs, capacity)
    return query


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def load() -> None:
    """Compiles and loads all kernels for this card, unless they are loaded. Raises RuntimeError."""
    if _loaded:
        return
    # Loading is a driver call and needs the card's context bound to this thread, which synchronising does.
    torch.cuda.synchronize()
    major, minor = torch.cuda.get_device_capability()
    try:
        code = compile_kernels(f"{major}{minor}")
    except RuntimeError:
        code = compile_kernels()  # the card is newer than this torch
    loaded = cuda_utils._cuda_load_module(code, list(NAMES))
    assert isinstance(loaded, dict)  # because names were given
    _loaded.update(loaded)


def compile_kernels(capability: str = "") -> bytes:
    """Compiles `kernels.cu` for cards of `capability` ("89"), or to PTX for any card from Turing on.

    Machine code is preferred because a driver can't load PTX newer than itself. Needs neither a
    card nor, unlike torch's own helper, CUDA toolkit headers. Raises RuntimeError with the compiler log.
    """
    names = ("_get_nvrtc_library", "_get_gpu_rtc_library")  # in torch 2.9, and in later versions
    library = next(getattr(cuda_utils, name) for name in names if hasattr(cuda_utils, name))
    nvrtc, program = library(), ctypes.c_void_p()

    def call(function: str, *args: Any) -> None:
        if code := getattr(nvrtc, function)(*args):
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            text = ctypes.create_string_buffer(max(1, size.value))
            nvrtc.nvrtcGetProgramLog(program, text)
            raise RuntimeError(f"{function} failed ({code}): {text.value.decode('utf-8', 'replace')}")

    call("nvrtcCreateProgram", ctypes.byref(program), SOURCE.read_bytes(), SOURCE.name.encode(), 0, None, None)
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
