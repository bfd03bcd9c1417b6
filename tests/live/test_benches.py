"""The benches as they are called: of sounds, of the window, and of spoken MT-Bench."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import soundfile

from app.cli import parser
from app.models.pool import MODELS
from app.research.benches.window_speed import SmoothnessResult
from app.settings.kept_state import WindowState
from tests.support.child import run_python
from tests.support.judge import brief, careless, fair, model_server
from tests.support.patience import alone, in_real_time
from tests.support.virtual_audio import VirtualAudio, virtual_audio


def bench(audio: VirtualAudio, rounds: int) -> tuple[int, dict]:
    done = run_python("-m", "app", "bench", "audio", "--json", "--rounds", str(rounds), env=audio.env)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@alone
@in_real_time
def test_parts_of_a_round_trip() -> None:
    with virtual_audio() as audio:
        audio.control(
            "load-module", "module-loopback", "source=kame_speaker.monitor", "sink=kame_mic_in", "latency_msec=1"
        )
        code, document = bench(audio, 8)
    assert code == 0 and document["rounds"] == 8 and document["lost"] == 0
    stages = {name: times["median"] for name, times in document["stages"].items()}
    trip, device = stages["round trip"], stages["devices, out and in, by themselves"]
    assert 5 < device < trip and trip > 80 + device  # a frame at the least
    assert document["beyond_ms"] == pytest.approx(trip - device - 80, abs=0.2)
    # The time in the ring is part of the trip, and nothing large is left unexplained but the canceller's step.
    assert trip - device - 80 - stages["ring before the loudspeaker"] < 60


@pytest.mark.slow
def test_without_a_loop_the_error_says_what_to_do() -> None:
    with virtual_audio() as audio:
        code, document = bench(audio, 5)
    assert code == 2 and "doesn't come back" in document["error"] and "cable" in document["error"]


@pytest.mark.slow
def test_the_bench_of_facts_asks_and_judges_in_simulated_time() -> None:
    command = [sys.executable, "-m", "app", "bench", "facts", "--simulated", "--questions", "1", "--json"]
    done = subprocess.run([*command, "--way", "hands-free"], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    [group] = told["groups"]
    [answer] = group["answers"]
    assert not told["failures"] and group["model"] == "smollm2-135m"
    assert answer["heard"] == "What is the capital of Sweden?" and "Stockholm" in answer["said"]
    assert answer["right"] and group["right"] == 1 and 0.1 < answer["first_sound"] < 2.0


@pytest.mark.slow
def test_the_bench_of_reasoning_asks_typed_and_spoken_in_simulated_time() -> None:
    command = [sys.executable, "-m", "app", "bench", "reasoning", "--simulated", "--questions", "1", "--json"]
    done = subprocess.run([*command, "--systems", "typed,tandem"], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    typed, spoken = json.loads(done.stdout)["systems"]
    assert typed["name"].startswith("typed=") and spoken["asked"] == 1
    assert all(answer["said"] for answer in (*typed["answers"], *spoken["answers"]))
    assert spoken["answers"][0]["heard"] and spoken["answers"][0]["first"] < 3.0


def bench_duplex(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> dict[str, dict]:
    """Runs the bench; returns the figures by task. The outputs must be as long as the inputs."""
    assert parser.main(["bench", "duplex", str(folder), *options, "--json"]) == 0
    tasks = {one["task"]: one for one in json.loads(capsys.readouterr().out)["tasks"]}
    for sound in folder.rglob("output.wav"):
        heard, said = soundfile.info(sound.with_name("input.wav")), soundfile.info(sound)
        assert (said.frames, said.samplerate) == (heard.frames, 16_000)
    return tasks


@pytest.mark.slow
def test_a_made_set_is_heard_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with MODELS.keeping():
        tasks = bench_duplex(capsys, tmp_path, "--make", "1")
    assert len(tasks) == 8
    assert tasks["pause handling"]["takeover_rate"] == 0.0
    assert tasks["smooth turn taking"]["takeover_rate"] == 1.0 and tasks["smooth turn taking"]["latency_p50"] < 2.5
    assert bench_duplex(capsys, tmp_path, "--outputs") == tasks


ROOT = Path(__file__).resolve().parents[2]
HEAVY = set("openai onnxruntime faster_whisper livekit torch scipy xllamacpp httpx jiwer rapidfuzz".split())
DIALOGS = {f"app.gui.{name}" for name in "models.models_dialog settings.dialog logs.panel window.about_dialog".split()}
"""What a start must not wait for."""


def window_bench(*arguments: str, environment: dict[str, str], home: Path) -> dict:
    """Its document; that goals are missed on a machine that does other things is no fault here."""
    untouched = {f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "DATA", "STATE")}
    done = subprocess.run(
        [sys.executable, "-m", "app", "bench", *arguments, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**environment, "QT_QPA_PLATFORM": "offscreen", **untouched},
        timeout=300,
    )
    document = json.loads(done.stdout)
    assert done.returncode in (0, 1) and "error" not in document, done.stderr
    assert document["ok"] == document["within_goal"] == (done.returncode == 0)
    assert not list(home.iterdir())  # the user's own folders are left alone
    return document


@pytest.mark.slow
def test_a_start_is_timed_to_the_window_and_to_the_talk(tmp_path: Path) -> None:
    with virtual_audio() as audio:
        document = window_bench("startup", "--starts", "1", environment=audio.env, home=tmp_path)
    times = [document["steps"][step]["median"] for step in ("imported", "made", "painted", "running")]
    assert document["starts"] == 1 and not document["problem"]
    assert "again" in document["steps"]  # another conversation came after it
    assert times[0] > 0.05 and times == sorted(times)
    names = [row["name"] for row in document["imports"]["packages"]]
    assert len(names) == 15 and {"app", "PySide6", "numpy"} <= set(names)
    assert document["imports"]["modules"] > 200


@pytest.mark.slow
def test_what_is_heavy_is_not_imported_before_the_window_is_seen(tmp_path: Path) -> None:
    """Python reports each import up to the first picture."""
    report, config = tmp_path / "report", tmp_path / "config" / "kame-desktop"
    config.mkdir(parents=True)
    WindowState(first_run_done=True, path=config / "window.json").save()
    homes = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE")}
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    with virtual_audio(devices=False) as audio:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "app", "--report-start", str(report)],
            cwd=ROOT,
            env={**audio.env, **homes, "XDG_RUNTIME_DIR": str(run), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=120,
        )
    said, mark, _ = done.stderr.partition("window painted")
    assert mark and done.returncode == 0, done.stderr[-2000:]
    found = json.loads(report.read_text())
    assert {"painted", "running"} <= set(found["times"]) and not found["problem"]  # one can type without devices
    imported = {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert "app.gui.window.main_window" in imported
    assert sorted(imported & (HEAVY | DIALOGS)) == []


@pytest.mark.slow
def test_smoothness_is_measured_in_every_row(tmp_path: Path) -> None:
    document = window_bench(
        "window", "--minutes", "0.1", "--live", "3", "--turns", "60", environment=dict(os.environ), home=tmp_path
    )
    rows = {row["what"]: row for row in document["rows"]}
    assert len(rows) == 22 and sum(row["goal"] is not None for row in rows.values()) == 7
    memory = "memory, MB more a minute of talk"
    assert all(row["value"] > 0 for what, row in rows.items() if what != memory)
    full, live = document["full_speed"], document["live"]
    assert full["events"] > 150 and full["apply_ms"]["count"] > 100 and len(full["memory_mb"]) >= 10
    assert live["late_ms"]["count"] == 36 and live["picture_gap_ms"]["count"] > 10
    assert document["transcript"]["scroll_ms"]["count"] > 100
    # A missed goal is seen, in the table and in the end.
    document["full_speed"]["apply_ms"]["p99"] = 4.5
    result = SmoothnessResult(document)
    assert not result.ok and "missed" in result.table()


APP = "from app.__main__ import main\nraise SystemExit(main())"


def words(out: Path, model: str, judge: str, *options: str) -> list[str]:
    """The command: a model that is typed to, on two questions."""
    return [
        *("bench", "mtbench", "--systems", f"typed=compatible:rule@{model}"),
        *("--questions", "104,144", "--runs", "1", "--judge", f"compatible:rule@{judge}", "--out", str(out)),
        *("--cap", "0", "--json", *options),
    ]


def mtbench(out: Path, model: str, judge: str) -> list[str]:
    """The command in a process of its own, with a second system, which is spoken with in simulated time."""
    systems = f"typed=compatible:rule@{model},cascade=embedded:smollm2-135m"
    return [sys.executable, "-c", APP, *words(out, model, judge, "--simulated", "--systems", systems)]


def ended(folder: Path, model: str, judge: str) -> dict[str, bytes]:
    """Lets the bench end; all files of its result, by name."""
    done = subprocess.run(mtbench(folder, model, judge), capture_output=True, text=True, cwd=ROOT, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
@pytest.mark.timeout(900)  # three runs of the real models, which a busy machine takes its time for
def test_a_run_that_is_killed_and_resumed_gives_the_same_to_the_byte(tmp_path: Path) -> None:
    with model_server(brief) as (model, _), model_server(fair) as (judge, _):
        whole = ended(tmp_path / "whole", model, judge)
        killed = tmp_path / "killed"
        process = subprocess.Popen(
            mtbench(killed, model, judge), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
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
