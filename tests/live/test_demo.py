"""Tests the demo from the first question to the figures: spoken questions in real time, and the embedded model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from app.demo.service import QUESTIONS
from app.research.benches.answers import contains_any, load_facts
from tests.support.matching import best_match
from tests.support.patience import alone, in_real_time
from tests.support.virtual_audio import virtual_audio

pytest.importorskip("PySide6")
ASKED = 2
"""How many of the demo's questions are asked: two show what three would, and each takes 40 s."""
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@pytest.mark.slow
@alone
@in_real_time
def test_the_demo_runs_from_the_first_question_to_the_figures_offline_and_unattended(tmp_path: Path) -> None:
    # Nothing of the user's: no key, no settings; and no proxy could hide where a request goes.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.upper().endswith("_PROXY")
    } | {"QT_QPA_PLATFORM": "offscreen"}
    homes = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    with virtual_audio() as audio, audio.record_loudspeaker(tmp_path / "heard.wav"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.demo_window", str(tmp_path), str(ASKED)],
            env=environment | audio.env | homes,
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            text=True,
            timeout=180,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert set(json.loads(done.stdout.splitlines()[-1])) <= LOOPBACK, "nobody else was asked for anything"

    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["ok"] and report["whole"] and report["backend"] == "SmolLM2 135M"
    facts = {fact.question.name: fact for fact in load_facts(51)}
    asked = [facts[name] for name, _, _ in QUESTIONS[:ASKED]]
    for fact, row in zip(asked, report["questions"], strict=True):
        assert row["question"] == fact.question.text and not row["own"]
        for side in ("cascade", "tandem"):
            assert 0 <= row[side]["seconds"] < 10 and not row[side]["trouble"]
            assert contains_any(row[side]["said"], fact.answers), row[side]["said"]
    print(report["median_seconds"])
    seen = json.loads((tmp_path / "seen.json").read_text("utf-8"))
    assert seen == {"most_streams": 1, "streams": 0}, "the recordings use no device, and the loudspeaker is free again"
    picture = (tmp_path / "figures.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    heard = soundfile.read(tmp_path / "heard.wav", dtype="float32")[0]
    for fact in asked:
        correlation, _ = best_match(heard, fact.question.samples)
        print(f"{fact.question.text} {correlation:.3f}")
        assert correlation > 0.3, "the audience has heard it; of nothing it would be below 0.1"
