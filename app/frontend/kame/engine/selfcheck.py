"""Compares this machine's fast paths (graphs, kernels, fused layers, short attention) with the plain ones.

Tokens must match exactly; samples, logits and kernel results have a small tolerance. Uses small models with random
weights and takes a few seconds. `bench card` runs it on the user's card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from moshi.models.lm import LMGen, LMModel

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.engine.model import KameLM, neutral_oracle
from app.frontend.kame.engine.proofs import prove
from app.frontend.kame.engine.random_weights import TINY_LM, random_mimi, random_models
from app.frontend.kame.stream_engine import Column

STEPS = 60


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one comparison, described by `detail`. If not `needed`, a failure is only reported."""

    name: str
    ok: bool
    detail: str
    needed: bool = True


def run_checks(device_name: str = "auto", steps: int = STEPS) -> list[Check]:
    """Runs all comparisons on a device, with `steps` frames each. `auto`: the CUDA card if there is one."""
    on_card = device_name != "cpu" and torch.cuda.is_available()
    device = torch.device("cuda" if on_card else "cpu")
    checks = _kernels(device)
    for dtype in (torch.float32, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        checks += [
            _moshi(device, dtype, name, steps),
            _short(device, dtype, name, steps),
            _fused(device, dtype, name, steps),
        ]
    return [*checks, _engine(device, steps)]


def _model(device: torch.device, dtype: torch.dtype) -> KameLM:
    torch.manual_seed(0)
    return KameLM(device=device, dtype=dtype, **TINY_LM).eval().requires_grad_(False)


def _moshi(device: torch.device, dtype: torch.dtype, name: str, steps: int) -> Check:
    ours = _model(device, dtype)
    ours.oracle_emb.weight.copy_(neutral_oracle(ours.text_emb.weight, ours.text_padding_token_id))
    stock = LMModel(device=device, dtype=dtype, **TINY_LM).eval().requires_grad_(False)
    stock.load_state_dict({k: v for k, v in ours.state_dict().items() if not k.startswith("oracle_emb.")})
    same = _tokens(KameGen(ours, use_sampling=False), steps) == _tokens(LMGen(stock, use_sampling=False), steps)
    return Check(f"Moshi's own generator and ours, {name}", same, f"{steps} steps")


def _short(device: torch.device, dtype: torch.dtype, name: str, steps: int) -> Check:
    model = _model(device, dtype)
    whole = _tokens(KameGen(model, use_sampling=False), steps)

    def shorten(step: int, gen: KameGen) -> None:
        if step == 0:
            gen.fill_lazily()
        gen.attend_to(32 * (step // 32 + 1))

    same = _tokens(KameGen(model, use_sampling=False), steps, shorten) == whole
    # Another length may change the rounding of the last bit, which isn't an error, since only zeros are left out.
    return Check(f"attention over what is filled, {name}", same, "equal tokens" if same else "rounds otherwise", False)


def _tokens(gen: LMGen, steps: int, before: Callable[[int, KameGen], None] | None = None) -> list[list[int]]:
    random = torch.Generator().manual_seed(1)
    user = torch.randint(0, TINY_LM["card"], (1, 8, steps), generator=random).to(gen.lm_model.device)
    out = []
    with torch.no_grad(), gen.streaming(1):
        for step in range(steps):
            if before is not None:
                assert isinstance(gen, KameGen)
                before(step, gen)
            result = gen.step(user[:, :, step : step + 1])
            out.append([] if result is None else result.flatten().tolist())
    return out


def _engine(device: torch.device, steps: int) -> Check:
    """Compares whole frames with and without graphs, including forced silence and a fresh stream."""
    seen = []
    for graphs in (True, False):
        models = random_models("tiny", "bf16", device)
        mimi = random_mimi("tiny", device, 8)
        seen.append(_frames(Engine(models.lm, mimi, sampling={"use_sampling": False}, graphs=graphs), steps))
    same_tokens = [c for _, c in seen[0]] == [c for _, c in seen[1]]
    far = max(float(np.abs(a - b).max()) for (a, _), (b, _) in zip(*seen, strict=True))
    return Check("whole frames with graphs and without", same_tokens and far < 1e-4, f"samples differ by {far:.1e}")


def _frames(engine: Engine, steps: int) -> list[tuple[np.ndarray, Column]]:
    samples = np.random.default_rng(0).normal(0, 0.1, (steps, FRAME_SAMPLES)).astype(np.float32)
    out: list[tuple[np.ndarray, Column]] = []
    with engine:
        padding = engine.tokens.padding
        for index in range(steps):
            if index == 2 * steps // 3:
                engine.restart_language_model()
                for _, column in out[-5:]:
                    engine.replay(column)
            oracle = 5 + index - steps // 6 if steps // 6 <= index < steps // 6 + 10 else padding
            silent = steps // 3 <= index < steps // 2
            [result] = engine.step(samples[index], oracle, silent=silent)
            out.append((result.samples, result.column))
    return out


def _fused(device: torch.device, dtype: torch.dtype, name: str, steps: int) -> Check:
    """Compares the logits of the fused and the plain form of all layers, both fed with the same tokens."""
    model = _model(device, dtype)
    plain, fused = (_logits(KameGen(model, use_sampling=False, fused=one), steps) for one in (False, True))
    errors = []
    for wanted, result in zip(plain, fused, strict=True):
        for one, other in zip(wanted, result, strict=True):
            errors.append(((one - other).norm() / one.norm()).nan_to_num(torch.inf).item())
            if one.argmax() != other.argmax():
                break  # the codebooks that follow were fed with another code
    tolerance = 1e-4 if dtype == torch.float32 else 0.05
    far = max(errors)
    return Check(f"fused layers and plain ones, {name}", far < tolerance, f"logits differ by {far:.1e}")


def _logits(gen: KameGen, steps: int) -> list[list[torch.Tensor]]:
    """Returns the logits of the text and of each codebook at each step. The stream's own tokens are random."""
    model = gen.lm_model
    random = torch.Generator().manual_seed(2)
    user = torch.randint(0, TINY_LM["card"], (1, 8, steps), generator=random).to(model.device)
    text = torch.randint(0, TINY_LM["text_card"], (steps,), generator=random).to(model.device)
    own = torch.randint(0, TINY_LM["card"], (steps, 1, 8), generator=random).to(model.device)
    out: list[list[torch.Tensor]] = []

    def force_text(token: torch.Tensor) -> None:
        token.copy_(text[len(out) - 1])

    def force_own(codes: torch.Tensor) -> None:
        codes.copy_(own[len(out) - 1])

    gen.on_text_hook, gen.on_audio_hook = force_text, force_own
    heads = [model.text_linear, *model.linears]
    hooks = [head.register_forward_hook(lambda _, __, logits: out[-1].append(logits.float())) for head in heads]
    with torch.no_grad(), gen.streaming(1):
        for step in range(steps):
            out.append([])
            gen.step(user[:, :, step : step + 1])
    for hook in hooks:
        hook.remove()
    return out


def _kernels(device: torch.device) -> list[Check]:
    if device.type != "cuda":
        return [Check("own kernels", True, "none on a processor: plain torch", False)]
    failing = prove(again=True)
    return [
        Check(f"the kernel {name}", name not in failing, failing.get(name, "equal to plain torch"))
        for name in kernels.NAMES
    ]
