"""The steps of `bench card`, run on a processor with small models, and what they decide about a card."""

import shutil
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import torch

from app.conversation.frame import Frame
from app.frontend.base import FrontEndInput, FrontEndStep, OraclePosition
from app.frontend.kame.engine import kernels, measure
from app.frontend.kame.engine.card_steps import faults, small, whole
from app.frontend.kame.engine.card_steps.__main__ import STEPS as COMMANDS
from app.frontend.kame.engine.card_steps.base import LeftOutError, Report, Request, StepFailedError, tiny_engine
from app.frontend.kame.engine.card_steps.checkpoint import checkpoint_bytes, write_checkpoint
from app.frontend.kame.engine.checkpoint import load
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.selfcheck import Check
from app.models.layout import read_layout
from app.services.card_bench import QUICK, STEPS, CardBench, CardPlan, chosen_steps
from app.services.card_page import PERCENTILES, frame_times
from tests.support.tables import cases

pytestmark = pytest.mark.slow
TINY = Request("cpu", "tiny")
CARD = Request("cuda", "7b")
GB = 10**9


@pytest.fixture(autouse=True)
def few_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "WARM_FRAMES", 2)
    monkeypatch.setattr(Request, "frames", lambda request, count: 12)


class Facts(dict[str, Any]):
    """What a step reports."""

    @property
    def report(self) -> Report:
        return Report(self.update)


def card_with(monkeypatch: pytest.MonkeyPatch, free: int) -> list[float]:
    """Pretends a card with so much free memory; returns the limits that are set for the process."""
    limits: list[float] = []
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 24 * GB))
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", limits.append)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    return limits


def test_a_session_is_held_in_real_time_with_an_answer_of_the_oracle() -> None:
    facts = Facts()
    small.session(TINY, facts.report, "int8")
    assert facts["oracle_taken"] > 0 and facts["frames"] == 12
    assert facts["late"] <= 12 and facts["context"] == 400


class Slow:
    """A front-end whose steps take 30 ms, 10 of them in its process, which is behind with every other frame."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self.pending = 0
        self.asked: list[FrontEndInput] = []

    def step(self, frame: Frame, inputs: list[FrontEndInput]) -> FrontEndStep:
        time.sleep(0.03)
        self.asked += inputs
        self.pending = 1 - self.pending if frame.index >= 20 else 0
        self.took.append(0.01 if frame.index < 20 else 9.0)
        return FrontEndStep(frame.samples, oracle=OraclePosition(1, len(self.asked), 0), late=frame.index >= 22)


def test_the_cost_of_crossing_to_the_process_is_what_a_step_takes_beyond_its_frame() -> None:
    slow = Slow()
    facts = small._talk(slow, slow, 24)  # type: ignore[arg-type]
    assert (
        facts["of it on this side"].p50 == pytest.approx(facts["a step"].p50 - 10, abs=0.01)
        and facts["of it on this side"].p50 >= 20
    )
    assert facts["of it in the process"].worst == 10.0, "a frame that comes later isn't counted"
    assert (facts["frames"], facts["late"], facts["oracle_taken"]) == (24, 2, 2)


def test_the_whole_model_is_timed_back_to_back_and_at_the_pace_of_a_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[tuple[bool, bool]] = []

    def noted(engine: Engine, frames: int, *, paced: bool = False) -> measure.Times:
        runs.append((engine.steps >= engine.context, paced))
        return measure.time_frames(engine, frames, paced=paced)

    monkeypatch.setattr(whole, "time_frames", noted)
    facts = Facts()
    whole.full(TINY, facts.report, "auto")
    assert list(frame_times(facts)) == ["in a row, empty cache", "every 80 ms, full cache", "in a row, full cache"]
    assert runs[:3] == [(False, False), (True, True), (True, False)], "with a full cache, and at the pace"
    assert 0 < facts["processor_share"] <= 1.1 and facts["kernels"]["count"] > 1000
    assert len(facts["kernels"]["longest"]) == whole.LONGEST
    quick = Facts()
    whole.full(Request("cpu", "tiny", quick=True), quick.report, "bf16")
    assert list(frame_times(quick)) == ["every 80 ms, full cache"]


def test_frames_at_the_pace_of_a_conversation_come_every_80_ms() -> None:
    with tiny_engine(TINY) as engine:
        started = time.perf_counter()
        measure.time_frames(engine, 5, paced=True)
        assert time.perf_counter() - started >= 0.4


def test_a_part_that_fails_costs_only_its_own_figures() -> None:
    def fail() -> None:
        raise RuntimeError("no profiler here\nand more")

    facts = Facts()
    report = facts.report
    report.part("kernels", fail)
    report.part("frames", lambda: {"worst": float("nan"), "p50": 1.23456789})
    assert facts == {"frames": {"worst": "nan", "p50": 1.2346}}
    with pytest.raises(StepFailedError, match=r"^“kernels” failed: RuntimeError: no profiler here\.$"):
        report.finish()


def test_a_file_of_the_models_size_is_written_once_and_loaded(tmp_path: Path) -> None:
    request = Request("cpu", "tiny", folder=str(tmp_path / "bench"))
    written = set()
    for precision in ("int8", "bf16"):
        facts = Facts()
        whole.loading(request, facts.report, precision)
        written.add((tmp_path / "bench" / "model.safetensors").stat().st_mtime_ns)
        assert facts["load_s"] > 0 and facts["ram_peak"] > 50e6 and facts["in a row, empty cache"]["p50"] > 0
        assert facts["file_bytes"] > checkpoint_bytes("tiny")
    assert len(written) == 1


def test_it_is_not_written_where_the_disk_lacks_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage(100 * GB, 90 * GB, 10 * GB))
    monkeypatch.setattr(whole, "write_checkpoint", lambda *_: pytest.fail("it was written"))
    with pytest.raises(LeftOutError, match=r"10.0 GB free, .* takes 15\.\d GB. Choose a folder on another disk"):
        whole.loading(Request("cpu", "7b", folder=str(tmp_path / "bench")), Facts().report, "bf16")
    assert not list((tmp_path / "bench").iterdir())


def test_random_weights_in_a_file_are_as_those_in_memory(tmp_path: Path) -> None:
    files = read_layout(write_checkpoint(tmp_path / "kame", "tiny"))
    loaded = load(files, device="cpu", dtype=torch.float32)
    assert loaded.learnt_oracle
    for value in loaded.lm.parameters():
        assert torch.isfinite(value).all()
        if value.numel() > 1000:
            assert value.std().item() == pytest.approx(value.shape[-1] ** -0.5, rel=0.1)


@cases(
    "free, asked, wanted",
    (23 * GB, "auto", ("bf16", None)),
    (12 * GB, "auto", ("int8", None)),
    (7 * GB, "auto", ("int4", 1500)),
    (12 * GB, "int8", ("int8", None)),
    (10 * GB, "int8", ("int8", 750)),
    (12 * GB, "bf16", ("bf16", None)),
)
def test_what_fits_is_chosen_and_what_may_not_fit_is_tried(
    monkeypatch: pytest.MonkeyPatch, free: int, asked: str, wanted: tuple[str, int | None]
) -> None:
    limits = card_with(monkeypatch, free)
    with whole._fitting(CARD, asked) as found:
        assert found[0] == wanted[0] and (found[1] or 3000) == (wanted[1] or 3000)
    assert limits == [free / (24 * GB)]


def test_memory_that_runs_out_is_a_failure_only_where_it_should_have_been_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    card_with(monkeypatch, 12 * GB)
    with pytest.raises(LeftOutError, match=r"needs 18.5 GB in bf16, and 12.0 GB of the card are free"):  # noqa: SIM117
        with whole._fitting(CARD, "bf16"):
            raise torch.OutOfMemoryError
    with pytest.raises(torch.OutOfMemoryError), whole._fitting(CARD, "int8"):
        raise torch.OutOfMemoryError
    card_with(monkeypatch, 3 * GB)
    with pytest.raises(LeftOutError, match="no smaller form fits"), whole._fitting(CARD, "auto"):
        pass


@cases(
    "kind, seen, left, words",
    ("capture", {"kind": "capture"}, 0, ""),
    ("context", {"kind": "fault"}, 0, ""),
    ("memory", {}, 0, "taken for “nothing”, not “memory”"),
    ("capture", {"kind": "fault"}, 0, "taken for “fault”, not “capture”"),
    ("memory", {"kind": "memory"}, 900_000_000, "left 900 MB of the card taken"),
)
def test_a_fault_must_be_known_and_free_the_card(
    monkeypatch: pytest.MonkeyPatch, kind: str, seen: dict[str, str], left: int, words: str
) -> None:
    card_with(monkeypatch, 20 * GB)

    def broken(request: Request, kind: str) -> dict[str, str]:
        card_with(monkeypatch, 20 * GB - left)
        return seen

    monkeypatch.setattr(faults, "_broken", broken)
    facts = Facts()
    if words:
        with pytest.raises(StepFailedError, match=words):
            faults.fault(TINY, facts.report, kind)
    else:
        faults.fault(TINY, facts.report, kind)
        assert facts["works_again"] is True


def test_kernels_that_are_missing_and_paths_that_differ_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    card_with(monkeypatch, 20 * GB)
    monkeypatch.setattr(small, "prove", lambda *, again: {"gemv_int4": "it is off by 3"})
    with pytest.raises(StepFailedError, match=r"can't be used here: gemv_int4 \(it is off by 3\)"):
        small.own_kernels(CARD, Facts().report, "")
    monkeypatch.setattr(small, "prove", lambda *, again: {})
    facts = Facts()
    small.own_kernels(CARD, facts.report, "")
    assert facts["kernels"] == list(kernels.NAMES)
    checks = [Check("one", False, "rounds", needed=False), Check("two", True, "")]
    monkeypatch.setattr(small, "run_checks", lambda device: checks)
    small.comparisons(TINY, facts.report, "")
    assert facts["checks"][0]["detail"] == "rounds"
    checks.append(Check("three", False, "differs"))
    with pytest.raises(StepFailedError, match="These differ: three"):
        small.comparisons(TINY, facts.report, "")


def test_attention_is_timed_for_each_length_and_parts_of_a_frame_for_each_precision() -> None:
    facts = Facts()
    small.attention(TINY, facts.report, "")
    assert list(facts) == ["slots 256", "slots 400"]
    assert all(float(row[name]["error"]) < 1e-5 for row in facts.values() for name in ("chosen", "math"))
    whole.table(TINY, facts.report, "int8")
    assert facts["precision"] == "int8" and facts["whole"].keys() == set(PERCENTILES) and facts["over_floor"] > 0


def test_every_step_of_the_command_is_there() -> None:
    assert {step.name.partition("-")[0] for step in (*STEPS, *QUICK)} <= COMMANDS.keys()


def test_a_step_in_its_own_process_says_why_it_fails_without_naming_a_folder(tmp_path: Path) -> None:
    plan = CardPlan("cpu", "tiny", chosen_steps(["load-int8"]), weights=tmp_path / "kame", folder=tmp_path)
    [result] = CardBench(plan).run()
    assert result.outcome == "failed" and result.sentence.startswith("The folder … is not there")
    assert list(tmp_path.iterdir()) == []
