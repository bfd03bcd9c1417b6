"""`bench startup` and `bench window`, small: the real window is started and measured, and every row is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.research.benches.window_speed import SmoothnessResult
from app.settings.kept_state import WindowState
from tests.support.virtual_audio import virtual_audio

ROOT = Path(__file__).resolve().parents[2]
HEAVY = set("openai onnxruntime faster_whisper livekit torch scipy xllamacpp httpx jiwer rapidfuzz".split())
DIALOGS = {f"app.gui.{name}" for name in "models.models_dialog settings.dialog logs.panel window.about_dialog".split()}
"""What a start must not wait for."""


def bench(*arguments: str, environment: dict[str, str], home: Path) -> dict:
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
        document = bench("startup", "--starts", "1", environment=audio.env, home=tmp_path)
    times = [document["steps"][step]["median"] for step in ("imported", "made", "painted", "running")]
    assert document["starts"] == 1 and not document["problem"]
    assert "again" in document["steps"]  # another conversation came after it
    assert times[0] > 0.05 and times == sorted(times)
    names = [row["name"] for row in document["imports"]["packages"]]
    assert len(names) == 15 and {"app", "PySide6", "numpy"} <= set(names)
    assert document["imports"]["modules"] > 200


@pytest.mark.slow
def test_what_is_heavy_is_not_imported_before_the_window_is_seen(tmp_path: Path) -> None:
    """Heard from Python itself, which tells of every import, up to the first picture."""
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
    document = bench(
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
