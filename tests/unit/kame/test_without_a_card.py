"""What the app does with a card, on a machine without one: loads kernels, runs a frame, and plans what fits."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from app.frontend.kame.engine import kernels
from app.frontend.kame.engine import plan as plans
from app.frontend.kame.engine.plan import make_plan
from app.frontend.kame.messages import LoadRequest
from app.models.layout import CheckpointFiles, read_layout
from tests.support.child import run_python
from tests.support.parts import need
from tests.support.tables import cases
from tests.support.tiny_kame import make_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(torch.version.cuda is None, reason="this build of torch knows no cards"),
]
ENCODE, FRAME, FRAME_ON_TURING = 184, 905, 1069
"""Launches of the small model."""
CODEC_LAYERS, LAYERS = 2, 2 + 2 + 8 * 2
"""Attention in a frame: of the codec, which calculates in float32, and of all transformers."""
PRODUCTS = {"bf16": {}, "int8": {"gemv_int8": 89}, "int4": {"gemv_int4": 80, "gemv_int8": 9}}
"""The matrices of a frame that the app's kernels multiply; with int4, the output heads stay int8."""
TEMPORARY_BYTES = 100_000
"""Of a small frame whose attention is fused; without, the cache in float32 comes in addition."""


def without_card(what: str) -> Any:
    need("g++")
    run = run_python("-m", "tests.support.no_card", what, timeout=200)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_kernels_are_loaded_on_a_thread_that_has_not_used_the_card() -> None:
    assert without_card("kernels") == sorted(kernels.NAMES)
    assert without_card("kernels without") == [], "the stand-in lets a driver's call through without a context"


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, str], dict[str, Any]]:
    """The document of `bench launches`, by precision, card and call."""
    need("g++")
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    run = run_python("-m", "app", "bench", "launches", "--size", "tiny", "--json", timeout=280, env=env)
    assert run.returncode == 0, run.stdout + run.stderr
    return {(one["precision"], one["card"], one["call"]): one for one in json.loads(run.stdout)["counted"]}


def test_a_frame_can_be_captured_on_every_card(counted: dict[tuple[str, int, str], dict[str, Any]]) -> None:
    assert len(counted) == 3 * 6 * 2
    for (precision, card, call), one in counted.items():
        launches, turing = one["launches"], card == 75
        assert not one["faults"], (precision, card, call)
        assert one["numbers"] == (call == "frame")
        assert one["temporary_bytes"] < TEMPORARY_BYTES * (10 if turing else 1)
        if call == "encode":
            assert sum(launches.values()) == ENCODE
            continue
        own = {name: number for name, number in launches.items() if name.startswith("gemv")}
        assert sum(launches.values()) == (FRAME_ON_TURING if turing else FRAME)
        fused = sum(number for name, number in launches.items() if name.startswith("_scaled_dot_product"))
        assert fused == (CODEC_LAYERS if turing else LAYERS)
        assert own == PRODUCTS[precision]


def test_what_a_captured_frame_must_not_contain_is_found() -> None:
    assert without_card("faults") == {
        "nothing": [],
        "nonzero": ["DynamicOutputShapeException"],
        "mask": ["DynamicOutputShapeException"],
        "answer": ["aten._to_copy.default: operands on both sides"],
        "both sides": ["RuntimeError"],
        "on the processor": ["aten.add.Tensor: on the processor", "aten.ones.default: on the processor"],
        "double": ["aten._to_copy.default: float64"],
        "kernel": [
            "gemv_int8: an operand in the processor's memory",
            "gemv_int8: an operand that isn't aligned",
            "gemv_int8: an operand that isn't contiguous",
        ],
    }


def test_torch_has_no_kernel_for_attention_in_bf16_on_turing() -> None:
    """Which is why the plan for such cards is another one."""
    fused = "_scaled_dot_product_efficient_attention"
    found = without_card("attention")
    assert set(found["float16"].values()) == {fused}
    assert {card for card, name in found["bfloat16"].items() if name != fused} == {"75"}


@pytest.fixture
def files(tmp_path: Path) -> CheckpointFiles:
    """Files without a model in them, for what loads none."""
    layout = read_layout(make_files(tmp_path / "kame"), quickly=True)
    assert layout.lm_config is not None
    layout.lm_config["context"] = 3000
    return layout


@cases(
    "capability, request_, precision, context, remembers",
    ((7, 5), {}, "int8", 750, True),
    ((7, 5), {"context": 1500}, "int8", 1500, False),
    ((7, 5), {"precision": "bf16"}, "bf16", 750, True),
    ((8, 0), {}, "bf16", 3000, False),
    ((8, 9), {"precision": "int4"}, "int4", 3000, False),
    ((12, 0), {"context": 750}, "bf16", 750, False),
)
def test_a_card_that_emulates_bf16_gets_a_shorter_memory_and_int8(
    capability: tuple[int, int],
    request_: dict[str, Any],
    precision: str,
    context: int,
    remembers: bool,
    files: CheckpointFiles,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (24 << 30, 24 << 30))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda share: None)
    monkeypatch.setattr(plans, "prove", dict)
    plan = make_plan(LoadRequest(str(files.folder), "KAME", **request_), files)
    assert (plan.device, plan.precision, plan.context) == ("cuda", precision, context)
    assert ("It remembers 60 s" in plan.sentence) == remembers
