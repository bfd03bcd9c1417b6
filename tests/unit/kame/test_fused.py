"""The fused layers against the package's, on the processor, with the app's kernels and without."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from moshi.models.lm import LMGen

from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.checkpoint import load
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.fused import FusedAttention, FusedGate, FusedNorm
from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.engine.selfcheck import _fused
from app.models.layout import read_layout
from tests.support.emulated_kernels import Launcher, compile_for_processor, use_emulated
from tests.support.tiny_kame import make_checkpoint
from tests.unit.kame.test_model import PRECISIONS, equal, logits_of, make, run, stock

pytestmark = pytest.mark.slow
STEPS = 75
FUSED = {"rms_norm", "silu_gate", "rope_write"}


@pytest.fixture(scope="module")
def launchers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Launcher]:
    return compile_for_processor(tmp_path_factory.mktemp("kernels"), kernels.SOURCE.read_text("utf-8"))


def idle_at(gen: LMGen, steps: set[int]) -> Any:
    def before(step: int) -> None:
        gen.set_exec_mask(torch.tensor([step not in steps]))

    return before


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"positional_embedding": "none"},
        {"depformer_weights_per_step_schedule": [0, 0, 1]},
        {"positional_embedding": "rope_concat"},  # which the package's attention does
        {"kv_repeat": 2},  # the same
    ],
)
def test_without_kernels_the_layers_give_what_the_packages_give(dtype: torch.dtype, form: dict[str, Any]) -> None:
    """Over the end of the ring (30 positions), with steps that aren't executed, and after a restart."""
    model = make(dtype, **form)
    with torch.no_grad():
        model.oracle_emb.weight.zero_()
    ours, theirs = KameGen(model, use_sampling=False, fused=True), LMGen(stock(model, **form), use_sampling=False)
    user = torch.randint(0, 32, (1, 3, STEPS))
    idle = {9, 10, 29, 30, 31, 50}
    with logits_of(ours) as a, logits_of(theirs) as b, ours.streaming(1), theirs.streaming(1):
        for frames in (user, user[..., :12]):
            assert equal(run(ours, frames, idle_at(ours, idle)), run(theirs, frames, idle_at(theirs, idle)))
            executed = sum(step not in idle for step in range(frames.shape[2]))
            states = ours.lm_model.get_streaming_state().values()
            assert {int(state.offset) for state in states if hasattr(state, "offset")} == {executed}
            ours.reset_streaming()
            theirs.reset_streaming()
    tolerance = 1e-5 if dtype == torch.float32 else 0.0
    torch.testing.assert_close(torch.stack(a), torch.stack(b), rtol=0, atol=tolerance)


def test_attention_is_limited_to_the_filled_places() -> None:
    model = make(context=64)
    user = torch.randint(0, 32, (1, 3, 60))
    whole, short = KameGen(model, use_sampling=False), KameGen(model, use_sampling=False, fused=True)
    with whole.streaming(1):
        wanted = run(whole, user)
    seen: list[int] = []
    attention = next(part for part in model.transformer.modules() if isinstance(part, FusedAttention))

    def limit(step: int) -> None:
        if attention.positions is not None and step:
            seen.append(attention.positions.mask.shape[-1])
        short.attend_to(16 * (step // 16 + 1))

    with short.streaming(1):
        assert equal(run(short, user, limit), wanted)
    assert seen == [16 * (step // 16 + 1) for step in range(59)]


@pytest.mark.parametrize("batch, guidance", [(2, {}), (1, {"cfg_coef": 2.0, "cfg_is_no_text": True})])
def test_larger_batches_stay_with_the_packages_layers(batch: int, guidance: dict[str, Any]) -> None:
    model = make()
    user = torch.randint(0, 32, (batch, 3, 10))
    one, other = (KameGen(model, use_sampling=False, fused=fused, **guidance) for fused in (False, True))
    with logits_of(one) as a, one.streaming(batch):
        run(one, user)
    with logits_of(other) as b, other.streaming(batch):
        run(other, user)
    assert equal(a, b)  # type: ignore[arg-type]


def test_a_stream_leaves_no_trace_in_the_model() -> None:
    model = make()
    user = torch.randint(0, 32, (1, 3, 10))
    with KameGen(model, use_sampling=False, fused=True).streaming(1):
        parts = [part for part in model.modules() if isinstance(part, FusedNorm | FusedGate | FusedAttention)]
        assert len(parts) == 2 * 2 * 2 + 2 + 2 * 3 + 2 * 2 + 1 and all(part.fused for part in parts)
    assert not any(part.fused for part in parts)
    assert not model.transformer._forward_hooks and not model.transformer._forward_pre_hooks
    plain = LMGen(stock(model), use_sampling=False)
    with torch.no_grad():
        model.oracle_emb.weight.zero_()
    ours = KameGen(model, use_sampling=False)
    with logits_of(ours) as a, logits_of(plain) as b, ours.streaming(1), plain.streaming(1):
        assert equal(run(ours, user), run(plain, user))
    assert equal(a, b)  # type: ignore[arg-type]


def test_with_kernels_the_logits_are_those_of_plain_layers(
    launchers: dict[str, Launcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole small model in bf16, whose kernels the processor runs. One kernel that is wrong is noticed."""
    launched = use_emulated(monkeypatch, launchers, *FUSED)
    steps = 4
    check = _fused(torch.device("cpu"), torch.bfloat16, "bfloat16", steps)
    assert check.ok, check
    norms, layers = 5 + 8 * 4, 2 + 8 * 2
    expected = {"rms_norm": norms * steps, "silu_gate": layers * steps, "rope_write": 2 * steps}
    assert Counter(launched) == expected

    for name in FUSED:

        def nothing(args: list[Any], **_: Any) -> None:
            for tensor in args:
                if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.bfloat16:
                    written = tensor
            written.zero_()

        use_emulated(monkeypatch, {**launchers, name: nothing}, *FUSED)
        assert not _fused(torch.device("cpu"), torch.bfloat16, "bfloat16", steps).ok, name


def test_in_float32_no_kernel_is_used(launchers: dict[str, Launcher], monkeypatch: pytest.MonkeyPatch) -> None:
    launched = use_emulated(monkeypatch, launchers, *FUSED)
    assert _fused(torch.device("cpu"), torch.float32, "float32", 4).ok and not launched


def test_replayed_steps_leave_out_the_depth_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(read_layout(make_checkpoint(tmp_path / "kame")), device="cpu", dtype=torch.float32)
    with Engine(loaded.lm, loaded.mimi, sampling={"use_sampling": False}) as engine:
        calls: list[int] = []
        forward = loaded.lm.forward_depformer

        def counted(codebook: int, *args: torch.Tensor) -> torch.Tensor:
            calls.append(codebook)
            return forward(codebook, *args)

        monkeypatch.setattr(loaded.lm, "forward_depformer", counted)
        [result] = engine.step(np.zeros(1920, np.float32), engine.tokens.padding)
        assert calls == list(range(loaded.lm.dep_q))
        engine.replay(result.column)
        assert len(calls) == loaded.lm.dep_q


def test_the_mask_needs_no_copy_for_any_context() -> None:
    model = make(context=30)
    with KameGen(model, use_sampling=False, fused=True).streaming(1):
        attention = next(part for part in model.transformer.modules() if isinstance(part, FusedAttention))
        assert attention.positions is not None
        attention.positions.begin()
        mask = attention.positions.mask
    assert mask.shape == (1, 1, 1, 30) and all(stride % 8 == 0 for stride in mask.stride()[:3])


def test_what_is_no_number_is_noticed_also_late(
    launchers: dict[str, Launcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def norm(args: list[Any], **how: Any) -> None:
        nonlocal calls
        calls += 1
        launchers["rms_norm"](args=args, **how)
        if calls > 40:  # in the second step
            args[2].fill_(torch.nan)

    use_emulated(monkeypatch, {**launchers, "rms_norm": norm}, *FUSED)
    assert not _fused(torch.device("cpu"), torch.bfloat16, "bfloat16", 2).ok
