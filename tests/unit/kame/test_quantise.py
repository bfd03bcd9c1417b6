"""Quantised matrices: how near they are, and what they replace."""

import pytest
import torch

from app.frontend.kame.engine import quantise as q
from app.frontend.kame.engine.generator import KameGen
from tests.unit.kame.test_model import make

pytestmark = pytest.mark.slow


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
