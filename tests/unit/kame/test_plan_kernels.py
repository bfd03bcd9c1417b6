"""What is refused on a card whose kernels fail, what the report says about it, and who asks for the proofs."""

import contextlib
import json
import logging
import traceback
from pathlib import Path

import pytest
import torch

from app.frontend.kame.engine import engine as engines
from app.frontend.kame.engine import kernels, selfcheck
from app.frontend.kame.engine import plan as planning
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.plan import EnginePlan, make_plan
from app.frontend.kame.engine.random_weights import random_models
from app.frontend.kame.engine.worker import _loaded
from app.frontend.kame.engine_process import EngineProcess
from app.frontend.kame.messages import LoadRequest, Ready
from app.frontend.kame.stream_engine import EngineError
from app.models.layout import read_layout
from tests.support.tables import cases
from tests.support.tiny_kame import make_checkpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("weights") / "kame")


@cases(
    "precision, failing, refused",
    ("bf16", ["gemv_int8", "gemv_int4", "rms_norm"], False),
    ("int8", ["gemv_int4", "silu_gate"], False),
    ("int8", ["gemv_int8"], True),
    ("int4", ["gemv_int4"], True),
    ("int4", ["gemv_int8"], True),  # which the output heads need
    ("int4", ["rope_write"], False),
)
def test_only_without_its_products_a_precision_is_refused(
    monkeypatch: pytest.MonkeyPatch, folder: Path, precision: str, failing: list[str], refused: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (24_000_000_000, 24_000_000_000))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", lambda _: None)
    monkeypatch.setattr(planning, "prove", lambda: dict.fromkeys(failing, "it is off by 3"))
    request = LoadRequest(str(folder), "KAME", precision=precision)
    with pytest.raises(EngineError) if refused else contextlib.nullcontext() as error:
        plan = make_plan(request, read_layout(folder))
    if error is not None:
        assert error.value.kind == "refused" and f"{precision} isn't available on this card" in str(error.value)
        written = "".join(traceback.format_exception(error.value))
        assert f"The kernel {failing[0]} is off on this card (it is off by 3)" in written  # in the log
    else:
        assert plan.precision == precision
        assert [note.split()[2] for note in plan.notes] == failing


def test_a_kernel_that_is_off_ends_up_in_the_report(
    monkeypatch: pytest.MonkeyPatch, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note = "The kernel rms_norm is off on this card."
    monkeypatch.setattr(planning, "make_plan", lambda *_: EnginePlan("cpu", "bf16", None, notes=(note,)))
    with _loaded(LoadRequest(str(folder), "KAME", device="cpu"), lambda **_: None) as (_, ready):
        received = Ready.read(json.loads(json.dumps(ready.document())))
    assert received == ready and received.notes == (note,)
    with caplog.at_level(logging.WARNING):
        EngineProcess()._begin(received)
    assert note in caplog.messages


def test_an_engine_on_a_card_begins_with_the_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that no plan was made for, as in a bench."""

    def lost() -> None:
        raise RuntimeError("CUDA error: misaligned address")

    models = random_models("tiny", "bf16", torch.device("cpu"))
    on_card = Engine(models.lm, models.mimi)
    on_card._on_gpu = True
    monkeypatch.setattr(engines, "prove", lost)
    with pytest.raises(RuntimeError, match="misaligned"):
        on_card.__enter__()


def test_the_check_of_a_card_proves_all_kernels_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "prove", lambda *, again: {"silu_gate": "off by 3"} if again else {})
    checks = {check.name: (check.ok, check.detail) for check in selfcheck._kernels(torch.device("cuda"))}
    assert len(checks) == len(kernels.NAMES) and all(check.needed for check in selfcheck._kernels(torch.device("cuda")))
    assert checks["the kernel silu_gate"] == (False, "off by 3")
    assert checks["the kernel rms_norm"] == (True, "equal to plain torch")
