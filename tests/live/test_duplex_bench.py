"""The bench of full duplex end to end: sets made, heard by the real app in simulated time, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile

from app.cli import parser


def test_a_made_set_is_heard_and_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parser.main(["bench", "duplex", str(tmp_path), "--make", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    tasks = {one["task"]: one for one in result["tasks"]}
    assert len(tasks) == 8
    assert tasks["pause handling"]["takeover_rate"] == 0.0
    assert tasks["smooth turn taking"]["takeover_rate"] == 1.0 and tasks["smooth turn taking"]["latency_p50"] < 2.5
    for sound in tmp_path.rglob("output.wav"):
        heard, said = soundfile.info(sound.with_name("input.wav")), soundfile.info(sound)
        assert (said.frames, said.samplerate) == (heard.frames, 16_000)
    # The outputs can be scored again without the app.
    assert parser.main(["bench", "duplex", str(tmp_path), "--outputs", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["tasks"] == result["tasks"]
