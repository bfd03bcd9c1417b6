"""The bench of full duplex end to end: sets made, heard by the real app in simulated time, and scored."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.cli import parser
from tests.support import sounds


def bench(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> dict[str, dict]:
    """Runs the bench; returns the figures by task. The outputs must be as long as the inputs."""
    assert parser.main(["bench", "duplex", str(folder), *options, "--json"]) == 0
    tasks = {one["task"]: one for one in json.loads(capsys.readouterr().out)["tasks"]}
    for sound in folder.rglob("output.wav"):
        heard, said = soundfile.info(sound.with_name("input.wav")), soundfile.info(sound)
        assert (said.frames, said.samplerate) == (heard.frames, 16_000)
    return tasks


def test_an_answer_that_is_there_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "synthetic_turn_taking" / "1"
    folder.mkdir(parents=True)
    sounds.write(folder / "input.wav", sounds.room(4.0), rate=16_000)
    (folder / "turn_taking.json").write_text(json.dumps([{"text": "Can you?", "timestamp": [1.0, 4.0]}]))
    answer = np.concatenate([sounds.room(1.5), 20 * sounds.room(2.0, dbfs=-40), sounds.room(0.5)])
    sounds.write(folder / "output.wav", answer, rate=16_000)
    said = [{"text": word, "timestamp": [1.5 + n / 2, 2.0 + n / 2]} for n, word in enumerate("Yes I can do".split())]
    (folder / "output.json").write_text(json.dumps({"text": "Yes I can do", "chunks": said}))
    [figures] = bench(capsys, tmp_path, "--outputs").values()
    assert figures["task"] == "smooth turn taking" and figures["samples"] == 1
    assert figures["takeover_rate"] == 1.0 and figures["latency_p50"] == 0.5


@pytest.mark.slow
def test_a_made_set_is_heard_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = bench(capsys, tmp_path, "--make", "1")
    assert len(tasks) == 8
    assert tasks["pause handling"]["takeover_rate"] == 0.0
    assert tasks["smooth turn taking"]["takeover_rate"] == 1.0 and tasks["smooth turn taking"]["latency_p50"] < 2.5
    assert bench(capsys, tmp_path, "--outputs") == tasks
