"""The bench of full duplex end to end: sets made, heard by the real app in simulated time, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.cli import parser
from tests.support import sounds
from tests.support.servers import Script, peer


def bench(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> dict[str, dict]:
    """Runs the bench; returns the figures by task. The outputs must be as long as the inputs."""
    assert parser.main(["bench", "duplex", str(folder), *options, "--json"]) == 0
    tasks = {one["task"]: one for one in json.loads(capsys.readouterr().out)["tasks"]}
    for sound in folder.rglob("output.wav"):
        heard, said = soundfile.info(sound.with_name("input.wav")), soundfile.info(sound)
        assert (said.frames, said.samplerate) == (heard.frames, 16_000)
    return tasks


def test_a_sample_is_heard_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "synthetic_turn_taking" / "1"
    folder.mkdir(parents=True)
    question = sounds.question("103_2")
    end = len(question) / 24_000
    sounds.write(folder / "input.wav", np.concatenate([question, sounds.room(2.5)]), rate=16_000)
    (folder / "turn_taking.json").write_text(json.dumps([{"text": "Can you?", "timestamp": [end, end + 2.5]}]))
    with peer(Script((" It", " has", " more", " than", " one", " answer", "."))) as url:
        options = ("--backend", "compatible", "--base-url", f"{url}/v1", "--model", "any")
        tasks = bench(capsys, tmp_path, *options)
    [figures] = tasks.values()
    assert figures["task"] == "smooth turn taking" and figures["samples"] == 1
    assert figures["takeover_rate"] == 1.0 and figures["latency_p50"] < 2.5
    # The outputs can be scored again without the app.
    assert bench(capsys, tmp_path, "--outputs") == tasks


@pytest.mark.slow
def test_a_made_set_is_heard_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = bench(capsys, tmp_path, "--make", "1")
    assert len(tasks) == 8
    assert tasks["pause handling"]["takeover_rate"] == 0.0
    assert tasks["smooth turn taking"]["takeover_rate"] == 1.0 and tasks["smooth turn taking"]["latency_p50"] < 2.5
    assert bench(capsys, tmp_path, "--outputs") == tasks
