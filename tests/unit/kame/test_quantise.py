"""Quantised matrices: how near they are, what they replace, and the kernels, run here on the processor."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from app.frontend.kame.engine import quantise as q
from app.frontend.kame.engine.generator import KameGen
from tests.unit.kame.test_model import make

pytestmark = pytest.mark.slow
KERNELS = Path(q.__file__).parent / "kernels.cu"
SHIM = r"""
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
// Just enough of CUDA to run one block of warps on a processor: a thread for each lane.
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(n)
struct Dim { int x; };
static thread_local Dim threadIdx, blockIdx;
static float shuffled[128];
static std::barrier<>* gates[4];
static float __uint_as_float(unsigned v) { float f; std::memcpy(&f, &v, 4); return f; }
static unsigned __float_as_uint(float f) { unsigned v; std::memcpy(&v, &f, 4); return v; }
static int min(int a, int b) { return a < b ? a : b; }
static float __shfl_xor_sync(unsigned, float value, int mask) {
  const int me = threadIdx.x;
  gates[me / 32]->arrive_and_wait();
  shuffled[me] = value;
  gates[me / 32]->arrive_and_wait();
  return shuffled[me ^ mask];
}
"""
RUN = r"""
template <class F> static void run(int rows, F kernel) {
  for (int w = 0; w < WARPS; ++w) gates[w] = new std::barrier<>(32);
  for (int block = 0; block < (rows + ROWS * WARPS - 1) / (ROWS * WARPS); ++block) {
    std::vector<std::thread> lanes;
    for (int t = 0; t < 32 * WARPS; ++t)
      lanes.emplace_back([=] { threadIdx.x = t; blockIdx.x = block; kernel(); });
    for (auto& lane : lanes) lane.join();
  }
  for (int w = 0; w < WARPS; ++w) delete gates[w];
}
extern "C" void run_int8(const void* w, const void* p, const void* x, void* y, int rows, int columns) {
  run(rows, [=] { gemv_int8((const signed char*)w, (const float*)p, (const u16*)x, (u16*)y, rows, columns); });
}
extern "C" void run_int4(const void* w, const void* p, const void* x, void* y, int rows, int columns) {
  run(rows, [=] { gemv_int4((const unsigned char*)w, (const u32*)p, (const u16*)x, (u16*)y, rows, columns); });
}
"""


@pytest.fixture(scope="module")
def on_processor(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("c++")
    assert compiler, "The kernels' test needs a C++ compiler (on Debian: apt-get install g++)."
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.cpp").write_text(SHIM + KERNELS.read_text("utf-8") + RUN)
    subprocess.run(
        [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", "-w", "-o", "kernels.so", "kernels.cpp"],
        cwd=folder,
        check=True,
        timeout=120,
    )
    return ctypes.CDLL(str(folder / "kernels.so"))


@pytest.mark.parametrize("precision", ["int8", "int4"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 128), (7, 256), (13, 1024), (9, 2816), (8, 1152)])
def test_a_kernels_product_is_right(on_processor: ctypes.CDLL, precision: q.Precision, rows: int, columns: int) -> None:
    torch.manual_seed(rows * columns)
    matrix = q.QuantisedMatrix(torch.randn(rows, columns) * 0.02, precision)
    x = torch.randn(columns).bfloat16()
    y = torch.full((rows,), torch.nan, dtype=torch.bfloat16)
    kernel = on_processor.run_int8 if precision == "int8" else on_processor.run_int4
    pointers = [ctypes.c_void_p(t.data_ptr()) for t in (matrix.packed, matrix.params, x, y)]
    kernel(*pointers, rows, columns)
    wanted = matrix.plain() @ x.float()
    assert (y.float() - wanted).norm() / wanted.norm() < 4e-3
    assert torch.isfinite(y).all()


@pytest.mark.skipif(torch.version.cuda is None, reason="this build of torch brings no compiler for cards")
@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_the_kernels_compile_without_a_card_or_a_toolkit(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "")
    ptx = q.compile_kernel(f"gemv_{precision}")
    assert f".entry gemv_{precision}(".encode() in ptx and b".target sm_75" in ptx
    for capability in ("75", "80", "86", "89", "90", "120"):
        code = q.compile_kernel(f"gemv_{precision}", capability)
        assert code.startswith(b"\x7fELF") and f"gemv_{precision}".encode() in code


@pytest.mark.skipif(torch.version.cuda is None, reason="this build of torch brings no compiler for cards")
def test_a_kernel_that_does_not_compile_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"__global__ void broken() { oops }")
    with pytest.raises(RuntimeError, match="oops"):
        q.compile_kernel("broken")


def test_a_kernel_is_loaded_with_its_context_and_a_failed_load_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a card that is emulated: it refuses the first load, as a driver does on a thread without a context."""
    done: list[str] = []

    def load(code: bytes, names: list[str]) -> dict[str, object]:
        done.append(f"load {names[0]}")
        if len(done) < 3:
            raise RuntimeError("CUDA error: invalid device context")
        return {names[0]: lambda **_: None}

    monkeypatch.setattr(q, "_working", {})
    monkeypatch.setattr(q, "compile_kernel", lambda *_: b"")
    monkeypatch.setattr(q, "_check", lambda *_: 0.0)
    monkeypatch.setattr(q.cuda_utils, "_cuda_load_module", load)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: done.append("context"))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    assert list(q.kernels()) == ["int4"]
    assert list(q.kernels()) == ["int4", "int8"]
    assert done == ["context", "load gemv_int8", "context", "load gemv_int4", "context", "load gemv_int8"]
    q.kernels()
    assert len(done) == 6


def test_what_is_packed_comes_back_as_near_as_its_bits_allow() -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 512) * 0.02
    weight[3] = 0.0
    int8 = q.unpack_int8(*q.pack_int8(weight))
    assert (int8 - weight).abs().amax() <= (weight.abs().amax(dim=1) / 127 / 2).amax() * 1.01
    int4 = q.unpack_int4(*q.pack_int4(weight))
    groups = weight.view(64, 4, 128)
    step = (groups.amax(2) - groups.amin(2)) / 15
    assert ((int4 - weight).abs().view(64, 4, 128).amax(2) <= step * 0.62 + 1e-6).all()
    assert int8[3].abs().max() == 0 and int4[3].abs().max() < 1e-6


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_quantised_model_steps_and_says_nearly_the_same(precision: q.Precision) -> None:
    shape = {"dim": 128, "depformer_dim": 128, "hidden_scale": 4.5, "depformer_dim_feedforward": 576}
    plain, small = make(**shape), make(**shape)
    assert q.quantise(small, precision) > 20
    leftover = [n for n, m in small.named_modules() if type(m) is torch.nn.Linear]
    assert not leftover
    assert all(m.precision == "int8" for m in (small.text_linear, *small.linears))
    user = torch.randint(0, 32, (1, 3, 20))
    seen = []
    for model in (plain, small):
        logits: list[torch.Tensor] = []
        gen = KameGen(model, use_sampling=False, on_text_logits_hook=lambda v, out=logits: out.append(v.clone()))
        torch.manual_seed(0)
        with gen.streaming(1):
            for step in range(20):
                gen.step(user[:, :, step : step + 1])
        seen.append(torch.stack(logits[:1]))
    error = (seen[0] - seen[1]).norm() / seen[0].norm()
    assert error < (0.03 if precision == "int8" else 0.4)
    kept = sum(t.numel() * t.element_size() for t in small.state_dict().values())
    whole = sum(t.numel() * 2 for t in plain.state_dict().values())
    assert kept < whole


def test_matrices_that_dont_fit_the_form_stay_and_gates_stay_whole() -> None:
    model = make()  # widths of 32, 88 and 44: no groups of 128, and only some multiples of 16
    assert q.quantise(model, "int4", keep_int8=()) == 0
    q.quantise(model, "int8")
    for module in model.modules():
        if hasattr(module, "linear_in"):
            assert type(module.linear_in) is type(module.linear_out)
    gen = KameGen(model, use_sampling=False)
    with gen.streaming(1):
        for _ in range(3):
            out = gen.step(torch.zeros(1, 3, 1, dtype=torch.long))
    assert out is not None and (out >= 0).all()
