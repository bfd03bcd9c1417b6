"""Benches end to end: audio on a real sound server; facts, reasoning and duplex in simulated time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from app.cli import parser
from app.models.pool import MODELS
from tests.support.child import run_python
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
