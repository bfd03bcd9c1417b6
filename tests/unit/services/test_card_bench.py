"""The steps of `bench card`, and the page with their results. A step that goes wrong costs only its own line."""

import json
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.diagnostics.machine import System
from app.platform.nvidia import Card, Driver
from app.services import card_bench
from app.services.card_bench import BEST, ONLY_A_CARD, QUICK, STEPS, CardBench, CardPlan, StepResult, chosen_steps
from app.services.card_page import card_page, frame_times, verdict
from tests.support.child import run_python
from tests.support.tables import cases

FAKE = "tests.support.card_steps"
GB = 10**9


def plan(folder: Path, *names: str, seconds: float = 60.0, **more: Any) -> CardPlan:
    steps = tuple(replace(step, seconds=seconds) for step in chosen_steps(names))
    return CardPlan("cuda", "7b", steps, folder=folder, **more)


def run(folder: Path, *names: str, **more: Any) -> dict[str, StepResult]:
    results = CardBench(plan(folder, *names, **more), FAKE).run()
    return {result.step: result for result in results}


def test_a_step_that_crashes_or_prints_rubbish_costs_only_its_own_line(tmp_path: Path) -> None:
    noted: list[StepResult] = []
    told: list[tuple[str, float]] = []
    names = ("checks", "attention", "card")
    results = CardBench(plan(tmp_path, *names), FAKE).run(lambda *words: told.append(words), noted.append)
    assert results == noted and [result.step for result in results] == [*names]
    crashed, rubbish, card = results
    assert crashed.outcome == "failed" and crashed.sentence.startswith(
        "Its process" if sys.platform == "win32" else "The system ended its process"
    )
    assert crashed.facts["first"] == 1, "what it said before is kept"
    assert rubbish.outcome == "failed" and rubbish.sentence == "It printed something else than a result."
    assert card.outcome == "passed" and card.facts["name"] == "Test card" and card.facts["asked"]["size"] == "7b"
    assert [words for words, _ in told] == [step.title for step in chosen_steps(names)]
    assert [share for _, share in told] == [0.0, 1 / 3, 2 / 3]


def test_a_step_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    results = run(tmp_path, "waits", "card", seconds=3.0)
    assert time.monotonic() - started < 30
    hung = results["waits"]
    assert (hung.outcome, hung.sentence) == ("failed", "It was stopped after 3 s.") and hung.facts["started"] is True
    assert results["card"].outcome == "passed"


def test_the_user_can_stop_it_within_a_step(tmp_path: Path) -> None:
    bench = CardBench(plan(tmp_path, "waits", "card"), FAKE)
    found: list[StepResult] = []
    thread = threading.Thread(target=lambda: found.extend(bench.run()))
    thread.start()
    until = time.monotonic() + 20
    while bench._child is None and time.monotonic() < until:
        time.sleep(0.01)
    bench.cancel()
    thread.join(20)
    assert not thread.is_alive() and [result.step for result in found] == ["waits"]


def test_it_stops_when_the_users_time_is_over(tmp_path: Path) -> None:
    results = run(tmp_path, "card", "full-bf16", minutes=card_bench.LEAST_SECONDS / 60 / 2)
    assert {one.outcome for one in results.values()} == {"left out"}
    assert results["card"].sentence == "There was no time left for it."


def test_no_path_and_no_name_of_the_user_is_in_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_bench.getpass, "getuser", lambda: "lovelace")
    monkeypatch.setattr(card_bench.platform, "node", lambda: "analytical")
    monkeypatch.setenv("HOME" if sys.platform != "win32" else "USERPROFILE", str(tmp_path / "lovelace home"))
    result = run(tmp_path, "session-int8")["session-int8"]
    assert result.outcome == "failed"
    assert result.sentence.startswith("No such file: …") and result.sentence.endswith(
        "kame.safetensors or …/x.bin | at 3 GB/s."
    )
    text = json.dumps(result.document())
    assert "lovelace" not in text and "srv" not in text and str(tmp_path) not in text
    assert "kame.safetensors" in result.facts["errors"]


def test_what_only_a_card_can_show_is_left_out_on_a_processor(tmp_path: Path) -> None:
    steps = chosen_steps(["kernels", "capture", "fault"])
    results = CardBench(CardPlan("cpu", "tiny", steps, folder=tmp_path), "no.module.is.started").run()
    assert [(one.outcome, one.sentence) for one in results] == [("left out", ONLY_A_CARD)] * 5


@cases(
    "names, found",
    (["table-int8", "card"], ["table-int8", "card"]),
    (["full"], ["full-bf16", "full-int8", "full-int4"]),
    (["load", "load-int8"], ["load-int8", "load-bf16"]),
    (["full-auto"], ["full-auto"]),
)
def test_steps_are_chosen_by_name_in_the_users_order(names: list[str], found: list[str]) -> None:
    assert [step.name for step in chosen_steps(names)] == found


def test_without_names_all_steps_run_or_the_quick_ones() -> None:
    assert chosen_steps([]) is STEPS and chosen_steps([], quick=True) is QUICK and BEST in QUICK
    with pytest.raises(ValueError, match="moon"):
        chosen_steps(["card", "moon"])


SYSTEM = System(
    "1.0 (deb)", "3.12.1 (CPython, x86_64)", "Debian 12", 8, 32 * GB, (("torch", "2.9"), ("moshi", "0.2.13"))
)
TIMES = {"p50": 30.0, "p95": 31.5, "p99": 33.25, "worst": 40.0}
ATTENTION = {"slots 256": {"chosen": {"us": 9.26, "error": "1e-3"}, "flash": {"refused": "no"}}}
FOUND: list[tuple[str, float, dict[str, Any]]] = [
    ("card", 3.0, {"name": "NVIDIA L4", "total_bytes": 24e9, "free_bytes": 23e9, "torch": "2.9.1"}),
    ("kernels", 9.0, {"kernels": ["int4", "int8"]}),
    ("attention", 4.0, ATTENTION),
    ("session-int8", 12.0, {"late": 1, "frames": 75, "oracle_taken": 9, "of it on this side": TIMES}),
    ("full-bf16", 50.0, {"every 80 ms, full cache": TIMES, "peak_bytes": 18.4e9, "left_bytes": 0}),
]
RESULTS = [
    *(StepResult(step, "passed", "", seconds, facts) for step, seconds, facts in FOUND),
    StepResult("load-int8", "failed", "Memory | ran\nout.", 50.0),
]


def test_the_page_has_the_card_the_figures_and_each_outcome() -> None:
    driver = Driver("570.1", (12, 8), (Card("NVIDIA L4", 24 * GB, 23 * GB, (8, 9), "GPU-secret"),))
    page = card_page(CardPlan("cuda", "7b"), RESULTS, SYSTEM, driver)
    for line in (
        "- Card: NVIDIA L4, 24.00 GB, compute capability unknown, driver 570.1 for CUDA 12.8.",
        "- Software: KAME 1.0 (deb), torch 2.9.1, moshi 0.2.13, Python 3.12.1",
        "- Model: 7b, random weights\n",
        "Of 6 steps, 5 passed, 1 failed and 0 were left out, in 128 s.",
        "| full-bf16 | every 80 ms, full cache | 30.00 | 31.50 | 33.25 | 40.00 |",
        "| session-int8 | of it on this side | 30.00 | 31.50 | 33.25 | 40.00 |",
        "| step | peak | left after its end |",
        "| full-bf16 | 18.40 | 0.00 |",
        "| 256 | 9.3 (error 1e-3) | refused |",
        "| kernels | passed | int4, int8 | 9.0 |",
        "| session-int8 | passed | 1 of 75 frames late, 9 tokens of the oracle taken | 12.0 |",
        "| load-int8 | failed | Memory \\| ran out. | 50.0 |",
    ):
        assert line in page
    assert "secret" not in page
    assert frame_times(RESULTS[4].facts) == {"every 80 ms, full cache": TIMES}


@cases("ms, words", (48.0, "This keeps up."), (79.0, "This just keeps up."), (81.0, "This can't keep up."))
def test_a_machine_is_judged_by_its_frames(ms: float, words: str) -> None:
    assert verdict(ms) == words


COMMAND = """
import sys
import app.frontend
from app.cli import parser
from app.services import card_bench

app.frontend.require_torch = lambda: None
card_bench.MODULE = "tests.support.card_steps"
steps = "bench card --device cuda --size 7b --steps card,full-bf16,checks".split()
code = parser.main([*steps, *sys.argv[1:]])
raise SystemExit("torch was imported" if "torch" in sys.modules else 10 + code)
"""


def test_the_command_prints_a_line_for_each_step_and_never_imports_torch(tmp_path: Path) -> None:
    done = run_python("-c", COMMAND, "--json", "--output", str(tmp_path), "--folder", str(tmp_path))
    assert done.returncode == 11, done.stderr
    *lines, last = map(json.loads, done.stdout.splitlines())
    assert [line["outcome"] for line in lines] == ["passed", "passed", "failed"] and last["ok"] is False
    page, kept = Path(last["page"]), tmp_path.glob("*.jsonl")
    assert [json.loads(line) for line in next(kept).read_text("utf-8").splitlines()] == lines
    assert "| full-bf16 | in a row, full cache | 30.00 |" in page.read_text("utf-8")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".jsonl", ".md"]
