"""The app's CUDA kernels on the processor: compiled as C++, a thread for each lane."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from app.frontend.kame.engine import kernels

SHIM = r"""
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(n)
struct Dim { int x; };
static thread_local Dim threadIdx, blockIdx;
static Dim blockDim;
static float shuffled[1024];
static std::barrier<>* warps[32];
static std::barrier<>* block;
static float __uint_as_float(unsigned v) { float f; std::memcpy(&f, &v, 4); return f; }
static unsigned __float_as_uint(float f) { unsigned v; std::memcpy(&v, &f, 4); return v; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fsub_rn(float a, float b) { return a - b; }
static float rsqrtf(float v) { return 1.f / std::sqrt(v); }
static int min(int a, int b) { return a < b ? a : b; }
static void __syncthreads() { block->arrive_and_wait(); }
static float __shfl_xor_sync(unsigned, float value, int mask) {
  const int me = threadIdx.x;
  warps[me / 32]->arrive_and_wait();
  shuffled[me] = value;
  warps[me / 32]->arrive_and_wait();
  return shuffled[me ^ mask];
}
"""
RUN = r"""
template <class F> static void run(int blocks, int threads, F kernel) {
  blockDim.x = threads;
  std::barrier<> all(threads);
  block = &all;
  for (int w = 0; w < threads / 32; ++w) warps[w] = new std::barrier<>(32);
  std::vector<std::thread> lanes;
  for (int t = 0; t < threads; ++t)
    lanes.emplace_back([=] {
      threadIdx.x = t;
      for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        kernel();
        block->arrive_and_wait();
      }
    });
  for (auto& lane : lanes) lane.join();
  for (int w = 0; w < threads / 32; ++w) delete warps[w];
}
extern "C" void run_gemv_int8(int blocks, int threads, const signed char* w, const float* p, const u16* x, u16* y,
                              int rows, int columns) {
  run(blocks, threads, [=] { gemv_int8(w, p, x, y, rows, columns); });
}
extern "C" void run_gemv_int4(int blocks, int threads, const unsigned char* w, const u32* p, const u16* x, u16* y,
                              int rows, int columns) {
  run(blocks, threads, [=] { gemv_int4(w, p, x, y, rows, columns); });
}
extern "C" void run_rms_norm(int blocks, int threads, const u16* x, const u16* alpha, u16* y, int width) {
  run(blocks, threads, [=] { rms_norm(x, alpha, y, width); });
}
extern "C" void run_silu_gate(int blocks, int threads, const u16* x, u16* y, int rows, int width) {
  run(blocks, threads, [=] { silu_gate(x, y, rows, width); });
}
extern "C" void run_rope_write(int blocks, int threads, const u32* projected, const float* rotation,
                               const long long* slot, u32* query, u32* ring, int heads, int pairs, int capacity) {
  run(blocks, threads, [=] { rope_write(projected, rotation, slot, query, ring, heads, pairs, capacity); });
}
"""

Launcher = Callable[..., None]
"""What torch returns for a loaded kernel: called with `grid`, `block` and `args`."""


def compile_for_processor(folder: Path, source: str) -> dict[str, Launcher]:
    """Compiles the text of `kernels.cu` and returns its kernels as torch would."""
    compiler = shutil.which("g++") or shutil.which("c++")
    assert compiler, "The kernels' test needs a C++ compiler (on Debian: apt-get install g++)."
    (folder / "kernels.cpp").write_text(SHIM + source + RUN)
    subprocess.run(
        [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-w", "-o", "kernels.so", "kernels.cpp"],
        cwd=folder,
        check=True,
        timeout=120,
    )
    library = ctypes.CDLL(str(folder / "kernels.so"))
    return {name: _launcher(getattr(library, f"run_{name}")) for name in kernels.NAMES}


def _launcher(function: Any) -> Launcher:
    def launch(grid: tuple[int, int, int], block: tuple[int, int, int], args: list[torch.Tensor | int]) -> None:
        assert grid[1:] == block[1:] == (1, 1) and block[0] % 32 == 0 and block[0] <= 1024
        for arg in args:
            assert isinstance(arg, int) or (arg.is_contiguous() and arg.device.type == "cpu")
        function(
            grid[0],
            block[0],
            *(arg if isinstance(arg, int) else ctypes.c_void_p(arg.data_ptr()) for arg in args),
        )

    return launch


def use_emulated(monkeypatch: pytest.MonkeyPatch, launchers: dict[str, Launcher], *names: str) -> list[str]:
    """Has the processor run the kernels, those of `names` also in models. Returns the list of launches to come."""
    launched: list[str] = []
    launch = kernels.launch

    def noted(name: str, *args: Any) -> None:
        launched.append(name)
        launch(name, *args)

    monkeypatch.setattr(kernels, "DEVICE", "cpu")
    monkeypatch.setattr(kernels, "_loaded", dict(launchers))
    monkeypatch.setattr(kernels, "_proven", set(names))
    monkeypatch.setattr(kernels, "launch", noted)
    return launched
