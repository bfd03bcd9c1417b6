"""The whole bench of spoken MT-Bench on stand-ins: killed at random and resumed, judged, refused, and capped.

`python -m tests.live.test_mtbench 10` kills and resumes it ten times.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
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


def files(folder: Path) -> dict[str, bytes]:
    """All files of a result, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


Moment = Callable[[Path], bool]
"""Returns whether a run, by its folder, is to be killed now."""


def random_moment(chance: random.Random, seconds: float) -> Moment:
    """A moment within `seconds` from now."""
    due: list[float] = []

    def reached(_: Path) -> bool:
        due[:] = due or [time.monotonic() + chance.uniform(0.3, seconds)]
        return time.monotonic() >= due[0]

    return reached


def after_answers(number: int) -> Moment:
    """The moment at which `number` answers have been kept."""

    def reached(out: Path) -> bool:
        kept = out / "answers.jsonl"
        return kept.exists() and kept.read_bytes().count(b"\n") >= number

    return reached


def killed_and_resumed(moments: Iterable[Moment], out: Path, model: str, judge: str) -> dict[str, bytes]:
    """Starts the bench and kills it at each of `moments`, unless it ended before; then lets it end."""
    for reached in moments:
        process = subprocess.Popen(
            bench(out, model, judge), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        while process.poll() is None and not reached(out):
            time.sleep(0.02)
        process.kill()
        process.wait(30)
    done = subprocess.run(bench(out, model, judge), capture_output=True, text=True, cwd=ROOT, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return files(out)


def compared(moments: Callable[[float], Iterable[Moment]], folder: Path) -> tuple[dict[str, bytes], float]:
    """Runs the bench without a kill, then with kills at `moments`, which are told the seconds of a run; both results
    must be the same. Returns it, and the seconds.
    """
    with model_server(brief) as (model, _), model_server(fair) as (judge, _):
        began = time.monotonic()
        done = subprocess.run(
            bench(folder / "whole", model, judge), capture_output=True, text=True, cwd=ROOT, timeout=400
        )
        took = time.monotonic() - began
        assert done.returncode == 0, done.stdout + done.stderr
        whole = files(folder / "whole")
        again = killed_and_resumed(moments(took), folder / "killed", model, judge)
    assert again.keys() == whole.keys()
    assert [name for name in whole if whole[name] != again[name]] == []
    return whole, took


@pytest.mark.slow
@pytest.mark.timeout(900)  # three runs of the real models, which a busy machine takes its time for
def test_a_run_that_is_killed_and_resumed_gives_the_same_to_the_byte(tmp_path: Path) -> None:
    # After six answers one of two spoken questions has been asked: nothing of the first may count in the second.
    whole, _ = compared(lambda _took: [after_answers(6)], tmp_path)
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
    assert "routes.json" not in whole  # one model was only typed to, the other only spoken with
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


def main(times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random()
        whole, took = compared(lambda took: [random_moment(chance, took * 0.8) for _ in range(times)], Path(folder))
    print(f"{times} kills, a run takes {took:.0f} s: {len(whole)} files, all the same to the byte.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
