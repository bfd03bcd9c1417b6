"""Tests the swap demo from start to chart: spoken questions in real time, and two embedded models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from app.demo.run import SWAP_AFTER_WORDS
from app.evaluation.spoken_questions import load_questions
from tests.support.matching import best_match
from tests.support.patience import alone, in_real_time
from tests.support.read_back import transcribe
from tests.support.virtual_audio import virtual_audio

pytest.importorskip("PySide6")
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@alone
@in_real_time
def test_the_demo_runs_from_start_to_chart_offline_and_unattended(tmp_path: Path) -> None:
    # Nothing of the user's: no key, no settings; and no proxy could hide where a request goes.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.upper().endswith("_PROXY")
    } | {"QT_QPA_PLATFORM": "offscreen"}
    homes = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    # Its pieces are installed for the tests: nothing is fetched, they are joined.
    subprocess.run(
        [sys.executable, "-m", "app", "models", "get", "qwen2.5-coder-0.5b"],
        env=environment | homes,
        check=True,
        capture_output=True,
        timeout=60,
    )
    with virtual_audio() as audio, audio.record_loudspeaker(tmp_path / "heard.wav"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.demo_window", str(tmp_path)],
            env=environment | audio.env | homes,
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            text=True,
            timeout=180,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert set(json.loads(done.stdout.splitlines()[-1])) <= LOOPBACK, "nobody else was asked for anything"

    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["ok"] and report["whole"]
    rows = {answer["backend"]: answer for answer in report["answers"]}
    assert set(rows) == {"SmolLM2 135M", "Qwen 2.5 Coder 0.5B"} and len(report["answers"]) == 2
    for answer in report["answers"]:
        assert -1.0 < answer["response_seconds"] < 5.0 and not answer["trouble"]
        assert len(answer["answer"].split()) >= 3 and "dogma" in answer["question"]
    [swap] = report["swaps"]
    assert (swap["from"], swap["to"], swap["trouble"]) == ("SmolLM2 135M", "Qwen 2.5 Coder 0.5B", "")
    assert len(swap["before"].split()) >= SWAP_AFTER_WORDS and len(swap["after"].split()) >= 3
    assert 0 < swap["seconds"] < 20 and swap["silence_seconds"] < 3
    print({backend: row["response_seconds"] for backend, row in rows.items()}, swap["seconds"], swap["silence_seconds"])
    seen = json.loads((tmp_path / "seen.json").read_text("utf-8"))
    assert seen["sessions"] == 2, "the window's panes saw them"
    assert seen["most_streams"] == 2, "the questions have a way of their own to the loudspeaker"
    assert seen["streams"] == 0, "which is free again"
    picture = (tmp_path / "chart.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    the_audience_heard(tmp_path / "heard.wav", [answer["answer"] for answer in report["answers"]])


def the_audience_heard(recorded: Path, answers: list[str]) -> None:
    """The question, as often as it was asked, and what was said to it."""
    heard = soundfile.read(recorded, dtype="float32")[0]
    question = next(q for q in load_questions() if q.name == "144_1")
    correlation, _ = best_match(heard, question.samples)
    words = transcribe(heard)
    print(f"correlation {correlation:.4f}; answered: {answers}; heard: {words}")
    # The voice may say a word into its pauses, and a busy machine leaves gaps; of nothing it would be below 0.1.
    assert correlation > 0.3
    assert words.lower().count("central dogma") >= 3, "asked twice and more, and answered"
