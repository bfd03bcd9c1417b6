"""`bench facts` and `bench reasoning` in simulated time with the app's real models."""

import json
import subprocess
import sys

import pytest

from app.cli import parser
from tests.support.servers import Script, peer


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


def test_the_bench_of_reasoning_asks_a_typed_question(capsys: pytest.CaptureFixture[str]) -> None:
    script = Script((" I", " don't", " know", "."))
    with peer(script) as url:
        system = f"typed=compatible:any@{url}/v1"
        assert parser.main(["bench", "reasoning", "--questions", "1", "--systems", system, "--json"]) == 0
    [typed] = json.loads(capsys.readouterr().out)["systems"]
    assert typed["name"] == "typed=compatible:any" and typed["asked"] == 1
    assert [answer["said"] for answer in typed["answers"]] == ["I don't know."] and script.requests


@pytest.mark.slow
def test_the_bench_of_reasoning_asks_typed_and_spoken_in_simulated_time() -> None:
    command = [sys.executable, "-m", "app", "bench", "reasoning", "--simulated", "--questions", "2", "--json"]
    done = subprocess.run([*command, "--systems", "typed,tandem"], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    typed, spoken = json.loads(done.stdout)["systems"]
    assert typed["name"].startswith("typed=") and spoken["asked"] == 2
    assert all(answer["said"] for answer in (*typed["answers"], *spoken["answers"]))
    assert spoken["answers"][0]["heard"] and spoken["answers"][0]["first"] < 3.0
