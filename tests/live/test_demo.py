"""Tests the demo's recordings: spoken questions in real time, and the embedded model, without any network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import alone, in_real_time

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
WATCHED = """
import json, sys
seen = set()
def watch(event, values):
    if event == "socket.connect" and isinstance(values[1], tuple):
        seen.add(str(values[1][0]))
    elif event == "socket.getaddrinfo" and values[0]:
        seen.add(str(values[0]))
sys.addaudithook(watch)
from app.cli.parser import main
code = main(["demo", "--headless", "--json"])
print(json.dumps(sorted(seen)), file=sys.stderr)
raise SystemExit(code)
"""
"""Runs the demo without a window, and prints the network addresses that were looked up or connected to."""


@pytest.mark.slow
@alone
@in_real_time
def test_both_sides_answer_the_demos_questions_offline(tmp_path: Path) -> None:
    # Nothing of the user's: no key, no settings; and no proxy could hide where a request goes.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.upper().endswith("_PROXY")
    }
    homes = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        env=environment | homes,
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert set(json.loads(done.stderr.splitlines()[-1])) <= LOOPBACK, "nobody else was asked for anything"
    report = json.loads(done.stdout)
    assert report["ok"] and report["backend"] == "SmolLM2 135M"
    for row, answer in zip(report["questions"], ("Jupiter", "Fe", "Pacific"), strict=True):
        assert 0 <= row["cascade"] < 10 and 0 <= row["tandem"] < 10 and not row["own"]
        print(row)
        assert answer in row["said"][0] and answer in row["said"][1]
