"""The app's CUDA kernels, run on the processor, and the proofs that they must give before they are used on a card."""

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from app.frontend.kame.engine import kernels, proofs
from app.frontend.kame.engine.quantise import Precision, QuantisedMatrix
from app.platform.nvidia import Driver
from tests.support.emulated_kernels import Launcher, compile_for_processor, use_emulated

pytestmark = pytest.mark.slow
CPU = torch.device("cpu")
needs_nvrtc = pytest.mark.skipif(torch.version.cuda is None, reason="this build of torch brings no compiler for cards")


@pytest.fixture(scope="module")
def launchers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Launcher]:
    return compile_for_processor(tmp_path_factory.mktemp("kernels"), kernels.SOURCE.read_text("utf-8"))


@pytest.fixture
def emulated(launchers: dict[str, Launcher], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return use_emulated(monkeypatch, launchers)


@pytest.mark.parametrize("precision", ["int8", "int4"])
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 128), (7, 256), (13, 1024), (9, 2816), (8, 1152), (21, 4096), (3, 11264)]
)
def test_a_product_is_right(emulated: list[str], precision: Precision, rows: int, columns: int) -> None:
    torch.manual_seed(rows * columns)
    matrix = QuantisedMatrix(torch.randn(rows, columns) * 0.02, precision)
    x = torch.randn(columns).bfloat16()
    y = torch.full((rows,), torch.nan, dtype=torch.bfloat16)
    kernels.gemv(precision, matrix.packed, matrix.params, x, y)
    wanted = matrix.plain() @ x.float()
    assert (y.float() - wanted).norm() / wanted.norm() < 4e-3
    assert torch.isfinite(y).all()


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_a_matrix_multiplies_by_its_kernel_once_it_is_proven(emulated: list[str], precision: Precision) -> None:
    matrix = QuantisedMatrix(torch.randn(16, 256), precision)
    x = torch.randn(1, 5, 256).bfloat16()
    wanted = matrix(x)
    assert not emulated
    kernels.allow(f"gemv_{precision}")
    for rows in (1, 4):
        error = matrix(x[:, :rows]).float() - wanted[:, :rows].float()
        assert error.norm() / wanted[:, :rows].float().norm() < 0.01
    assert emulated == 5 * [f"gemv_{precision}"]
    assert torch.equal(matrix(x), wanted) and len(emulated) == 5  # more rows than the kernel is good for


@pytest.mark.parametrize("name", kernels.NAMES)
def test_a_kernel_passes_its_proof(emulated: list[str], name: str) -> None:
    assert proofs.CHECKS[name](CPU) == ""
    assert set(emulated) == {name}


MUTATIONS = {
    "gemv_int8": ("to_bf16(total * scale[first + r])", "to_bf16(total * scale[first])"),
    "gemv_int4": ("plain * high(param)", "plain * low(param)"),
    "rms_norm": ("sum += first * first + second * second", "sum += first * first"),
    "silu_gate": ("value / (1.f + expf(-value))", "value / (1.f + expf(value))"),
    "rope_write": ("capacity + slot[0]) * pairs", "capacity + slot[0] + 1) * pairs"),
}


def test_a_wrong_kernel_fails_its_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = kernels.SOURCE.read_text("utf-8")
    for right, wrong in MUTATIONS.values():
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    use_emulated(monkeypatch, compile_for_processor(tmp_path, source))
    # One place more than the ring has, for what the wrong kernel writes behind it.
    monkeypatch.setattr(proofs, "RingKVCache", _RoomyRing)
    for name in MUTATIONS:
        assert proofs.CHECKS[name](CPU), name


class _RoomyRing(proofs.RingKVCache):
    def __init__(self, *args: int, **how: object) -> None:
        super().__init__(*args, **how)  # type: ignore[arg-type]
        roomy = self.cache.new_zeros(self.cache.numel() + self.cache.shape[-1])
        self.cache = roomy[: self.cache.numel()].view(self.cache.shape)


def test_norm_and_gate_treat_extremes_as_torch_does(emulated: list[str]) -> None:
    extremes = torch.tensor([0.0, -0.0, 1e-30, -1e-20, 100.0, -100.0, 3e38, -3e38]).bfloat16()
    infinite = torch.tensor([torch.inf, -torch.inf, torch.nan, 1.0, -1.0, 0.5, 88.0, -88.0]).bfloat16()
    gate = torch.cat([extremes, infinite])
    value = torch.full((16,), 1.5).bfloat16()
    result = kernels.silu_gate(torch.cat([gate, value])[None, None])
    torch.testing.assert_close(result[0, 0], F.silu(gate) * value, rtol=proofs.BF16, atol=0, equal_nan=True)
    for row in (torch.zeros(64), torch.full((64,), 1e-20), torch.full((64,), torch.nan), torch.full((64,), 1e15)):
        norm = proofs.RMSNorm(64, kernels.EPSILON, torch.float32)
        norm.alpha.data = norm.alpha.data.bfloat16()
        x = row.bfloat16()[None, None]
        wanted = norm(x).detach()
        torch.testing.assert_close(kernels.rms_norm(x, norm.alpha), wanted, rtol=proofs.BF16, atol=0, equal_nan=True)


def test_only_what_a_kernel_can_read_is_given_to_it(emulated: list[str]) -> None:
    kernels.allow("rms_norm")
    x = torch.zeros(4, 64, dtype=torch.bfloat16)
    assert kernels.usable("rms_norm", x) and kernels.fits(x)
    assert not kernels.usable("silu_gate", x)  # not proven
    assert not kernels.usable("rms_norm", x.t()) and not kernels.usable("rms_norm", x.to("meta"))
    assert not kernels.fits(x.float()) and not kernels.fits(x[:, :60]) and not kernels.fits(x.flatten()[4:68])


class OnCard(torch.Tensor):
    """A tensor that says that it is in a card's memory."""

    is_cuda = True


def test_a_launch_goes_to_the_current_stream_with_pointers_and_ints(monkeypatch: pytest.MonkeyPatch) -> None:
    """By torch's own launcher, over a driver that is emulated. A stream that is being captured is the current one."""
    seen: list[tuple[object, ...]] = []

    def launch(function: ctypes.c_void_p, *how: Any) -> int:
        *geometry, shared, stream, args, extra = how
        pointers = [ctypes.c_void_p.from_address(args[place]).value for place in (0, 1)]
        numbers = [ctypes.c_int.from_address(args[place]).value for place in (2, 3)]
        seen.append((function.value, geometry, shared, stream, pointers, numbers, extra))
        return 0

    monkeypatch.setattr(kernels.cuda_utils, "_get_cuda_library", lambda: SimpleNamespace(cuLaunchKernel=launch))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(_as_parameter_="the current one"))
    kernel = kernels.cuda_utils._CudaKernel(ctypes.c_void_p(5), ctypes.c_void_p(6))
    monkeypatch.setattr(kernels, "_loaded", {"silu_gate": kernel})
    x, y = (torch.zeros(8).as_subclass(OnCard) for _ in range(2))
    kernels.launch("silu_gate", 3, 128, x, y, 1, 70_000)
    pointers = [x.data_ptr(), y.data_ptr()]
    assert seen == [(5, [3, 1, 1, 128, 1, 1], 0, "the current one", pointers, [1, 70_000], None)]


@needs_nvrtc
def test_the_kernels_compile_without_a_card_or_a_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "")
    ptx = kernels.compile_kernels()
    assert b".target sm_75" in ptx and all(f".entry {name}(".encode() in ptx for name in kernels.NAMES)
    for capability in ("75", "80", "86", "89", "90", "120"):
        code = kernels.compile_kernels(capability)
        assert code.startswith(b"\x7fELF") and all(name.encode() in code for name in kernels.NAMES)


@needs_nvrtc
def test_a_kernel_that_does_not_compile_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"__global__ void broken() { oops }")
    with pytest.raises(RuntimeError, match="oops"):
        kernels.compile_kernels()


# -- the proofs of a card, which is emulated


class Machine:
    """A machine with a card, whose starts are emulated: each begins with nothing loaded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, launchers: dict[str, Launcher], file: Path) -> None:
        self._patch = monkeypatch
        self.file = file
        self.done: list[str] = []
        self.driver = "570.86"
        self.refuses_to_load = False
        self.launchers = launchers
        card = SimpleNamespace(name="Some card", uuid="1234")
        replaced = {
            "is_available": lambda: True,
            "synchronize": lambda: self.done.append("context"),
            "get_device_capability": lambda: (8, 9),
            "get_device_properties": lambda _: card,
            "current_device": lambda: 0,
            "empty_cache": lambda: None,
        }
        for name, function in replaced.items():
            monkeypatch.setattr(torch.cuda, name, function)
        monkeypatch.setattr(proofs.nvidia, "look", lambda: Driver(self.driver, (12, 8), ("card",)))
        monkeypatch.setattr(proofs, "kernels_path", lambda: file)
        monkeypatch.setattr(kernels, "compile_kernels", lambda *_: b"")
        monkeypatch.setattr(kernels.cuda_utils, "_cuda_load_module", self._load)
        for name, check in proofs.CHECKS.items():
            monkeypatch.setitem(proofs.CHECKS, name, self._noting(name, check))

    def _load(self, code: bytes, names: list[str]) -> dict[str, Launcher]:
        self.done.append("load")
        if self.refuses_to_load:
            raise RuntimeError("CUDA error: invalid device context")
        return self.launchers

    def _noting(self, name: str, check: object) -> object:
        def noted(device: torch.device) -> str:
            self.done.append(name)
            return check(device)  # type: ignore[operator]

        return noted

    def start(self, **how: bool) -> dict[str, str]:
        """Starts a process on the machine and returns which kernels fail."""
        use_emulated(self._patch, {})
        self._patch.setattr(proofs, "_failing", None)
        self.done.clear()
        return proofs.prove(**how)

    @property
    def checked(self) -> list[str]:
        return [name for name in self.done if name in kernels.NAMES]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, launchers: dict[str, Launcher], tmp_path: Path) -> Machine:
    return Machine(monkeypatch, launchers, tmp_path / "kernels.json")


def test_the_first_start_proves_each_kernel_and_later_ones_know(machine: Machine) -> None:
    assert machine.start() == {} and machine.checked == list(kernels.NAMES)
    assert machine.done[:2] == ["context", "load"]
    assert proofs.prove() == {} and machine.checked == list(kernels.NAMES)  # once in a process
    assert machine.start() == {} and machine.checked == []
    assert all(kernels.usable(name) for name in kernels.NAMES)
    machine.driver = "572.16"
    assert machine.start() == {} and machine.checked == list(kernels.NAMES)
    machine.file.write_text("{")
    assert machine.start() == {} and machine.checked == list(kernels.NAMES)
    assert machine.start(again=True) == {} and machine.checked == list(kernels.NAMES)


def test_a_kernel_that_fails_is_off_and_the_others_are_used(machine: Machine) -> None:
    machine.launchers = {**machine.launchers, "rms_norm": lambda **_: None}
    for checked in (list(kernels.NAMES), []):
        failing = machine.start()
        assert list(failing) == ["rms_norm"] and "differs in" in failing["rms_norm"] and machine.checked == checked
        assert not kernels.usable("rms_norm") and kernels.usable("silu_gate")
    [note] = proofs.notes_of(failing)
    assert note.startswith("The kernel rms_norm is off on this card (its norm of 4096 values differs in")


def test_a_kernel_that_costs_the_card_is_off_from_the_next_start_on(machine: Machine) -> None:
    def fault(**_: object) -> None:
        torch.cuda.synchronize = lost  # restored with the fixture's own patch
        raise RuntimeError("CUDA error: misaligned address\nmore")

    def lost() -> None:
        raise RuntimeError("CUDA error: misaligned address")

    alive = torch.cuda.synchronize
    machine.launchers = {**machine.launchers, "rms_norm": fault}
    with pytest.raises(RuntimeError, match="misaligned"):
        machine.start()
    torch.cuda.synchronize = alive
    assert machine.start() == {"rms_norm": "CUDA error: misaligned address"}
    assert machine.checked == ["silu_gate", "rope_write"]


def test_a_check_that_has_ended_its_process_is_not_begun_forever(machine: Machine) -> None:
    class Killed(BaseException):
        pass

    def die(**_: object) -> None:
        raise Killed

    working = machine.launchers
    machine.launchers = {**working, "silu_gate": die}
    for _ in range(2):
        with pytest.raises(Killed):
            machine.start()
    machine.launchers = working
    assert machine.start() == {}  # the process may have been ended by others
    machine.file.unlink()
    machine.launchers = {**working, "silu_gate": die}
    for _ in range(proofs.TRIES):
        with pytest.raises(Killed):
            machine.start()
    assert machine.start() == {"silu_gate": "checking it has ended the process"}
    assert machine.checked == ["rope_write"]


def test_a_lack_of_memory_says_nothing_about_a_kernel(machine: Machine) -> None:
    def full(**_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    working = machine.launchers
    machine.launchers = {**working, "rope_write": full}
    with pytest.raises(torch.OutOfMemoryError):
        machine.start()
    machine.launchers = working
    assert machine.start() == {} and machine.checked == ["rope_write"]


def test_a_failed_load_is_tried_again(machine: Machine) -> None:
    machine.refuses_to_load = True
    failing = machine.start()
    assert list(failing) == list(kernels.NAMES)
    assert failing["rms_norm"] == "it can't be loaded: CUDA error: invalid device context"
    assert not machine.file.exists() and not kernels.usable("rms_norm")
    machine.refuses_to_load = False
    assert proofs.prove() == {} and machine.done[:4] == ["context", "load", "context", "load"]
    assert all(kernels.usable(name) for name in kernels.NAMES)
