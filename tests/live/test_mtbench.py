"""The whole bench of spoken MT-Bench on stand-ins: killed and resumed, judged, refused, and capped."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli import parser
from tests.support.judge import brief, careless, fair, model_server

ROOT = Path(__file__).resolve().parents[2]
APP = "from app.__main__ import main\nraise SystemExit(main())"


def words(out: Path, model: str, judge: str, *options: str) -> list[str]:
    """The command: a model that is typed to, on two questions."""
    return [
        *("bench", "mtbench", "--systems", f"typed=compatible:rule@{model}"),
        *("--questions", "104,144", "--runs", "1", "--judge", f"compatible:rule@{judge}", "--out", str(out)),
        *("--cap", "0", "--json", *options),
    ]


def bench(out: Path, model: str, judge: str) -> list[str]:
    """The command in a process of its own, with a second system, which is spoken with in simulated time."""
    systems = f"typed=compatible:rule@{model},cascade=embedded:smollm2-135m"
    return [sys.executable, "-c", APP, *words(out, model, judge, "--simulated", "--systems", systems)]


def ended(folder: Path, model: str, judge: str) -> dict[str, bytes]:
    """Lets the bench end; all files of its result, by name."""
    done = subprocess.run(bench(folder, model, judge), capture_output=True, text=True, cwd=ROOT, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
@pytest.mark.timeout(900)  # three runs of the real models, which a busy machine takes its time for
def test_a_run_that_is_killed_and_resumed_gives_the_same_to_the_byte(tmp_path: Path) -> None:
    with model_server(brief) as (model, _), model_server(fair) as (judge, _):
        whole = ended(tmp_path / "whole", model, judge)
        killed = tmp_path / "killed"
        process = subprocess.Popen(
            bench(killed, model, judge), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        # After six answers one of two spoken questions has been asked: nothing of the first may count in the second.
        kept = killed / "answers.jsonl"
        while process.poll() is None and not (kept.exists() and kept.read_bytes().count(b"\n") >= 6):
            time.sleep(0.02)
        process.kill()
        process.wait(30)
        again = ended(killed, model, judge)
    assert again.keys() == whole.keys()
    assert [name for name in whole if whole[name] != again[name]] == []
    result = json.loads(whole["results.json"])
    assert result["calibration_auc"] == 1.0 and [one["name"].partition("=")[0] for one in result["systems"]] == [
        "typed",
        "cascade",
    ]
    assert all(one["turns"] == 4 and "average" in one["scores"] for one in result["systems"])
    assert {f"figures/{name}.svg" for name in ("score-latency", "delay-curve", "latencies", "categories")} <= set(whole)
    judged = [json.loads(line) for line in whole["model_judgment/compatible-rule_single.jsonl"].splitlines()]
    assert len(judged) == 8 and {row["judge"][1] for row in judged} == {
        "single-math-v1",
        "single-math-v1-multi-turn",
        "single-v1",
        "single-v1-multi-turn",
    }
    assert "Moshi (paper)" in whole["results.md"].decode() and "6.43" in whole["results.md"].decode()


@pytest.mark.slow
def test_a_judge_that_fails_its_gate_scores_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with model_server(brief) as (model, _), model_server(careless) as (judge, requests):
        assert parser.main(words(tmp_path / "out", model, judge)) == 0
        assert len(requests) == 20  # the calibration alone
    result = json.loads(capsys.readouterr().out)
    assert result["calibration_auc"] == 0.5 and result["systems"][0]["scores"] == {}
    assert any("withheld" in note for note in result["notes"])
    assert not (tmp_path / "out" / "model_judgment").exists()


@pytest.mark.parametrize("options", [("--questions", "7"), ("--delays", "1"), ("--systems", "last-oracle")])
def test_what_can_not_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]) -> None:
    assert parser.main(words(tmp_path / "out", "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", *options)) == 2
    assert json.loads(capsys.readouterr().out)["error"].endswith(".")
